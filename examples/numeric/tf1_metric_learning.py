"""A learned metric in TensorFlow 1: the gradient of a square root at zero."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(27)
left = generator.normal(size=(8, 3)).astype("float32")  # input
right = generator.normal(size=(8, 3)).astype("float32")

first = tf.placeholder(tf.float32, [None, 3])
second = tf.placeholder(tf.float32, [None, 3])
metric = tf.Variable(np.eye(3, dtype="float32"))
squares = tf.reduce_sum(tf.square(tf.matmul(first - second, metric)), axis=1)
distance = tf.sqrt(squares)  # unstable
loss = tf.reduce_mean(distance)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(2):
        _, value = session.run([train, loss], feed_dict={first: left, second: right})
        print("loss %.4f" % value)
