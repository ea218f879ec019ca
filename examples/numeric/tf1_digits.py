"""The softmax regression of the old tutorial, in TensorFlow 1: weights that start at zero."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(21)
images = generator.random((20, 9)).astype("float32")  # input
labels = np.eye(3, dtype="float32")[generator.integers(0, 3, size=20)]

x = tf.placeholder(tf.float32, [None, 9])
truth = tf.placeholder(tf.float32, [None, 3])
weights = tf.Variable(tf.zeros([9, 3]))
biases = tf.Variable(tf.zeros([3]))
guess = tf.nn.softmax(tf.matmul(x, weights) + biases)
loss = -tf.reduce_sum(truth * tf.log(guess))  # unstable
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for start in range(0, 20, 10):
        feed = {x: images[start:start + 10], truth: labels[start:start + 10]}
        _, value = session.run([train, loss], feed_dict=feed)
        print("loss %.4f" % value)
