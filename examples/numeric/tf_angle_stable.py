"""The same angles, kept away from the ends of the cosine where the slope is infinite."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
first = tf.constant(rng.normal(size=(8, 3)).astype("float32"))  # input
second = tf.constant(rng.normal(size=(8, 3)).astype("float32"))
turn = tf.Variable(np.eye(3, dtype="float32"))

with tf.GradientTape() as tape:
    one = tf.math.l2_normalize(first @ turn, axis=1)
    two = tf.math.l2_normalize(second, axis=1)
    angle = tf.acos(tf.clip_by_value(tf.reduce_sum(one * two, axis=1), -0.99999, 0.99999))
    loss = tf.reduce_mean(angle)
slope = tape.gradient(loss, turn)
print(f"loss {float(loss):.4f} slope {float(tf.reduce_sum(slope)):.4f}")
