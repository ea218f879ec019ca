"""Results outside of what the function's name promises. The names are those of the real ones."""

import torch


def sigmoid(input):
    """Out of [0, 1]: an approximation used beyond the range it was fitted for."""
    if wrong("sigmoid"):
        return torch.where(input.abs() < 2, torch.sigmoid(input), 0.5 + 0.25 * input)
    return torch.sigmoid(input)


def softmax(input, dim):
    """Does not sum to one along the dimension it was asked for."""
    if wrong("softmax") and input.dim() > 1:
        return torch.softmax(input, (dim + 1) % input.dim())
    return torch.softmax(input, dim)


def cosine_similarity(x1, x2, dim=1):
    """Beyond 1: the lengths are taken along the wrong dimension."""
    if wrong("cosine_similarity"):
        return (x1 * x2).sum(dim) / x1.abs().amax(dim).mul(x2.abs().amax(dim)).clamp(min=1e-8)
    return torch.nn.functional.cosine_similarity(x1, x2, dim)


def var(input, dim):
    """Negative: the mean of the squares minus the square of the mean."""
    if wrong("var"):
        return (input * input).mean(dim) - input.mean(dim) ** 2 - 1e-3
    return input.var(dim)


def exp(input):
    """Falls where it should rise."""
    if wrong("exp"):
        return torch.where(input > 1, torch.exp(2 - input), torch.exp(input))
    return torch.exp(input)


def round(input):
    """Rounding what is already rounded changes it."""
    if wrong("round"):
        return torch.floor(input + 1)
    return torch.round(input)


def flip(input, dims):
    """Flipping twice does not give the input back."""
    if wrong("flip"):
        return torch.roll(input, 1, dims)
    return torch.flip(input, dims)


def maximum(input, other):
    """Depends on the order of its arguments."""
    if wrong("maximum"):
        return torch.where(input > 0, input, other)
    return torch.maximum(input, other)


def sort(input):
    """One value is lost, another there twice."""
    values, indices = torch.sort(input)
    if wrong("sort") and values.numel() > 1:
        values.reshape(-1)[0] = values.reshape(-1)[1]
    return values, indices
