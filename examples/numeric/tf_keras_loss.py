"""A Keras model with a loss of its own: logarithms of a sigmoid."""

import numpy as np
import tensorflow as tf

generator = np.random.default_rng(11)
samples = generator.normal(size=(32, 4)).astype("float32")  # input
targets = (samples[:, :1] > 0.0).astype("float32")


def cross_entropy(truth, chance):
    missed = tf.math.log(1.0 - chance)  # unstable
    return -tf.reduce_mean(truth * tf.math.log(chance + 1e-7) + (1.0 - truth) * missed)


model = tf.keras.Sequential([
    tf.keras.layers.Input((4,)),
    tf.keras.layers.Dense(6, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="sgd", loss=cross_entropy)
history = model.fit(samples, targets, epochs=1, batch_size=32, shuffle=False, verbose=0)
print(f"loss {history.history['loss'][-1]:.4f}")
