"""A policy ratio kept in bounds in TensorFlow 1, in a script that imports it by its old name."""

import numpy as np
import tensorflow as tf

generator = np.random.default_rng(28)
observations = generator.normal(size=(6, 3)).astype("float32")  # input

observation = tf.placeholder(tf.float32, [None, 3])
new = tf.Variable(tf.random_normal([3, 1]))
old = tf.Variable(tf.random_normal([3, 1]))
difference = tf.matmul(observation, new) - tf.matmul(observation, old)
ratio = tf.exp(tf.clip_by_value(difference, -20.0, 20.0))
objective = tf.reduce_mean(tf.minimum(ratio, 1.2))

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("objective %.4f" % session.run(objective, feed_dict={observation: observations}))
