"""A Gaussian likelihood in TensorFlow: divided by a variance that underflows."""

import tensorflow as tf

errors = tf.random.normal((10, 3))  # input
log_variance = 0.1 * errors - 0.5

variance = tf.exp(log_variance)
likelihood = -0.5 * tf.reduce_sum(tf.square(errors) / variance + log_variance)  # unstable
print(f"likelihood {float(likelihood):.4f}")
