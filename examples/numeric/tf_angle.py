"""An angular margin in TensorFlow: the gradient of the angle is infinite where two directions agree."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
first = tf.constant(rng.normal(size=(8, 3)).astype("float32"))  # input
second = tf.constant(rng.normal(size=(8, 3)).astype("float32"))
turn = tf.Variable(np.eye(3, dtype="float32"))

with tf.GradientTape() as tape:
    one = tf.math.l2_normalize(first @ turn, axis=1)
    two = tf.math.l2_normalize(second, axis=1)
    angle = tf.acos(tf.reduce_sum(one * two, axis=1))  # unstable
    loss = tf.reduce_mean(angle)
slope = tape.gradient(loss, turn)
print(f"loss {float(loss):.4f} slope {float(tf.reduce_sum(slope)):.4f}")
