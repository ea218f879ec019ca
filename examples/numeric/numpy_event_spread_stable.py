"""The spread of event times, from their differences to the mean."""

import numpy as np

generator = np.random.default_rng(45)


def spread(times):
    difference = times - np.mean(times)
    return np.mean(difference * difference)


times = generator.normal(size=200)  # input
times = np.clip(times, -1e12, 1e12)
variance = float(spread(times))
print(f"variance {variance:.5f}")
