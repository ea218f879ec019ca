"""Interpolation of measurements by inverse distance weights."""

import torch

torch.manual_seed(40)


def squared_distances(places, stations):
    return (places.unsqueeze(1) - stations.unsqueeze(0)).square().sum(dim=2)


def interpolate(places, stations, measured):
    weights = 1.0 / squared_distances(places, stations)  # unstable
    return (weights * measured).sum(dim=1) / weights.sum(dim=1)


places = torch.rand(5, 2)
measured = torch.rand(20)
stations = torch.rand(20, 2)  # input
values = interpolate(places, stations, measured)
for number, value in enumerate(values.tolist()):
    print(f"place {number}: {value:.4f}")
