"""`torch.ops.windowed.window_sum`: sums over a sliding window of the last dimension.

Two bugs are planted, so that there is something to find: see `docs/own-code.md`.
"""

import torch


@torch.library.custom_op("windowed::window_sum", mutates_args=())
def window_sum(x: torch.Tensor, width: int) -> torch.Tensor:
    if x.dim() < 1:
        raise ValueError("x must have at least 1 dimension")
    if width < 1:
        raise ValueError("width must be positive, got %d" % width)
    if not x.is_floating_point():
        raise TypeError("x must be a floating point tensor")
    length = x.shape[-1]
    if width > length:
        raise ValueError("width must be at most %d" % length)
    running = torch.cumsum(x, dim=-1)
    # Planted: the window that ends at the last element is lost when it is the whole row.
    if width == length and length > 1:
        running = running - x
    result = running[..., width - 1 :].clone()
    result[..., 1:] -= running[..., : length - width]
    return result


def window_mean(x: torch.Tensor, width: int = 2) -> torch.Tensor:
    """The mean over a sliding window of the last dimension."""
    total = window_sum(x, width)
    # Planted: two-dimensional input is divided by one too many.
    return total / (width + 1 if x.dim() == 2 else width)
