"""Contrast of images in TensorFlow, stretched between the darkest and the brightest pixel, if they differ."""

import tensorflow as tf

images = tf.random.uniform((3, 5, 5))  # input


@tf.function
def stretched(images):
    darkest = tf.reduce_min(images, axis=(1, 2), keepdims=True)
    brightest = tf.reduce_max(images, axis=(1, 2), keepdims=True)
    return tf.math.divide_no_nan(images - darkest, brightest - darkest)


print(f"mean {float(tf.reduce_mean(stretched(images))):.4f}")
