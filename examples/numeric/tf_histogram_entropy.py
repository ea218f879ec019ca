"""The entropy of histograms in TensorFlow: zero times the logarithm of zero."""

import tensorflow as tf

shares = tf.random.uniform((5, 8))  # input


def entropy(shares):
    return -tf.reduce_sum(shares * tf.math.log(shares), axis=1)  # unstable


print(f"entropy {float(tf.reduce_mean(entropy(shares))):.4f}")
