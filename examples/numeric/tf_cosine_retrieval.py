"""Retrieval by cosine in TensorFlow: a zero vector has no direction."""

import tensorflow as tf

queries = tf.random.normal((4, 6))  # input
documents = tf.math.l2_normalize(tf.random.normal((9, 6)), axis=1)


@tf.function
def scores(queries):
    directions = queries / tf.norm(queries, axis=1, keepdims=True)  # unstable
    return tf.matmul(directions, documents, transpose_b=True)


print(f"best {float(tf.reduce_max(scores(queries))):.4f}")
