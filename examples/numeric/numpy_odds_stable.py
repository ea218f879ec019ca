"""Log odds in NumPy: probabilities stay away from one."""

import numpy as np

generator = np.random.default_rng(33)
scores = generator.normal(size=12)  # input

chances = 1.0 / (1.0 + np.exp(-np.clip(scores, -20.0, 20.0)))
odds = chances / (1.0 - chances)
print(f"odds {np.mean(odds):.4f}")
