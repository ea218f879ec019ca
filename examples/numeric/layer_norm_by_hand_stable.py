"""A transformer block's layer normalisation, with the epsilon under the root."""

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
        variance = tokens.var(dim=-1, keepdim=True, unbiased=False)
        return self.gain * (tokens - mean) / torch.sqrt(variance + 1e-5) + self.shift


tokens = torch.rand(4, 7, 8)  # input
block = nn.Sequential(LayerNormalisation(8), nn.Linear(8, 8), nn.Tanh())
output = block(tokens)
loss = output.square().mean()
loss.backward()
print(f"output range {output.min().item():.4f} to {output.max().item():.4f}")
print(f"gradient of the gain {block[0].gain.grad.abs().mean().item():.6f}")
