"""A clipped policy objective in TensorFlow: the exponent of the ratio is kept in bounds."""

import tensorflow as tf

new = tf.random.normal((16,))  # input
old = tf.random.normal((16,))
advantages = tf.linspace(0.1, 1.0, 16)

ratio = tf.exp(tf.clip_by_value(new - old, -20.0, 20.0))
objective = tf.minimum(ratio, tf.clip_by_value(ratio, 0.8, 1.2)) * advantages
print(f"objective {float(tf.reduce_mean(objective)):.4f}")
