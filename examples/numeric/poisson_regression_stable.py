"""Poisson regression: the rate is the exponential of a bounded predictor."""

import torch
from torch import nn

torch.manual_seed(38)


class PoissonRegression(nn.Module):
    def __init__(self, covariates):
        super().__init__()
        self.predictor = nn.Linear(covariates, 1)

    def forward(self, batch):
        bounded = 10.0 * torch.tanh(self.predictor(batch) / 10.0)
        return torch.exp(bounded).squeeze(1)


def negative_log_likelihood(rate, counts):
    return (rate - counts * torch.log(rate + 1e-6)).mean()


covariates = torch.randn(50, 3)  # input
covariates = covariates.clamp(-100.0, 100.0)
counts = torch.poisson(2.0 * torch.rand(50))
model = PoissonRegression(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss = negative_log_likelihood(model(covariates), counts)
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.4f}")
