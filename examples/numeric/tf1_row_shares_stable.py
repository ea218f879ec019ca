"""Shares of the largest count of a row in TensorFlow 1: an empty row has shares of zero."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(26)
counts = generator.random((5, 4)).astype("float32")  # input

table = tf.placeholder(tf.float32, [None, 4])
shares = tf.div_no_nan(table, tf.reduce_max(table, axis=1, keepdims=True))

with tf.Session() as session:
    print("mean share %.4f" % session.run(tf.reduce_mean(shares), feed_dict={table: counts}))
