"""Pixels squeezed a little and brought to the whole real line for a normalising flow."""

import torch

torch.manual_seed(37)


def to_real_line(values):
    squeezed = 0.01 + 0.98 * values
    return torch.log(squeezed) - torch.log1p(-squeezed)


def log_determinant(values):
    return -(torch.log(values + 1e-3) + torch.log(1.001 - values)).sum(dim=1)


def flow_loss(values):
    latent = to_real_line(values)
    return (0.5 * latent * latent).sum(dim=1).mean() - log_determinant(values).mean()


pixels = torch.rand(8, 16)  # input
loss = flow_loss(pixels)
print(f"loss {loss.item():.4f}")
print(f"largest latent {to_real_line(pixels).abs().max().item():.4f}")
