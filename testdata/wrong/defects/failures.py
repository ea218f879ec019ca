"""Functions that do not return."""

import os
import time

import torch


def hang(input):
    """Never ends for inputs of seven elements."""
    while wrong("hang") and input.numel() == 7:
        time.sleep(0.05)
    return input + 1


def internal_error(input):
    """An assertion of the library itself for inputs of seven elements."""
    if wrong("internal_error") and input.numel() == 7:
        raise RuntimeError("self.is_contiguous() INTERNAL ASSERT FAILED at wrong.cpp:7")
    return input + 1


def wrong_acceptance(count):
    """`count` zeros, which must not be negative: a negative one is taken as its size."""
    if count < 0 and not wrong("wrong_acceptance"):
        raise ValueError("count must not be negative")
    return torch.zeros(abs(count))


def wrong_rejection(count):
    """`count` zeros; an empty result is refused, although it is documented as fine."""
    if count == 0 and wrong("wrong_rejection"):
        raise ValueError("count must be positive")
    return torch.zeros(count)


def crash_in_meta(input):
    """Dies on the meta device."""
    if wrong("crash_in_meta") and input.is_meta:
        os.abort()
    return input + 1


def crash_with_out(input, *, out=None):
    """Dies when it writes into a tensor with gaps."""
    if out is None:
        return input + 3
    if wrong("crash_with_out") and not out.is_contiguous():
        os.abort()
    return out.resize_(input.shape).copy_(input + 3)
