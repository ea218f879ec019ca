"""Nearest neighbours by squared distances, the difference taken before the square."""

import torch

torch.manual_seed(52)


def squared_distances(points, centres):
    difference = points[:, None, :] - centres[None, :, :]
    return (difference * difference).sum(dim=2)


points = torch.randn(24, 3)  # input
centres = points[:5] + 0.1
distances = squared_distances(points, centres)
nearest = distances.min(dim=1).values
print(f"mean squared distance to the nearest centre: {nearest.mean():.4f}")
