"""A transformer block's layer normalisation, written with std."""

import torch
from torch import nn

torch.manual_seed(22)


class LayerNormalisation(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size))
        self.shift = nn.Parameter(torch.zeros(size))

    def forward(self, tokens):
        mean = tokens.mean(dim=-1, keepdim=True)
        deviation = tokens.std(dim=-1, keepdim=True)
        return self.gain * (tokens - mean) / deviation + self.shift  # unstable


tokens = torch.rand(4, 7, 8)  # input
block = nn.Sequential(LayerNormalisation(8), nn.Linear(8, 8), nn.Tanh())
output = block(tokens)
loss = output.square().mean()
loss.backward()
print(f"output range {output.min().item():.4f} to {output.max().item():.4f}")
print(f"gradient of the gain {block[0].gain.grad.abs().mean().item():.6f}")
