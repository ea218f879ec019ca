"""Scales of a mixture kept positive by softplus."""

import torch

torch.manual_seed(25)


def positive(raw):
    return torch.nn.functional.softplus(raw)


def weighted_mean(values, raw):
    scales = positive(raw)
    weights = scales / (scales.sum(dim=1, keepdim=True) + 1e-3)
    return (weights * values).sum(dim=1)


raw = torch.randn(10, 5)  # input
values = torch.rand(10, 5)
means = weighted_mean(values, raw)
order = means.argsort(descending=True)
for index in order[:3].tolist():
    print(f"component {index}: {means[index].item():.4f}")
