"""Shares of the largest count of a row in TensorFlow 1: an empty row divides zero by zero."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(26)
counts = generator.random((5, 4)).astype("float32")  # input

table = tf.placeholder(tf.float32, [None, 4])
shares = table / tf.reduce_max(table, axis=1, keepdims=True)  # unstable

with tf.Session() as session:
    print("mean share %.4f" % session.run(tf.reduce_mean(shares), feed_dict={table: counts}))
