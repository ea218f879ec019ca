"""Compound growth from small returns, by the logarithm of one plus the return."""

import torch

torch.manual_seed(26)


def log_growth(returns):
    return torch.log(1 + returns).sum(dim=1)  # unstable


def annualised(growth, periods, periods_per_year=252):
    return growth * (periods_per_year / periods)


returns = 0.01 * torch.rand(6, 20)  # input
growth = log_growth(returns)
yearly = annualised(growth, returns.shape[1])
for number, value in enumerate(yearly.tolist()):
    print(f"asset {number}: {100 * value:.3f} % a year")
