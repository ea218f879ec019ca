"""Soft assertions of JAX and TensorFlow operations: the distance to failure of the nearest element,
and its slope at the operands that decide it.

The same rules as analytic.py, from the same failure regions; the slopes at the operands are written
out (they are ±1 nearly everywhere), and the tape carries them from there to the inputs.
"""

import math

import numpy as np

from ..watch import operations
from . import learned_arrays, registry, soft_assertions
from .analytic import intervals

_LIMITS = {
    "float16": (65504.0, 6.1e-5, 2.0**-10),
    "bfloat16": (3.38e38, 1.2e-38, 2.0**-7),
    "float32": (3.4028234663852886e38, 1.1754943508222875e-38, 2.0**-23),
    "float64": (1.7976931348623157e308, 2.2250738585072014e-308, 2.0**-52),
}


class _Rules:
    """The rules on one node: answers are (label, distance, [(value, slope at it)])."""

    def __init__(self, backend, node, trace):
        self.backend = backend
        self.node = node
        self.trace = trace

    # Looking at values -------------------------------------------------------------------------

    def float(self, value):
        return self.backend.is_float(value) and self.backend.count(value) > 0

    def numbers(self, value):
        return self.backend.numbers(value).astype(np.float64)

    def limits(self, value):
        return _LIMITS.get(self.backend.dtype_name(value), _LIMITS["float32"])

    def operand(self, position, keyword=None):
        operands = self.node.operands
        if len(operands) > position:
            return operands[position]
        return self.node.keywords.get(keyword) if keyword else None

    def at_nearest(self, label, value, distances, slopes):
        """The answer for the element of `value` whose distance is the smallest."""
        distances = np.where(np.isfinite(distances), distances, np.inf)
        place = np.unravel_index(int(np.argmin(distances)), distances.shape)
        if not math.isfinite(distances[place]):
            return []
        seed = np.zeros(distances.shape)
        seed[place] = np.broadcast_to(slopes, distances.shape)[place]
        return [(label, float(distances[place]), [(value, seed)])]

    # Before saturation -------------------------------------------------------------------------

    def through(self, value):
        """The node that made a value, looking through operations that only move elements."""
        node = self.trace.producer(value)
        for _ in range(8):
            if node is None or not operations.looked_through(node.name) or not node.inputs:
                break
            node = self.trace.producer(node.inputs[0])
        return node

    def gap(self, node, limit, label):
        """The gap of a softmax's logits, as far as the limit."""
        logits = node.operands[0]
        axis = node.keywords.get("axis", node.operands[1] if len(node.operands) > 1 else -1)
        numbers = self.numbers(logits)
        axis = axis if isinstance(axis, int) and numbers.ndim else -1
        if numbers.ndim == 0:
            return []
        distances = limit - (numbers.max(axis=axis, keepdims=True) - numbers)
        place = np.unravel_index(int(np.argmin(distances)), distances.shape)
        seed = np.zeros(numbers.shape)
        top = list(place)
        axis = axis % numbers.ndim
        line = numbers[
            tuple(
                slice(None) if position == axis else index for position, index in enumerate(place)
            )
        ]
        top[axis] = int(np.argmax(line))
        seed[place] += 1.0
        seed[tuple(top)] -= 1.0
        return [(label, float(distances[place]), [(logits, seed)])]

    def underflow(self, value):
        """The exponent below which an exponential is exactly zero."""
        return -math.log(self.limits(value)[1]) + 17

    def exp_limit(self, value):
        return registry.positive_limit(
            "exp", self.backend.dtype_name(value), math.log(self.limits(value)[0])
        )

    def gap_limit(self, value):
        return registry.positive_limit(
            "softmax", self.backend.dtype_name(value), self.underflow(value)
        )

    def before_saturation(self, value):
        """Distances of a probability-like value to 0, on what it was computed from."""
        node = self.through(value)
        if node is None or not node.operands:
            return []
        first = node.operands[0]
        if node.name in ("softmax", "sigmoid", "exp") and self.float(first):
            numbers = self.numbers(first)
            if node.name == "softmax":
                return self.gap(node, self.gap_limit(first), "increase the gap of the logits")
            limit = self.exp_limit(first) if node.name == "sigmoid" else self.underflow(first)
            return self.at_nearest("decrease", first, limit + numbers, 1.0)
        found = []
        if node.name in ("sub", "add", "mul", "div", "sum", "pow", "square"):
            for operand in node.inputs:
                inner = self.through(operand) if self.float(operand) else None
                if inner is not None and inner.operands and self.float(inner.operands[0]):
                    found += self.inner_saturation(inner)
        return found

    def inner_saturation(self, inner):
        """`1 - sigmoid(x)` and the like: also where the digits end."""
        value = inner.operands[0]
        digits = -math.log(self.limits(value)[2]) + 1.0
        numbers = self.numbers(value)
        if inner.name == "sigmoid":
            return self.at_nearest("increase", value, digits - numbers, -1.0) + self.at_nearest(
                "decrease", value, self.exp_limit(value) + numbers, 1.0
            )
        if inner.name == "softmax":
            return self.gap(inner, digits, "increase the gap of the logits") + self.gap(
                inner, self.gap_limit(value), "increase the gap further"
            )
        if inner.name == "tanh":
            return self.at_nearest("increase", value, 10.0 - np.abs(numbers), -_sign(numbers))
        if inner.name == "exp":
            return self.at_nearest("decrease", value, self.underflow(value) + numbers, 1.0)
        return []

    # Rules by objective ------------------------------------------------------------------------

    def interval(self):
        found = []
        for value in self.node.inputs[:2]:
            if not self.float(value):
                continue
            assertions = intervals(self.node.name, self.backend.dtype_name(value))
            if any(assertion.touches_zero() for assertion in assertions):
                found += self.before_saturation(value)
            numbers = self.numbers(value)
            for assertion in assertions:
                found += self.toward(assertion, value, numbers)
        return found

    def toward(self, assertion, value, numbers):
        """The way into one failure region."""
        slope = {"increase": -1.0, "decrease": 1.0}.get(assertion.label)
        if slope is None:
            slope = _sign(numbers - (assertion.start + assertion.end) / 2.0)
        return self.at_nearest(assertion.label, value, _apart(assertion, numbers), slope)

    def ratio(self):
        numerator, denominator = self.operand(0), self.operand(1)
        if not self.float(denominator):
            return self.magnitude_of(numerator) if self.float(numerator) else []
        found = self.before_saturation(denominator)
        numbers = self.numbers(denominator)
        found += self.at_nearest("toward zero", denominator, np.abs(numbers), _sign(numbers))
        if self.float(numerator):
            found += self.result_magnitude("grow the quotient")
        return found

    def power(self):
        base, exponent = self.operand(0), self.operand(1)
        if self.float(base) and isinstance(exponent, (int, float)):
            numbers = self.numbers(base)
            if exponent > 1:
                limit = self.limits(base)[0] ** (1.0 / exponent)
                return self.at_nearest(
                    "away from zero", base, limit - np.abs(numbers), -_sign(numbers)
                )
            if exponent < 0:
                return self.at_nearest("toward zero", base, np.abs(numbers), _sign(numbers))
            return self.at_nearest("decrease", base, numbers, 1.0)
        if self.float(exponent):
            numbers = self.numbers(exponent)
            return self.at_nearest("increase", exponent, 1e3 - numbers, -1.0) + self.at_nearest(
                "decrease", exponent, 1e3 + numbers, 1.0
            )
        return []

    def magnitude_of(self, value, label="away from zero"):
        numbers = self.numbers(value)
        return self.at_nearest(
            label, value, self.limits(value)[0] - np.abs(numbers), -_sign(numbers)
        )

    def result_magnitude(self, label="away from zero"):
        return self.magnitude_of(self.node.output, label) if self.float(self.node.output) else []

    def operand_magnitude(self):
        return [
            answer
            for value in self.node.inputs[:2]
            if self.float(value)
            for answer in self.magnitude_of(value)
        ]

    def spread(self):
        """Variance, standard deviation and norms: failing where everything is equal or zero."""
        if not self.float(self.node.output):
            return []
        numbers = self.numbers(self.node.output)
        return self.at_nearest("toward zero", self.node.output, np.abs(numbers), _sign(numbers))

    def matrix(self):
        value = next((value for value in self.node.inputs if self.float(value)), None)
        if value is None or len(value.shape) != 2 or value.shape[0] != value.shape[1]:
            return []
        left, values, right = np.linalg.svd(self.numbers(value))
        return [
            (
                "toward a singular matrix",
                float(values[-1]),
                [(value, np.outer(left[:, -1], right[-1]))],
            )
        ]

    def lengths(self):
        found = []
        for value in self.node.inputs[:2]:
            if self.float(value):
                numbers = self.numbers(value)
                lengths = np.sqrt((numbers * numbers).sum(axis=-1, keepdims=True))
                place = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
                seed = np.where(lengths == lengths[place], numbers, 0.0)
                found.append(("toward zero", float(lengths[place]), [(value, seed)]))
        return found

    def cast(self):
        limits = (
            self.backend.integer_limits(self.node.output) if self.node.output is not None else None
        )
        value = self.node.inputs[0] if self.node.inputs else None
        if limits is None or not self.float(value):
            return []
        numbers = self.numbers(value)
        return self.at_nearest(
            "increase", value, limits[1] + 1.0 - numbers, -1.0
        ) + self.at_nearest("decrease", value, numbers - limits[0] + 1.0, 1.0)


