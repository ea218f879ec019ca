"""An image is brightened and stored as bytes."""

import numpy as np

generator = np.random.default_rng(11)


def brighten(image, gain):
    return image * gain + 0.02


def to_bytes(image):
    return (image * 255).astype(np.uint8)  # unstable


def histogram(stored, bins=8):
    counts, _ = np.histogram(stored, bins=bins, range=(0, 256))
    return counts


image = generator.random((16, 16))  # input
bright = brighten(image, 1.3)
stored = to_bytes(bright)
counts = histogram(stored)
print("darkest and brightest byte:", stored.min(), stored.max())
print("histogram:", " ".join(str(count) for count in counts))
