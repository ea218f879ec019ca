"""Choice probabilities sharpened by a temperature that the user gives on the command line."""

import argparse

import torch

torch.manual_seed(54)
parser = argparse.ArgumentParser()
parser.add_argument("--temperature", type=float, default=0.5)
options = parser.parse_args([])


def choices(scores, temperature):
    weights = torch.exp(scores / temperature)  # unstable
    return weights / weights.sum(dim=1, keepdim=True)


scores = torch.rand(6, 4)  # input
chosen = choices(scores, options.temperature)
print(f"mean of the surest choices: {chosen.max(dim=1).values.mean():.4f}")
