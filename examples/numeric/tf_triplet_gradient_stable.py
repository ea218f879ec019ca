"""Distances of embeddings in TensorFlow: a square root that stays away from zero."""

import tensorflow as tf

anchors = tf.random.normal((6, 4))  # input
positives = tf.random.normal((6, 4))
projection = tf.Variable(tf.eye(4))

with tf.GradientTape() as tape:
    apart = tf.clip_by_value(anchors - positives, -1e6, 1e6)
    difference = tf.matmul(apart, projection)
    squares = tf.reduce_sum(tf.square(difference), axis=1)
    loss = tf.reduce_mean(tf.sqrt(squares + 1e-6))
gradient = tape.gradient(loss, projection)
print(f"loss {float(loss):.4f}, gradient {float(tf.reduce_sum(gradient)):.4f}")
