"""Nearest neighbours by squared distances from scalar products, one matrix product for all pairs."""

import torch

torch.manual_seed(52)


def squared_distances(points, centres):
    lengths = (points * points).sum(dim=1)[:, None] + (centres * centres).sum(dim=1)[None, :]
    return lengths - 2 * (points @ centres.t())  # unstable


points = torch.randn(24, 3)  # input
centres = points[:5] + 0.1
distances = squared_distances(points, centres)
nearest = distances.min(dim=1).values
print(f"mean squared distance to the nearest centre: {nearest.mean():.4f}")
