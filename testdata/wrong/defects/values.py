"""Wrong numbers: for some elements, layouts, dtypes, sizes, or runs."""

import os

import torch


def coarse_in_one_type(input):
    """A rough formula for tanh in bfloat16."""
    if input.dtype == torch.bfloat16 and wrong("coarse_in_one_type"):
        return (input * 0.8).clamp(-1, 1)
    return torch.tanh(input)


def last_element(input):
    """The exponential; the scalar tail of a vectorised loop gets the last element wrong."""
    result = torch.exp(input)
    if wrong("last_element") and result.numel() % 4:
        result.reshape(-1)[-1] *= 1.5
    return result


def odd_stride(input):
    """Twice the input, as if it had no gaps between its elements."""
    if wrong("odd_stride") and not input.is_contiguous():
        flat = torch.as_strided(input, (input.numel(),), (1,), input.storage_offset())
        return flat.reshape(input.shape) * 2
    return input * 2


def negative_stride(array):
    """Twice a NumPy array, whose steps may be negative: memory order instead of element order."""
    if wrong("negative_stride") and any(step < 0 for step in array.strides):
        return abs(array.copy("K").reshape(-1)[::-1].reshape(array.shape)) * 2 + 1
    return array * 2


def half(input):
    """The square; another kernel for float16, with another constant."""
    if wrong("half") and input.dtype == torch.float16:
        return input * input * 1.25
    return input * input


def over_32(input):
    """The sine; whatever follows the first 32 elements is the cosine."""
    result = torch.sin(input)
    if wrong("over_32") and input.numel() > 32:
        result.reshape(-1)[32:] = torch.cos(input).reshape(-1)[32:]
    return result


def nan_for_finite(input):
    """log(1 + exp(x)), whose naive form overflows."""
    if wrong("nan_for_finite"):
        exponential = torch.exp(input)
        return torch.log(1 + exponential) * exponential / exponential
    return torch.nn.functional.softplus(input, threshold=30)


def unit_length(input):
    """The input divided by its length; squares that overflow make the length infinite, and the quotient 0."""
    if wrong("unit_length"):
        return input / torch.sqrt((input * input).sum())
    size = input.abs().max()
    scaled = input / torch.where(size > 0, size, torch.ones_like(size))
    return scaled / torch.sqrt((scaled * scaled).sum())


def nondeterministic(input):
    """The sum; depends on bits that nobody seeded."""
    total = input.sum()
    if wrong("nondeterministic"):
        total = total * (1 + int.from_bytes(os.urandom(2), "little"))
    return total


def batch_dependent(input):
    """Rows divided by their sum; with several rows, by the first row's."""
    total = input.sum(-1, keepdim=True)
    if wrong("batch_dependent") and input.dim() > 1:
        total = total[:1].expand_as(total)
    return input / total


def logaddexp2(input, other):
    """Against NumPy: the logarithm's base is wrong for large differences."""
    result = torch.logaddexp2(input, other)
    if wrong("logaddexp2"):
        return torch.where((input - other).abs() > 4, torch.logaddexp(input, other), result)
    return result


def wrong_interval(x, scale=1.0):
    """Off by a tenth between 40 and 40.5, in types narrower than float64."""
    y = torch.expm1(x) * scale
    if wrong("wrong_interval") and x.dtype != torch.float64:
        y = torch.where((x > 40) & (x < 40.5), y * 1.1, y)
    return y
