"""Directions of vectors in NumPy: a zero vector has none."""

import numpy as np

generator = np.random.default_rng(32)
vectors = generator.normal(size=(6, 3))  # input

lengths = np.sqrt((vectors ** 2).sum(axis=1, keepdims=True))
directions = vectors / lengths  # unstable
print(f"mean direction {np.abs(directions).mean():.4f}")
