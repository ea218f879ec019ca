"""Right results that cost too much memory or time."""

import torch

_kept = []
_cache = []


def leak(input):
    """Keeps a megabyte with each call."""
    if wrong("leak"):
        _kept.append(torch.ones(1 << 18))
    return input + 1


def allocates(input):
    """The first element, by way of 320 megabytes."""
    if wrong("allocates"):
        return torch.zeros(80 << 20).add_(input.reshape(-1)[0])[0]
    return input.reshape(-1)[0] + 0


def _work(amount):
    total = torch.zeros(())
    one = torch.ones(())
    for _ in range(amount):
        total = total + one
    return total


def slow_half(input):
    """The square; thousands of times slower in float16."""
    if wrong("slow_half") and input.dtype == torch.float16:
        _work(4000)
    return input * input


def cubic(input):
    """The sum, by way of all triples."""
    if wrong("cubic"):
        flat = input.reshape(-1)
        triples = flat[:, None, None] + flat[None, :, None] + flat[None, None, :]
        return triples.sum() / (3 * flat.numel() ** 2)
    return input.sum()


def fills_a_cache(input):
    """Nothing is wrong with it: it keeps two megabytes, and no more."""
    if len(_cache) < 8:
        _cache.append(torch.ones(1 << 16))
    return input + 1


def slow_everywhere(input):
    """Nothing is wrong with it: slow, but in every precision alike."""
    _work(400)
    return input + 1
