"""The entropy of a histogram; a bin may be empty."""

import numpy as np

generator = np.random.default_rng(35)


def histogram(values, bins=6):
    edges = np.arange(bins + 1) / bins
    inside = (values[:, None] >= edges[:-1]) & (values[:, None] < edges[1:])
    return inside.sum(axis=0) / len(values)


def entropy(shares):
    return -(shares * np.log(shares)).sum()  # unstable


samples = generator.random(200)  # input
shares = histogram(samples)
value = entropy(shares)
print("shares:", np.round(shares, 3))
print(f"entropy {value:.4f} of at most {np.log(len(shares)):.4f}")
