"""The oracles: each a small check with a known-bad and a known-good value (in the tests).

`AT_OPERATION` are asked after every recorded operation; the others need a whole run (gradients,
hidden values, shadows) or a composite (patterns.py) and live beside the machinery they need.
"""

import math

import numpy
from fissure_worker import dtypes

from ..steer import registry, soft_assertions
from ..watch import operations
from ..watch.monitor_tools import has_nonfinite_scalar


class Oracle:
    def __init__(self, name, check):
        self.name = name
        self.check = check


def writes_nonfinite(node):
    """The program itself hands an infinity or NaN to this operation."""
    return has_nonfinite_scalar(node.arguments) or has_nonfinite_scalar(node.keywords.values())


def produces(node):
    """Can a NaN or Inf in the result of this operation be its own doing?"""
    return not operations.has(node.name, "given") and not writes_nonfinite(node)


def nonfinite(backend, node):
    """NaN or Inf from finite operands; between arrays with gaps (missing values), from finite elements."""
    if not node.output_bad or not produces(node):
        return None
    if node.inputs_bad:
        return _beside_gaps(backend, node)
    return "%s of finite operands gives %s" % (node.name, backend.describe_bad(node.output))


def _beside_gaps(backend, node):
    """Elements of a result that are NaN or Inf where those of both operands are finite numbers."""
    operands = node.operands
    if (
        node.library != "numpy"
        or not operations.has(node.name, "arithmetic")
        or len(operands) != 2
        or not all(backend.is_array(value) and backend.count(value) for value in operands)
        or backend.is_in_place(node.function)
    ):
        return None
    result = numpy.isfinite(backend.numbers(node.output))
    given = [numpy.isfinite(backend.numbers(value)) for value in operands]
    if any(finite.shape != result.shape for finite in given):
        return None
    spoiled = int((given[0] & given[1] & ~result).sum())
    if not spoiled or all(finite.all() for finite in given):
        return None
    return "%s of finite numbers gives NaN or Inf in %d of %d elements" % (
        node.name,
        spoiled,
        result.size,
    )


def out_of_range(backend, node):
    """A result outside the function's mathematical range by more than rounding."""
    limits = registry.mathematical_range(node.name)
    if limits is None or node.output is None or node.output_bad or node.inputs_bad:
        return None
    if not backend.is_float(node.output):
        return None
    if backend.count(node.output) == 0:
        return None
    if operations.has(node.name, "takes labels") and _beyond_labels(backend, node):
        return None
    minimum, maximum = backend.extremes(node.output)
    slack = 16 * backend.epsilon(node.output)
    if minimum < limits[0] - slack or maximum > limits[1] + slack:
        worst = minimum if minimum < limits[0] - slack else maximum
        return "%s gives %.9g, outside [%g, %g]" % (node.name, worst, limits[0], limits[1])
    return None


def label_operand(node):
    """The labels of a cross entropy: TensorFlow has them first."""
    for word in ("labels", "target"):
        if node.keywords.get(word) is not None:
            return node.keywords[word]
    place = 0 if node.library.startswith("tensorflow") else 1
    return node.operands[place] if len(node.operands) > 1 else None


def _beyond_labels(backend, node):
    """Is a label outside of 0 and 1? The range of the result is that of labels between."""
    labels = label_operand(node)
    if labels is None or not backend.is_array(labels) or not backend.count(labels):
        return False
    lowest, highest = backend.extremes(labels)
    return lowest < 0.0 or highest > 1.0


# Arithmetic on whole numbers, for the result that would have been right.
_EXACT = {"add": "add", "sub": "subtract", "mul": "multiply"}


def _whole_numbers(backend, node):
    """Arithmetic on whole numbers whose result does not fit their type: `a - b` of two bytes."""
    limits = backend.integer_limits(node.output) if node.output is not None else None
    if limits is None or node.library not in ("numpy", "torch") or len(node.operands) != 2:
        return None
    name = backend.dtype_name(node.output)
    if node.name != "sub" and name in ("uint32", "uint64"):
        # Hashes and random numbers are made so.
        return None
    if backend.count(node.output) == 0 or backend.count(node.output) > 1000000:
        return None
    import numpy

    from ..backends.numpy_backend import ordinary_asarray

    numbers = [
        backend.numbers(value).astype(numpy.float64) if backend.is_array(value) else value
        for value in node.operands
    ]
    if not all(isinstance(value, (int, float, numpy.ndarray)) for value in numbers):
        return None
    with numpy.errstate(all="ignore"):
        exact = getattr(numpy, _EXACT[node.name])(*map(ordinary_asarray, numbers))
    minimum, maximum = float(exact.min()), float(exact.max())
    low, high = limits
    if minimum < low * (1.0 + 1e-12) - 0.5 or maximum > high * (1.0 + 1e-12) + 0.5:
        worst = minimum if minimum < low - 0.5 else maximum
        return "%s gives %.9g, which does not fit %s [%d, %d] and wraps around" % (
            node.name,
            worst,
            name,
            low,
            high,
        )
    return None


