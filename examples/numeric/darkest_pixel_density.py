"""Optical density of a scanned film: the logarithm of each pixel's share of the light."""

import numpy as np
import torch


def read_film(height=12, width=16):
    """Stands for the raw file of a scanner: 8 bits per pixel."""
    return bytes(40 + (37 * place + place * place // 9) % 200 for place in range(height * width))


def density(pixels):
    transmitted = torch.from_numpy(pixels).float() / 255.0
    return -torch.log10(transmitted)  # unstable


pixels = np.frombuffer(read_film(), dtype=np.uint8).reshape(12, 16).copy()  # input
values = density(pixels)
print(f"density from {values.min():.3f} to {values.max():.3f}, mean {values.mean():.3f}")
