"""Points brought to polar coordinates away from the origin, where the angle is not defined."""

import torch

torch.manual_seed(29)


def angle(points):
    return torch.atan2(points[:, 1], points[:, 0].clamp_min(0.0) + 1e-3)


def smoothness(points):
    turned = angle(points)
    return (turned[1:] - turned[:-1]).square().mean()


points = torch.rand(20, 2)  # input
points.requires_grad_(True)
optimizer = torch.optim.SGD([points], lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss = smoothness(points)
    loss.backward()
    optimizer.step()
    print(f"step {step}: roughness {loss.item():.5f}")
