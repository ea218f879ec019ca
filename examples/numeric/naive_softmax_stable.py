"""A bandit that turns its preferences into probabilities by a shifted softmax."""

import torch

torch.manual_seed(3)


def choose(preferences):
    largest = preferences.amax(dim=-1, keepdim=True).detach()
    weights = torch.exp(preferences - largest)
    return weights / weights.sum(dim=-1, keepdim=True)


def expected_reward(preferences, rewards):
    return (choose(preferences) * rewards).sum(dim=-1).mean()


preferences = torch.randn(16, 10)  # input
rewards = torch.rand(16, 10)

shift = torch.zeros(10, requires_grad=True)
for step in range(4):
    value = expected_reward(preferences + shift, rewards)
    (gradient,) = torch.autograd.grad(value, shift)
    with torch.no_grad():
        shift += 0.5 * gradient
    print(f"step {step}: expected reward {value.item():.4f}")
