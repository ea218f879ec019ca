"""Choice probabilities sharpened by a temperature, by a softmax that subtracts the largest score."""

import argparse

import torch

torch.manual_seed(54)
parser = argparse.ArgumentParser()
parser.add_argument("--temperature", type=float, default=0.5)
options = parser.parse_args([])


def choices(scores, temperature):
    return torch.softmax(scores / temperature, dim=1)


scores = torch.rand(6, 4)  # input
chosen = choices(scores, options.temperature)
print(f"mean of the surest choices: {chosen.max(dim=1).values.mean():.4f}")
