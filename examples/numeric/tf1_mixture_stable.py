"""A mixture density in TensorFlow 1: the logarithm of a sum of exponentials in one piece."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(25)
points = generator.normal(size=(10, 2)).astype("float32")  # input

x = tf.placeholder(tf.float32, [None, 2])
centres = tf.Variable(tf.random_normal([3, 2]))
squares = tf.reduce_sum(tf.square(tf.expand_dims(x, 1) - centres), axis=2)
likelihood = tf.reduce_mean(tf.reduce_logsumexp(-0.5 * squares, axis=1))

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("likelihood %.4f" % session.run(likelihood, feed_dict={x: points}))
