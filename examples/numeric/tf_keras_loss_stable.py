"""A Keras model whose loss works on logits."""

import numpy as np
import tensorflow as tf

generator = np.random.default_rng(11)
samples = generator.normal(size=(32, 4)).astype("float32")  # input
targets = (samples[:, :1] > 0.0).astype("float32")


def cross_entropy(truth, logits):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits))


model = tf.keras.Sequential([
    tf.keras.layers.Input((4,)),
    tf.keras.layers.Dense(6, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="sgd", loss=cross_entropy)
history = model.fit(samples, targets, epochs=1, batch_size=32, shuffle=False, verbose=0)
print(f"loss {history.history['loss'][-1]:.4f}")
