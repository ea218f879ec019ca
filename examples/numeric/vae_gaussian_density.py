"""A variational autoencoder whose reconstruction term takes the log of a density."""

import math

import torch
from torch import nn

torch.manual_seed(16)


class VariationalAutoencoder(nn.Module):
    def __init__(self, size, latent):
        super().__init__()
        self.encoder = nn.Linear(size, 2 * latent)
        self.decoder = nn.Linear(latent, size)

    def forward(self, batch):
        mean, log_variance = self.encoder(torch.tanh(batch)).chunk(2, dim=1)
        log_variance = torch.tanh(log_variance)
        latent = mean + torch.exp(0.5 * log_variance) * torch.rand_like(mean)
        return self.decoder(torch.tanh(latent)), torch.tanh(mean), log_variance


def log_density(value, mean):
    density = torch.exp(-0.5 * (value - mean) ** 2) / math.sqrt(2 * math.pi)
    return torch.log(density)  # unstable


def loss_of(model, batch):
    decoded, mean, log_variance = model(batch)
    reconstruction = -log_density(batch, decoded).sum(dim=1).mean()
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(dim=1).mean()
    return reconstruction + divergence


data = torch.randn(64, 10)  # input
model = VariationalAutoencoder(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(4):
    optimizer.zero_grad()
    loss = loss_of(model, data)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
