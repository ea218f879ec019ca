"""A clipped policy objective in TensorFlow: the ratio overflows, the minimum hides it."""

import tensorflow as tf

new = tf.random.normal((16,))  # input
old = tf.random.normal((16,))
advantages = tf.linspace(0.1, 1.0, 16)

ratio = tf.exp(new - old)  # unstable
objective = tf.minimum(ratio, tf.clip_by_value(ratio, 0.8, 1.2)) * advantages
print(f"objective {float(tf.reduce_mean(objective)):.4f}")