def wrap_around(backend, node):
    """A cast to an integer type of values that do not fit it, or such a result of arithmetic."""
    if node.name in _EXACT:
        return _whole_numbers(backend, node)
    if node.name != "cast":
        return None
    if not node.inputs or node.output is None or not backend.is_float(node.inputs[0]):
        return None
    limits = backend.integer_limits(node.output)
    if limits is None or backend.count(node.inputs[0]) == 0:
        return None
    if not backend.finite(node.inputs[0]):
        return "a NaN or Inf is cast to %s" % backend.dtype_name(node.output)
    minimum, maximum, _, _ = backend.statistics(node.inputs[0])
    low, high = limits
    if minimum <= low - 1.0 or maximum >= high + 1.0:
        worst = minimum if minimum <= low - 1.0 else maximum
        return "%.9g does not fit %s [%d, %d] and wraps around" % (
            worst,
            backend.dtype_name(node.output),
            low,
            high,
        )
    return None


def own(backend, node):
    """The oracle that a project wrote for its own function."""
    models = soft_assertions.learned()
    return models.unsafe(backend, node) if models is not None else None


AT_OPERATION = [
    Oracle("nonfinite", nonfinite),
    Oracle("range", out_of_range),
    Oracle("wraparound", wrap_around),
    Oracle("own", own),
]


def finite_when_wider(backend, node):
    """Oracle 6 for a failing node: is the same operation finite in wider floating point?"""
    try:
        wide = backend.call_wider(node)
    except Exception:
        return False
    return wide is not None and backend.finite(wide)


def disagreement(value, reference, dtype_name, factor=1.0):
    """Values against a reference (lists of floats): a text when they differ beyond tolerance.

    Positions of NaN and infinities are compared exactly, then the values.
    """
    known = dtypes.INEXACT.get(dtype_name)
    relative, absolute = (1e-6, 1e-5) if known is None else known.tolerance
    worst = 0.0
    text = None
    for got, wanted in zip(value, reference):
        if math.isfinite(got) != math.isfinite(wanted):
            return "%g where the reference has %g" % (got, wanted)
        if not math.isfinite(got):
            continue
        excess = abs(got - wanted) - factor * (absolute + relative * abs(wanted))
        if excess > 0:
            share = abs(got - wanted) / max(abs(wanted), absolute)
            if share > worst:
                worst = share
                text = "%.9g where the reference has %.9g" % (got, wanted)
    return text


def other_framework(backend, node):
    """The same elementwise function of NumPy on the same operand disagrees."""
    function = operations.in_numpy(node.name)
    if function is None or node.library != "torch" or len(node.operands) != 1 or node.keywords:
        return None
    if (
        not backend.is_float(node.operands[0])
        or node.output is None
        or backend.is_in_place(node.function)
        or backend.dtype_name(node.output) not in ("float32", "float64")
    ):
        return None
    operand = node.operands[0].detach().reshape(-1)[:512].cpu().numpy()
    with numpy.errstate(all="ignore"):
        reference = function(operand)
    got = node.output.detach().reshape(-1)[:512].cpu().numpy()
    text = disagreement(got.tolist(), reference.tolist(), backend.dtype_name(node.output), 8.0)
    return None if text is None else "%s: %s in NumPy" % (node.name, text)


def epsilon_absorbed(backend, node):
    """A small constant added for safety vanishes in rounding: `1 + 1e-10 == 1`, `eps` is 0 in f16."""
    if node.name not in ("add", "sub") or node.output is None or not backend.is_float(node.output):
        return None
    small = [
        value for value in node.operands if isinstance(value, float) and 0.0 < abs(value) <= 1e-4
    ]
    arrays = [value for value in node.operands if backend.is_array(value)]
    if len(small) != 1 or len(arrays) != 1 or not backend.is_float(arrays[0]):
        return None
    if backend.any_equal_nonzero_or_lost(node.output, arrays[0], small[0]):
        return "the constant %g is lost by rounding in %s" % (
            small[0],
            backend.dtype_name(node.output),
        )
    return None
