"""Soft assertions of NumPy operations: numbers without gradients, for the direction search.

Positive quantities that fail near zero or beyond the largest number are measured on a logarithmic
scale, so that a slope is left over the whole floating-point range; those that fail by a change of
sign (`log(1 - p)`, `1 / (a - b)`) also keep their sign, so that the zero can be closed in on.
"""

import math

import numpy as np

from ..backends.numpy_backend import ordinary_asarray, plain


def distances(node):
    """(label, distance, no gradients) of the failure regions of a node."""
    rule = _RULES.get(node.name)
    operands = [
        ordinary_asarray(plain(value), dtype=np.float64)
        for value in node.operands
        if isinstance(value, (np.ndarray, np.floating, float, int)) and not isinstance(value, bool)
    ]
    if rule is None or not operands or any(value.size == 0 for value in operands):
        return []
    try:
        found = rule(node, operands)
    except (TypeError, ValueError, AttributeError, np.linalg.LinAlgError):
        # An operand in a form the rule does not know steers nothing; the oracles still watch.
        return []
    return [(label, float(value), {}) for label, value in found if math.isfinite(value)]


def _largest(node):
    dtype = getattr(node.output, "dtype", None)
    if dtype is None or dtype.kind != "f":
        return float(np.finfo(np.float64).max)
    return float(np.finfo(dtype).max)


def _smallness(values):
    """How many powers of e the smallest magnitude is above the end of the doubles."""
    smallest = float(np.abs(values).min())
    return math.log(smallest) + 745.0 if smallest > 0.0 else 0.0


def _toward_zero(values):
    """Nearer to zero, and through it: a distance at or below 0 is on the other side already."""
    low, high = float(values.min()), float(values.max())
    found = [("toward zero", _smallness(values)), ("decrease", low), ("increase", -high)]
    if low < 0.0 < high:
        first = float(values.ravel()[0])
        found += [("decrease the first element", first), ("increase the first element", -first)]
    return found


def _overflow(node, label="away from zero"):
    size = float(np.abs(ordinary_asarray(plain(node.output), dtype=np.float64)).max())
    return [(label, math.log(_largest(node)) - math.log(size))] if size > 0.0 else []


def _exp(node, operands):
    base = 2.0 if node.name == "exp2" else math.e
    limit = math.log(_largest(node)) / math.log(base)
    if node.name in ("cosh", "sinh"):
        return [("away from zero", limit + math.log(2) - np.abs(operands[0]).max())]
    return [("increase", limit - operands[0].max())]


def _log(node, operands):
    return [("decrease", operands[0].min())] + _toward_zero(operands[0])[:1]


def _log1p(node, operands):
    return [("decrease", operands[0].min() + 1.0)]


def _sqrt(node, operands):
    return [("decrease", operands[0].min())]


def _div(node, operands):
    return _toward_zero(operands[-1]) + _overflow(node, "grow the quotient")


def _reciprocal(node, operands):
    return _toward_zero(operands[0])


def _pow(node, operands):
    exponent = operands[1] if len(operands) > 1 else ordinary_asarray(2.0)
    found = _overflow(node)
    if float(exponent.min()) < 0.0:
        found += _toward_zero(operands[0])
    if not bool((exponent == np.round(exponent)).all()):
        found.append(("decrease", operands[0].min()))
    return found


def _unit(node, operands):
    return [("away from zero", 1.0 - np.abs(operands[0]).max())]


def _acosh(node, operands):
    return [("decrease", operands[0].min() - 1.0)]


def _product(node, operands):
    return _overflow(node)


def _spread(node, operands):
    return [("toward zero", _smallness(ordinary_asarray(plain(node.output), dtype=np.float64)))]


def _matrix(node, operands):
    values = np.linalg.svd(operands[0], compute_uv=False)
    smallest, largest = float(values[..., -1].min()), float(values.max())
    if smallest <= 0.0 or largest <= 0.0:
        return []
    return [("toward a singular matrix", math.log(smallest / largest) + 745.0)]


def _cast(node, operands):
    dtype = node.output.dtype
    if dtype.kind not in "iu":
        return []
    info = np.iinfo(dtype)
    return [
        ("increase", float(info.max) + 1.0 - operands[0].max()),
        ("decrease", operands[0].min() - float(info.min) + 1.0),
    ]


_RULES = {
    "exp": _exp,
    "exp2": _exp,
    "expm1": _exp,
    "cosh": _exp,
    "sinh": _exp,
    "log": _log,
    "log2": _log,
    "log10": _log,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "div": _div,
    "remainder": _div,
    "fmod": _div,
    "floor_divide": _div,
    "reciprocal": _reciprocal,
    "pow": _pow,
    "square": _pow,
    "acos": _unit,
    "asin": _unit,
    "atanh": _unit,
    "acosh": _acosh,
    "matmul": _product,
    "prod": _product,
    "cumprod": _product,
    "einsum": _product,
    "var": _spread,
    "std": _spread,
    "norm": _spread,
    "solve": _matrix,
    "inverse": _matrix,
    "det": _matrix,
    "cholesky": _matrix,
    "pinverse": _matrix,
    "lstsq": _matrix,
    "slogdet": _matrix,
    "cast": _cast,
}
