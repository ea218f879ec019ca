"""The likelihood of a sequence in NumPy: the logarithm of a product that underflows."""

import numpy as np

generator = np.random.default_rng(31)
chances = generator.uniform(0.0, 1.0, size=(4, 200))  # input


def log_likelihood(chances):
    return np.log(np.prod(chances, axis=1))  # unstable


print(f"log likelihood {log_likelihood(chances).mean():.3f}")
