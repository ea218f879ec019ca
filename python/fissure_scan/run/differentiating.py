"""A backward pass after a target function of torch: what training through it would do.

A loss or a layer of its own computes no gradients, those who use it do. Its arguments become leaves, and
after the call one backward pass goes through all that it returned.
"""

import sys

from ..backends import library as backends


class Differentiation:
    """Whether the target can be differentiated is found out in its own run."""

    def __init__(self):
        self.wanted = False

    def leaf(self, backend, value):
        """An argument through which gradients go; the function may change it in place."""
        if not self.wanted or backend.library != "torch" or not backend.is_float(value):
            return value
        if value.requires_grad:
            return value
        return value.detach().clone().requires_grad_(True) * 1.0

    def backward(self, result, monitor):
        """Differentiates the sum of the result."""
        if not self.wanted or monitor.gradient_watch is None or monitor.trace.failures:
            return
        number = total(result, sys.modules["torch"].Tensor)
        if number is None:
            return
        try:
            number.backward()
        except RuntimeError:
            # The graph cannot be gone through: parts were changed in place.
            return
        monitor.trace.differentiated = True
        monitor.gradient_watch.finished(backends.of("torch"))


def total(result, tensor):
    """The sum of all differentiable numbers in a result; None where there is none."""
    number = None
    for value in _tensors(result, tensor):
        if value.requires_grad and value.dtype.is_floating_point and value.numel():
            number = value.sum() if number is None else number + value.sum().to(number.dtype)
    return number


def _tensors(result, tensor):
    if isinstance(result, tensor):
        yield result
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from _tensors(item, tensor)
    elif isinstance(result, dict):
        for item in result.values():
            yield from _tensors(item, tensor)
