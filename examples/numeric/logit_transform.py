"""Pixels brought to the whole real line for a normalising flow."""

import torch

torch.manual_seed(37)


def to_real_line(values):
    return torch.log(values) - torch.log1p(-values)  # unstable


def log_determinant(values):
    return -(torch.log(values + 1e-3) + torch.log(1.001 - values)).sum(dim=1)


def flow_loss(values):
    latent = to_real_line(values)
    return (0.5 * latent * latent).sum(dim=1).mean() - log_determinant(values).mean()


pixels = torch.rand(8, 16)  # input
loss = flow_loss(pixels)
print(f"loss {loss.item():.4f}")
print(f"largest latent {to_real_line(pixels).abs().max().item():.4f}")
