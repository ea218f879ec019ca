"""A function of a project: the Bernoulli function of drift-diffusion schemes."""

import torch


def bernoulli(x):
    """x / (exp(x) - 1), which is positive for every x and 1 at 0."""
    return x / (torch.exp(x) - 1)
