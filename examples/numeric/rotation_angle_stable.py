"""Angles between directions from the arc tangent of sine and cosine."""

import torch

torch.manual_seed(28)


def unit(vectors):
    return vectors / (vectors * vectors).sum(dim=1, keepdim=True).add(1e-12).sqrt()


def angles(first, second):
    first, second = unit(first), unit(second)
    cosine = (first * second).sum(dim=1)
    sine_squared = torch.linalg.cross(first, second).square().sum(dim=1)
    return torch.atan2(torch.sqrt(sine_squared + 1e-8), cosine)


def alignment(first, second):
    return angles(first, second).mean()


others = torch.rand(30, 3)
directions = torch.rand(30, 3)  # input
weights = torch.ones(3, requires_grad=True)
loss = alignment(directions * weights, others)
(gradient,) = torch.autograd.grad(loss, weights)
print(f"mean angle {loss.item():.4f} rad")
print("gradient:", [round(value, 4) for value in gradient.tolist()])
