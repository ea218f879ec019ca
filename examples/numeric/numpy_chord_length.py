"""The sagitta of short arcs, radius times 1 - cos(angle / 2)."""

import numpy as np

generator = np.random.default_rng(46)


def sagitta(radius, angles):
    return radius * (1.0 - np.cos(angles / 2.0))  # unstable


angles = generator.random(16)  # input
heights = sagitta(6.371e6, angles)
print(f"largest height {heights.max():.1f} m, smallest {heights.min():.3f} m")
