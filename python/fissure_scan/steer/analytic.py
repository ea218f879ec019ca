"""Analytic soft assertions: signed distances from the registry's measured failure regions.

A function of one operand is steered by the intervals of its probe. What depends on several operands,
on a whole row or on the exponent has a rule of its own, chosen by the registry's objective.
"""

import math
import sys

from ..watch import operations
from . import registry

# A program without torch is scanned without importing it; see `distances`.
torch = sys.modules.get("torch")


class Interval:
    """The soft assertion of one failure interval."""

    def __init__(self, start, end, limit):
        self.start = start
        self.end = end
        if end >= limit:
            self.label = "increase"
        elif start <= -limit:
            self.label = "decrease"
        else:
            self.label = "toward zero" if start <= 0.0 <= end else "toward %g" % start

    def direction(self, values):
        """Per element: how far it is outside the interval; zero or negative inside."""
        if self.label == "increase":
            return self.start - values
        if self.label == "decrease":
            return values - self.end
        middle = (self.start + self.end) / 2.0
        return (values - middle).abs() - (self.end - self.start) / 2.0

    def touches_zero(self):
        return self.start <= 0.0 <= self.end + 1e-30


def intervals(name, dtype):
    """The soft assertions of a function of one operand, those of NaN and Inf first."""
    nonfinite, gradient = registry.regions(name, dtype)
    limit = 0.99 * max([abs(bound) for pair in nonfinite for bound in pair] or [math.inf])
    limit = min(limit, {"float16": 6.5e4, "float64": 1.7e308}.get(dtype, 3.3e38))
    found = [Interval(start, end, limit) for start, end in nonfinite]
    # Infinite gradients over a range come with the values beside them; a point needs its own aim.
    found += [Interval(start, end, math.inf) for start, end in gradient if start == end]
    return found


def _dtype(tensor):
    return str(tensor.dtype).replace("torch.", "")


def _limits(tensor):
    return torch.finfo(tensor.dtype)


def _tensor(value):
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def _operand(node, position, keyword=None):
    if len(node.operands) > position:
        return node.operands[position]
    return node.keywords.get(keyword) if keyword else None


def _through(trace, tensor):
    """The node that made a tensor, looking through operations that only move elements."""
    node = trace.producer(tensor)
    steps = 0
    while node is not None and operations.looked_through(node.name) and node.inputs and steps < 8:
        node = trace.producer(node.inputs[0])
        steps += 1
    return node


# Before saturation -------------------------------------------------------------------------------


def _softmax_gap(node):
    logits = node.operands[0]
    dim = node.keywords.get("dim", node.operands[1] if len(node.operands) > 1 else -1)
    if not isinstance(dim, int):
        dim = -1
    return logits, logits.amax(dim=dim, keepdim=True) - logits


def _underflow(tensor):
    """The exponent below which an exponential is exactly zero."""
    return -math.log(_limits(tensor).tiny) + 17


def _exp_limit(tensor):
    return registry.positive_limit("exp", _dtype(tensor), math.log(_limits(tensor).max))


def before_saturation(tensor, trace):
    """Distances of a probability-like tensor to 0, on what it was computed from: a softmax that is
    already exactly 0 has no gradient left."""
    node = _through(trace, tensor)
    if node is None or not node.operands:
        return []
    found = []
    first = node.operands[0]
    if node.name == "softmax" and _tensor(first):
        logits, gap = _softmax_gap(node)
        found.append(("increase the gap of the logits", _gap_limit(logits) - gap))
    elif node.name == "sigmoid" and _tensor(first):
        found.append(("decrease", _exp_limit(first) + first))
    elif node.name == "exp" and _tensor(first):
        found.append(("decrease", _underflow(first) + first))
    elif node.name in ("sub", "add", "mul", "div", "sum", "pow", "square"):
        for value in node.inputs:
            inner = _through(trace, value) if _tensor(value) else None
            if inner is not None and inner.operands and _tensor(inner.operands[0]):
                found.extend(_inner_saturation(inner))
    return found


def _gap_limit(logits):
    return registry.positive_limit("softmax", _dtype(logits), _underflow(logits))


def _inner_saturation(inner):
    """`1 - sigmoid(x)` and the like: also where the digits end."""
    x = inner.operands[0]
    digits = -math.log(_limits(x).eps) + 1.0
    if inner.name == "sigmoid":
        return [("increase", digits - x), ("decrease", _exp_limit(x) + x)]
    if inner.name == "softmax":
        logits, gap = _softmax_gap(inner)
        return [
            ("increase the gap of the logits", digits - gap),
            ("increase the gap further", _gap_limit(logits) - gap),
        ]
    if inner.name == "tanh":
        return [("increase", 10.0 - x.abs())]
    if inner.name == "exp":
        return [("decrease", _underflow(x) + x)]
    return []


