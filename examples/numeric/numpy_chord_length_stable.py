"""The sagitta of short arcs, radius times 2 sin²(angle / 4)."""

import numpy as np

generator = np.random.default_rng(46)


def sagitta(radius, angles):
    half = np.sin(angles / 4.0)
    return radius * 2.0 * half * half


angles = generator.random(16)  # input
heights = sagitta(6.371e6, angles)
print(f"largest height {heights.max():.1f} m, smallest {heights.min():.3f} m")
