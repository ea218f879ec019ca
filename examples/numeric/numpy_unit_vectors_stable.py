"""Directions of vectors in NumPy: a zero vector stays as it is."""

import numpy as np

generator = np.random.default_rng(32)
vectors = generator.normal(size=(6, 3))  # input

lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
directions = vectors / np.where(lengths > 1e-9, lengths, 1.0)
print(f"mean direction {np.abs(directions).mean():.4f}")
