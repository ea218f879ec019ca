"""The functions of Python's `math` in the user's files, as unstable call sites.

They work on plain numbers and raise instead of giving NaN or Inf: `math.log(0.0)` ends the program.
A number that came out of a tensor by `item()` keeps its connection to it as long as it is the same
object, so that a soft assertion can steer through it; otherwise the distance alone guides the search.
"""

import math

import numpy as np

from ..steer import registry, steering
from ..watch import operations
from ..watch.trace import Node, Site
from .base import Backend


class MathBackend(Backend):
    """What the monitor asks about arrays, for plain numbers."""

    library = "math"
    has_gradients = False

    def is_float(self, value):
        return False

    def steerable(self, value):
        return _is_number(value)

    def count(self, value):
        return 1

    def numbers(self, value):
        return np.float64(value)

    def dtype_name(self, value):
        return "float64"

    def snapshot(self, value):
        return value

    def call_wider(self, node):
        raise TypeError("plain numbers have no wider form")

    def differentiate(self, node, trace):
        if node.inputs:
            from .torch_backend import TorchBackend

            node.library = "torch"
            try:
                return TorchBackend().differentiate(node, trace)
            finally:
                node.library = "math"
        return steering.scaled_distances(self, node, trace)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


BACKEND = MathBackend()


def install(patches, monitor):
    """Watches the functions of plain numbers that the table of functions knows."""
    for name, original in sorted(vars(math).items()):
        if callable(original) and (registry.known(name) or operations.has(name, "magnitude")):
            patches.set(math, name, _watched(original, name, monitor))


def _watched(original, name, monitor):
    def function(*arguments, **keywords):
        if not monitor.active or keywords or not all(_is_number(value) for value in arguments):
            return original(*arguments, **keywords)
        frame, direct, _ = monitor.users.locate(2)
        if frame is None or not direct:
            return original(*arguments)
        node = _node(monitor, original, name, arguments, frame)
        monitor.reached(BACKEND, node)
        try:
            return original(*arguments)
        except (ValueError, OverflowError) as error:
            if all(math.isfinite(value) for value in arguments):
                monitor.fail(
                    BACKEND,
                    "nonfinite",
                    node,
                    "math.%s(%s) raises %s: %s"
                    % (
                        original.__name__,
                        ", ".join("%r" % value for value in arguments),
                        type(error).__name__,
                        error,
                    ),
                )
            raise

    function.__name__ = original.__name__
    function.__doc__ = original.__doc__
    return function


def _node(monitor, original, name, arguments, frame):
    trace = monitor.trace
    trace.operations += 1
    site = Site(frame.f_code.co_filename, frame.f_lineno, name, frame.f_code.co_name)
    # The tensors behind numbers that `item()` gave.
    behind = [monitor.taken[id(value)][1] for value in arguments if id(value) in monitor.taken]
    operands = tuple(behind) if len(behind) == len(arguments) else arguments
    return Node(
        trace.operations,
        name,
        original,
        arguments,
        {},
        operands,
        behind if operands is not arguments else [],
        site,
        "math",
    )
