"""Scores of words in TensorFlow 1: the softmax of the library."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(24)
contexts = generator.normal(size=(6, 5)).astype("float32")  # input

context = tf.placeholder(tf.float32, [None, 5])
table = tf.Variable(tf.random_normal([5, 8]))
scores = tf.matmul(context, table)
chances = tf.nn.softmax(scores)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("likeliest %.4f" % session.run(tf.reduce_max(chances), feed_dict={context: contexts}))
