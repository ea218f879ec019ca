"""A backward pass after a target function: what training through it would do.

A loss or a layer of its own computes no gradients, those who use it do. Its arguments become leaves, and
after the call one backward pass goes through all that it returned: torch's own, or over the recorded operations
of JAX and TensorFlow, whose arrays need no preparation.
"""

import sys

from ..backends import library as backends
from ..steer import steering, tape
from ..watch.monitor_tools import flatten

# Libraries whose operations are differentiated one by one.
_RECORDED = ("jax", "tensorflow")
LIBRARIES = ("torch",) + _RECORDED


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
        if not self.wanted or not monitor.policy.watch_gradients or monitor.trace.failures:
            return
        self._over_operations(result, monitor)
        if monitor.gradient_watch is None:
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

    def _over_operations(self, result, monitor):
        """JAX and TensorFlow: only where an operation has operands at which its slope can fail."""
        trace = monitor.trace
        made = [
            value
            for value in flatten([result], [])
            if trace.producer(value) is not None and trace.producer(value).library in _RECORDED
        ]
        if not made or trace.backward_calls:
            return
        backend = backends.of(trace.producer(made[0]).library)
        made = [value for value in made if backend.is_float(value) and backend.count(value)]
        if not made:
            return
        trace.differentiated = True
        if not any(
            steering.slope_may_fail(backend, node)
            for node in trace.nodes
            if node.library == backend.library
        ):
            return
        node = tape.first_bad(trace, made)
        if node is not None:
            trace.gradient_bad = True
            monitor.fail(
                backend,
                "gradient_nonfinite",
                node,
                "the value of %s is finite, its gradient is not" % node.name,
            )


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
