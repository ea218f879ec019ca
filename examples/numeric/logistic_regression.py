"""Logistic regression with the cross entropy of the textbook."""

import torch

torch.manual_seed(1)

inputs = torch.randn(100, 4)  # input
truth = torch.tensor([1.5, -2.0, 0.5, 1.0])
targets = (inputs @ truth + 0.3 * torch.randn(100) > 0).float()

weights = torch.randn(4, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
learning_rate = 0.1


def cross_entropy(scores, expected):
    probability = torch.sigmoid(scores)
    positive = expected * torch.log(probability + 1e-7)
    negative = (1 - expected) * torch.log(1 - probability)  # unstable
    return -(positive + negative).mean()


for step in range(5):
    loss = cross_entropy(inputs @ weights + bias, targets)
    loss.backward()
    with torch.no_grad():
        weights -= learning_rate * weights.grad
        bias -= learning_rate * bias.grad
        weights.grad.zero_()
        bias.grad.zero_()

with torch.no_grad():
    accuracy = (((inputs @ weights + bias) > 0).float() == targets).float().mean()
print(f"loss {loss.item():.4f}, accuracy {accuracy.item():.2f}")
