"""A variational autoencoder with the log density in closed form."""

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
        return 100.0 * torch.tanh(self.decoder(torch.tanh(latent))), torch.tanh(mean), log_variance


def log_density(value, mean):
    return -0.5 * (value - mean) ** 2 - 0.5 * math.log(2 * math.pi)


def loss_of(model, batch):
    decoded, mean, log_variance = model(batch)
    reconstruction = -log_density(batch, decoded).sum(dim=1).mean()
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(dim=1).mean()
    return reconstruction + divergence


data = torch.randn(64, 10)  # input
data = data.clamp(-100.0, 100.0)
model = VariationalAutoencoder(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(4):
    optimizer.zero_grad()
    loss = loss_of(model, data)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
