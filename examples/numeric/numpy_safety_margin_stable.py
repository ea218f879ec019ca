"""The reserve of a structure: the root of what its loads leave of the capacity, none when they exceed it."""

import numpy as np

generator = np.random.default_rng(43)

CAPACITY = 1.6


def reserve(loads, influence):
    margin = CAPACITY - loads @ influence
    return np.sqrt(np.maximum(margin, 0.0))


influence = np.linspace(0.9, -0.6, 6)
loads = generator.random((20, 6))  # input
reserves = reserve(loads, influence)
print(f"smallest reserve {reserves.min():.4f}, mean {reserves.mean():.4f}")
