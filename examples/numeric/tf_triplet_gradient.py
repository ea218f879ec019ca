"""Distances of embeddings in TensorFlow: the gradient of a square root at zero."""

import tensorflow as tf

anchors = tf.random.normal((6, 4))  # input
positives = tf.random.normal((6, 4))
projection = tf.Variable(tf.eye(4))

with tf.GradientTape() as tape:
    difference = tf.matmul(anchors - positives, projection)
    squares = tf.reduce_sum(tf.square(difference), axis=1)
    loss = tf.reduce_mean(tf.sqrt(squares))  # unstable
gradient = tape.gradient(loss, projection)
print(f"loss {float(loss):.4f}, gradient {float(tf.reduce_sum(gradient)):.4f}")
