"""Polynomial regression with a learning rate below the stability limit."""

import torch
from torch.nn import functional as F

torch.manual_seed(32)

inputs = torch.rand(64, 1)  # input
features = torch.cat([inputs**power for power in range(6)], dim=1)
target = torch.sin(3 * inputs).squeeze(1)
weights = torch.zeros(6, requires_grad=True)


def train(steps, learning_rate):
    history = []
    for _ in range(steps):
        prediction = features @ weights
        loss = F.mse_loss(prediction, target)
        loss.backward()
        with torch.no_grad():
            weights.sub_(learning_rate * weights.grad)
            weights.grad.zero_()
        history.append(loss.item())
    return history


history = train(steps=300, learning_rate=0.1)
print(f"first loss {history[0]:.4f}, last loss {history[-1]:.4g}")
