"""The spread of event times, from the mean of their squares."""

import numpy as np

generator = np.random.default_rng(45)


def spread(times):
    mean = np.mean(times)
    return np.mean(times * times) - mean * mean  # unstable


times = generator.normal(size=200)  # input
variance = float(spread(times))
print(f"variance {variance:.5f}")
