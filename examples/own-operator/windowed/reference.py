"""The same in plain torch, slow and plainly right."""

import torch  # noqa: F401  (its tensors are the arguments)


def window_sum(x, width):
    return x.unfold(-1, width, 1).sum(dim=-1)


def window_mean(x, width=2):
    return window_sum(x, width) / width
