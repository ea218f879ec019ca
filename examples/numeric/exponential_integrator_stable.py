"""One step of an exponential integrator: the factor expm1(h r) / (h r), and 1 at zero."""

import torch

torch.manual_seed(27)


def integration_factor(exponent):
    tiny = torch.finfo(exponent.dtype).tiny
    safe = torch.where(exponent.abs() < tiny, torch.ones_like(exponent), exponent)
    return torch.where(exponent.abs() < tiny, torch.ones_like(exponent), torch.expm1(safe) / safe)


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