_BY_OBJECTIVE = {
    "interval": _Rules.interval,
    "power": _Rules.power,
    "ratio": _Rules.ratio,
    "origin": _Rules.spread,
    "norm": _Rules.spread,
    "spread": _Rules.spread,
    "magnitude": _Rules.result_magnitude,
    "matmul": _Rules.result_magnitude,
    "cancellation": _Rules.result_magnitude,
    "count": _Rules.result_magnitude,
    "gap": _Rules.operand_magnitude,
    "mask": _Rules.operand_magnitude,
    "conditioning": _Rules.matrix,
    "spectrum": _Rules.matrix,
    "cast": _Rules.cast,
}
_BY_NAME = {"cosine_similarity": _Rules.lengths, "normalize": _Rules.lengths, "det": _Rules.matrix}


def distances(backend, node, trace):
    """(label, distance, seeds of its slope) triples of a node."""
    rules = _Rules(backend, node, trace)
    if soft_assertions.learned() is not None:
        with np.errstate(all="ignore"):
            found = learned_arrays.distances(soft_assertions.learned(), rules)
        if found is not None:
            return found
    rule = _BY_NAME.get(registry.canonical(node.name)) or _BY_OBJECTIVE.get(
        registry.objective(node.name)
    )
    if rule is None:
        return []
    try:
        with np.errstate(all="ignore"):
            return rule(rules)
    except (TypeError, AttributeError, IndexError, ValueError, np.linalg.LinAlgError):
        # An operand in a form the rule does not know steers nothing; the oracles still watch.
        return []


def slope_may_fail(backend, node):
    """Can the derivative of an operation be infinite at the operands that it had?"""
    objective = registry.objective(node.name)
    if objective is None or not backend.is_float(node.output):
        return False
    if objective in ("norm", "spread", "power", "origin", "ratio"):
        return any(
            bool((backend.numbers(value) == 0.0).any())
            for value in node.inputs + [node.output]
            if backend.is_float(value)
        )
    for value in node.inputs[:2]:
        if not backend.is_float(value):
            continue
        numbers = backend.numbers(value)
        for start, end in registry.regions(node.name, backend.dtype_name(value))[1]:
            if bool(((numbers >= start) & (numbers <= end)).any()):
                return True
    return False


def _apart(assertion, numbers):
    if assertion.label == "increase":
        return assertion.start - numbers
    if assertion.label == "decrease":
        return numbers - assertion.end
    middle = (assertion.start + assertion.end) / 2.0
    return np.abs(numbers - middle) - (assertion.end - assertion.start) / 2.0


def _sign(numbers):
    return np.where(numbers >= 0.0, 1.0, -1.0)
