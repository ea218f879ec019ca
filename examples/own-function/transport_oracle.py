"""What counts as a failure of `transport.bernoulli`."""

import torch


def oracle(inputs, output):
    """True where the result is unsafe: not a number, or not positive."""
    return ~torch.isfinite(output) | (output <= 0)
