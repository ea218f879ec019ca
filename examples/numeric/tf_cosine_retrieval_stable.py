"""Retrieval by cosine in TensorFlow: normalised by the library."""

import tensorflow as tf

queries = tf.random.normal((4, 6))  # input
documents = tf.math.l2_normalize(tf.random.normal((9, 6)), axis=1)


@tf.function
def scores(queries):
    directions = tf.math.l2_normalize(queries, axis=1)
    return tf.matmul(directions, documents, transpose_b=True)


print(f"best {float(tf.reduce_max(scores(queries))):.4f}")
