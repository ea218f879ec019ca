"""The functions of Python's `math` in the user's files, as unstable call sites.

They work on plain numbers and raise instead of giving NaN or Inf: `math.log(0.0)` ends the program.
A number that came out of a tensor by `item()` keeps its connection to it as long as it is the same
object, so that a soft assertion can steer through it; otherwise the distance alone guides the search.
"""

import math

from ..watch.trace import Node, Site
from .base import Backend

# Function -> canonical name in the registry.
FUNCTIONS = {
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "exp": "exp",
    "expm1": "expm1",
    "exp2": "exp2",
    "sqrt": "sqrt",
    "pow": "pow",
    "acos": "acos",
    "asin": "asin",
    "atanh": "atanh",
    "acosh": "acosh",
    "cosh": "cosh",
    "sinh": "sinh",
    "lgamma": "lgamma",
    "gamma": "gamma",
    "fmod": "fmod",
    "hypot": "hypot",
}
_LARGEST_EXPONENT = math.log(1.7976931348623157e308)


class MathBackend(Backend):
    """What the monitor asks about arrays, for plain numbers."""

    library = "math"

    def is_float(self, value):
        return False

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
        distance = _distance(node.name, node.operands)
        return [] if distance is None else [distance + ({},)]


def _distance(name, operands):
    """(label, signed distance) of plain numbers; negative or zero fails."""
    x = float(operands[0])
    if name in ("log", "log2", "log10", "sqrt"):
        return "decrease", x
    if name == "log1p":
        return "decrease", x + 1.0
    if name in ("exp", "expm1"):
        return "increase", _LARGEST_EXPONENT - x
    if name == "exp2":
        return "increase", 1024.0 - x
    if name in ("cosh", "sinh"):
        return "away from zero", _LARGEST_EXPONENT - abs(x)
    if name in ("acos", "asin", "atanh"):
        return "away from zero", 1.0 - abs(x)
    if name == "acosh":
        return "decrease", x - 1.0
    return None


BACKEND = MathBackend()


def install(patches, monitor):
    for name in FUNCTIONS:
        if hasattr(math, name):
            patches.set(math, name, _watched(getattr(math, name), FUNCTIONS[name], monitor))


def _watched(original, name, monitor):
    def function(*arguments):
        if not monitor.active:
            return original(*arguments)
        frame, direct, _ = monitor.users.locate(2)
        if frame is None or not direct:
            return original(*arguments)
        node = _node(monitor, original, name, arguments, frame)
        monitor.reached(BACKEND, node)
        try:
            return original(*arguments)
        except (ValueError, OverflowError) as error:
            if all(isinstance(value, (int, float)) and math.isfinite(value) for value in arguments):
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
