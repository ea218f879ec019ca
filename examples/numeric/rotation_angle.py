"""Angles between directions from the arc cosine of their inner product."""

import torch

torch.manual_seed(28)


def unit(vectors):
    return vectors / (vectors * vectors).sum(dim=1, keepdim=True).add(1e-12).sqrt()


def angles(first, second):
    cosine = (unit(first) * unit(second)).sum(dim=1)
    return torch.acos(cosine)  # unstable


def alignment(first, second):
    return angles(first, second).mean()


others = torch.rand(30, 3)
directions = torch.rand(30, 3)  # input
weights = torch.ones(3, requires_grad=True)
loss = alignment(directions * weights, others)
(gradient,) = torch.autograd.grad(loss, weights)
print(f"mean angle {loss.item():.4f} rad")
print("gradient:", [round(value, 4) for value in gradient.tolist()])
