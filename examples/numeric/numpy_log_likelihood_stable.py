"""The likelihood of a sequence in NumPy: a sum of logarithms with a floor."""

import numpy as np

generator = np.random.default_rng(31)
chances = generator.uniform(0.0, 1.0, size=(4, 200))  # input


def log_likelihood(chances):
    return np.sum(np.log(np.maximum(chances, 1e-12)), axis=1)


print(f"log likelihood {log_likelihood(chances).mean():.3f}")
