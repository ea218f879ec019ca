"""A Gaussian likelihood in TensorFlow: its variance is kept in bounds."""

import tensorflow as tf

errors = tf.random.normal((10, 3))  # input
log_variance = tf.clip_by_value(0.1 * errors - 0.5, -10.0, 10.0)

variance = tf.exp(log_variance)
likelihood = -0.5 * tf.reduce_sum(tf.square(tf.clip_by_value(errors, -1e6, 1e6)) / variance + log_variance)
print(f"likelihood {float(likelihood):.4f}")
