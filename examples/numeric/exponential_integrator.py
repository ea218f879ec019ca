"""One step of an exponential integrator: the factor (exp(h r) - 1) / (h r)."""

import torch

torch.manual_seed(27)


def integration_factor(exponent):
    return (torch.exp(exponent) - 1) / exponent  # unstable


def advance(state, rates, step):
    factor = integration_factor(step * rates)
    return state + step * factor * (rates * state + 0.1), factor


rates = torch.rand(10)  # input
state = torch.ones(10)
step = 0.1
for _ in range(3):
    state, factor = advance(state, rates, step)
print(f"largest state {state.max().item():.5f}")
print(f"factors from {factor.min().item():.6f} to {factor.max().item():.6f}")