# Rules by objective ------------------------------------------------------------------------------


def _interval(node, trace):
    found = []
    for value in node.inputs[:2]:
        if not _tensor(value):
            continue
        assertions = intervals(node.name, _dtype(value))
        if any(assertion.touches_zero() for assertion in assertions):
            found += before_saturation(value, trace)
        found += [(assertion.label, assertion.direction(value)) for assertion in assertions]
    return found


def _ratio(node, trace):
    last = 2 if node.name == "addcdiv" else 1
    numerator, denominator = _operand(node, last - 1), _operand(node, last)
    if not _tensor(denominator):
        return (
            [("increase", _limits(numerator).max - numerator.abs())] if _tensor(numerator) else []
        )
    found = before_saturation(denominator, trace)
    found.append(("toward zero", denominator.abs()))
    if _tensor(numerator) and _tensor(node.output):
        found.append(("grow the quotient", _limits(numerator).max - node.output.abs()))
    return found


def _power(node, trace):
    base, exponent = _operand(node, 0), _operand(node, 1, "exponent")
    if _tensor(base) and isinstance(exponent, (int, float)):
        if exponent > 1:
            return [("away from zero", _limits(base).max ** (1.0 / exponent) - base.abs())]
        if exponent < 0:
            return [("toward zero", base.abs())]
        return [("decrease", base)]
    if _tensor(exponent):
        return [("increase", 1e3 - exponent), ("decrease", 1e3 + exponent)]
    return []


def _result_magnitude(node, trace):
    if _tensor(node.output):
        return [("away from zero", _limits(node.output).max - node.output.abs())]
    return []


def _operand_magnitude(node, trace):
    return [
        ("away from zero", _limits(value).max - value.abs())
        for value in node.inputs[:2]
        if _tensor(value) and value.numel()
    ]


def _spread(node, trace):
    """Variance, standard deviation and norms: failing where everything is equal or zero."""
    return [("toward zero", node.output.abs())] if _tensor(node.output) else []


def _matrix(node, trace):
    matrix = next((value for value in node.inputs if _tensor(value)), None)
    if matrix is None or matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]:
        return []
    return [("toward a singular matrix", torch.linalg.svdvals(matrix)[..., -1])]


def _positive_operands(node, trace):
    return [("decrease", value) for value in node.inputs if _tensor(value)]


def _lengths(node, trace):
    return [("toward zero", value.norm(dim=-1)) for value in node.inputs[:2] if _tensor(value)]


def _cast(node, trace):
    x = node.inputs[0] if node.inputs and _tensor(node.inputs[0]) else None
    if (
        x is None
        or node.output is None
        or node.output.dtype.is_floating_point
        or node.output.dtype == torch.bool
    ):
        return []
    info = torch.iinfo(node.output.dtype)
    return [("increase", float(info.max) + 1.0 - x), ("decrease", x - float(info.min) + 1.0)]


_BY_OBJECTIVE = {
    "interval": _interval,
    "power": _power,
    "ratio": _ratio,
    "origin": _spread,
    "norm": _spread,
    "spread": _spread,
    "magnitude": _result_magnitude,
    "matmul": _result_magnitude,
    "cancellation": _result_magnitude,
    "count": _result_magnitude,
    "gap": _operand_magnitude,
    "mask": _operand_magnitude,
    "conditioning": _matrix,
    "spectrum": _matrix,
    "cast": _cast,
}
# Where the probe of the registry varies one operand and another one fails too.
_BY_NAME = {
    "gaussian_nll_loss": _positive_operands,
    "cosine_similarity": _lengths,
    "normalize": _lengths,
    "det": _matrix,
}


def distances(node, trace):
    """(label, elementwise distance) pairs of a torch node."""
    global torch
    torch = sys.modules["torch"]
    name = registry.canonical(node.name)
    rule = _BY_NAME.get(name) or _BY_OBJECTIVE.get(registry.objective(node.name))
    if rule is None:
        return []
    try:
        return [pair for pair in rule(node, trace) if pair[1] is not None]
    except (TypeError, AttributeError, IndexError, RuntimeError):
        # An operand in a form the rule does not know steers nothing; the oracles still watch.
        return []
