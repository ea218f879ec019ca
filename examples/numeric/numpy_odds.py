"""Log odds in NumPy: probabilities of exactly one divide by zero."""

import numpy as np

generator = np.random.default_rng(33)
scores = generator.normal(size=12)  # input

chances = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
odds = chances / (1.0 - chances)  # unstable
print(f"odds {np.mean(odds):.4f}")
