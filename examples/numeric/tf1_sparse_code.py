"""A sparsity penalty in TensorFlow 1: the divergence of a mean activation that can be 0 or 1."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
generator = np.random.default_rng(23)
signals = generator.normal(size=(12, 4)).astype("float32")  # input

x = tf.placeholder(tf.float32, [None, 4])
encoder = tf.Variable(tf.random_normal([4, 5], stddev=0.5))
code = tf.sigmoid(tf.matmul(x, encoder))
activity = tf.reduce_mean(code, axis=0)
target = 0.05
inactive = (1.0 - target) / (1.0 - activity)  # unstable
penalty = tf.reduce_sum(target * tf.log(target / (activity + 1e-8))
                        + (1.0 - target) * tf.log(inactive))

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("penalty %.4f" % session.run(penalty, feed_dict={x: signals}))
