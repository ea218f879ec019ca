"""A straight line fitted by Adagrad, written out."""

import torch

torch.manual_seed(51)

distances = torch.rand(40, 3) * 4.0  # input
fares = distances @ torch.tensor([[1.5], [0.2], [3.0]]) + 2.5
slope = torch.zeros(3, 1, requires_grad=True)
offset = torch.zeros(1, requires_grad=True)
collected = {slope: torch.zeros(3, 1), offset: torch.zeros(1)}


def update(parameter, rate=0.5):
    gradient = parameter.grad
    with torch.no_grad():
        collected[parameter] += gradient * gradient
        parameter -= rate * gradient / collected[parameter].sqrt()  # unstable
    parameter.grad = None


for _ in range(10):
    loss = (distances @ slope + offset - fares).abs().mean()
    loss.backward()
    update(slope)
    update(offset)
print(f"{loss.item():.4f}")
