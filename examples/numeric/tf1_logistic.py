"""Logistic regression in TensorFlow 1: log(1 - p) of a sigmoid."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(22)
samples = generator.normal(size=(16, 3)).astype("float32")  # input
labels = (samples[:, :1] > 0).astype("float32")

x = tf.placeholder(tf.float32, [None, 3])
truth = tf.placeholder(tf.float32, [None, 1])
weights = tf.Variable(tf.truncated_normal([3, 1], stddev=0.5))
chance = tf.sigmoid(tf.matmul(x, weights))
missed = tf.log(1.0 - chance)  # unstable
loss = -tf.reduce_mean(truth * tf.log(chance + 1e-6) + (1.0 - truth) * missed)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(2):
        _, value = session.run([train, loss], feed_dict={x: samples, truth: labels})
        print("loss %.4f" % value)
