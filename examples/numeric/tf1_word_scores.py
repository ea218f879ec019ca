"""Scores of words in TensorFlow 1: a softmax written by hand."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(24)
contexts = generator.normal(size=(6, 5)).astype("float32")  # input

context = tf.placeholder(tf.float32, [None, 5])
table = tf.Variable(tf.random_normal([5, 8]))
scores = tf.exp(tf.matmul(context, table))  # unstable
chances = scores / tf.reduce_sum(scores, axis=1, keepdims=True)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("likeliest %.4f" % session.run(tf.reduce_max(chances), feed_dict={context: contexts}))
