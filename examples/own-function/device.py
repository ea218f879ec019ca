"""The current through a row of cells."""

import torch

from transport import bernoulli

torch.manual_seed(0)
voltages = torch.randn(16)
carriers = torch.rand(17) + 0.5
current = bernoulli(voltages) * carriers[1:] - bernoulli(-voltages) * carriers[:-1]
print(current.mean().item())
