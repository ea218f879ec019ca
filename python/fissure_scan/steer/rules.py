"""Soft assertions of operations, once for all libraries: what to measure, on which values of the call.

A function of one operand is steered by the intervals of its probe. What depends on several operands, on
a whole row or on the exponent has a rule of its own, chosen by the objective that the table of functions
names. Distances are taken *before* saturation: for `log(softmax(z))` they speak of the logits `z`.
"""

import math

import numpy as np

from ..watch import operations
from . import registry
from .measures import Above, Around, Below, Gap, Length, Nowhere, Singular, Vanishing, Within
from .regions import regions


class Aim:
    """One way to make an operation fail."""

    def __init__(self, label, value, measure):
        self.label = label
        self.value = value
        self.measure = measure


class Rules:
    """The rules on one operation; each answers with aims."""

    def __init__(self, backend, node, trace):
        self.backend = backend
        self.node = node
        self.trace = trace
        # Without gradients numbers that are no arrays can be moved too.
        self.inputs = (
            node.inputs
            if backend.has_gradients
            else [value for value in node.operands if self.steerable(value)]
        )

    def aims(self):
        rule = _BY_OBJECTIVE.get(registry.objective(self.node.name))
        return rule(self) if rule is not None else []

    # Looking at values -------------------------------------------------------------------------

    def steerable(self, value):
        return self.backend.steerable(value) and self.backend.count(value) > 0

    def numbers(self, value):
        return self.backend.numbers(value).astype(np.float64)

    def dtype(self, value):
        """The precision that decides: of the value, or of what is computed from integers."""
        if not self.backend.is_float(value) and self.backend.is_float(self.node.output):
            value = self.node.output
        return self.backend.dtype_name(value)

    def largest(self, value):
        if not self.backend.is_float(value) and self.backend.is_float(self.node.output):
            value = self.node.output
        return self.backend.largest(value)

    def operand(self, position, keyword=None):
        operands = self.node.operands
        if len(operands) > position:
            return operands[position]
        return self.node.keywords.get(keyword) if keyword else None

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
        said = node.keywords.get("dim", node.keywords.get("axis"))
        axis = said if said is not None else node.operands[1] if len(node.operands) > 1 else -1
        return Aim(label, node.operands[0], Gap(axis if isinstance(axis, int) else -1, limit))

    def underflow(self, value):
        """The exponent below which an exponential is exactly zero."""
        return -math.log(self.backend.smallest_normal(value)) + 17

    def exp_limit(self, value):
        return registry.positive_limit("exp", self.dtype(value), math.log(self.largest(value)))

    def gap_limit(self, value):
        return registry.positive_limit("softmax", self.dtype(value), self.underflow(value))

    def before_saturation(self, value):
        """Aims at a probability-like value of 0, on what it was computed from: a softmax that is
        already exactly 0 has no slope left."""
        node = self.through(value) if self.backend.has_gradients else None
        if node is None or not node.operands:
            return []
        first = node.operands[0]
        if not self.steerable(first):
            return self.inner(node)
        if node.name == "softmax":
            return [self.gap(node, self.gap_limit(first), "increase the gap of the logits")]
        if node.name == "sigmoid":
            return [Aim("decrease", first, Above(-self.exp_limit(first)))]
        if node.name == "exp":
            return [Aim("decrease", first, Above(-self.underflow(first)))]
        return self.inner(node)

    def inner(self, node):
        """`1 - sigmoid(x)` and the like: the saturated values behind simple arithmetic."""
        found = []
        if operations.has(node.name, "arithmetic") or node.name == "sum":
            for value in node.inputs:
                inner = self.through(value) if self.steerable(value) else None
                if inner is not None and inner.operands and self.steerable(inner.operands[0]):
                    found += self.inner_saturation(inner)
        return found

    def inner_saturation(self, inner):
        """Also where the digits end."""
        value = inner.operands[0]
        digits = -math.log(self.backend.epsilon(value)) + 1.0
        if inner.name == "sigmoid":
            return [
                Aim("increase", value, Below(digits)),
                Aim("decrease", value, Above(-self.exp_limit(value))),
            ]
        if inner.name == "softmax":
            return [
                self.gap(inner, digits, "increase the gap of the logits"),
                self.gap(inner, self.gap_limit(value), "increase the gap further"),
            ]
        if inner.name == "tanh":
            return [Aim("increase", value, Within(10.0))]
        if inner.name == "exp":
            return [Aim("decrease", value, Above(-self.underflow(value)))]
        return []

    # Choices that come to nothing ----------------------------------------------------------------

    def emptied(self, value, steps=5):
        """Aims at a count of 0: a sum of conditions, or the elements that a condition picks, where it holds
        for none. The comparison has no slope, what it compares has one."""
        node = self.trace.producer(value) if value is not None else None
        if node is None or not steps:
            return []
        above, below = (operations.has(node.name, word) for word in ("above", "below"))
        if (above or below) and len(node.operands) == 2:
            return self.nowhere(node.operands, 1.0 if above else -1.0)
        followed = node.inputs
        if operations.has(node.name, "selects") or self.is_condition(node.output):
            followed = [value for value in node.inputs if self.is_condition(value)]
            if node.name != "getitem" and len(node.inputs) == 1 and followed:
                # Turned round: what it stands for is the other choice.
                return []
        elif not (
            operations.moved(node.name)
            or operations.has(node.name, "arithmetic")
            or node.name == "sum"
        ):
            return []
        return [aim for value in followed[:2] for aim in self.emptied(value, steps - 1)]

    def is_condition(self, value):
        return self.backend.is_array(value) and self.backend.dtype_name(value) == "bool"

    def nowhere(self, operands, sign):
        for value, bound, way in (
            (operands[0], operands[1], sign),
            (operands[1], operands[0], -sign),
        ):
            if self.backend.is_array(value) and self.steerable(value):
                held = self.numbers(bound) if self.backend.is_array(bound) else float(bound)
                return [Aim("make the condition hold nowhere", value, Nowhere(held, way))]
        return []

    # Rules by objective ------------------------------------------------------------------------

    def interval(self):
        found = []
        for value in self.inputs[:2]:
            if not self.steerable(value):
                continue
            failing = regions(self.node.name, self.dtype(value), self.backend.has_gradients)
            if any(region.touches_zero() for region in failing):
                found += self.before_saturation(value)
            found += [Aim(region.label, value, region.measure) for region in failing]
        return found

    def ratio(self):
        # `addcdiv` adds the quotient of its second and third operand to the first.
        last = 2 if self.steerable(self.operand(2)) else 1
        numerator, denominator = self.operand(last - 1), self.operand(last)
        if not self.steerable(denominator):
            return [self.magnitude(numerator)] if self.steerable(numerator) else []
        found = self.before_saturation(denominator) + self.emptied(denominator)
        found.append(Aim("toward zero", denominator, Around(0.0)))
        if self.steerable(numerator) or not self.backend.has_gradients:
            found += self.result_magnitude("grow the quotient")
        return found

    def power(self):
        base, exponent = self.operand(0), self.operand(1, "exponent")
        if self.steerable(base) and isinstance(exponent, (int, float)):
            return self.power_of(base, exponent)
        if not self.steerable(exponent):
            return []
        found = [
            Aim("increase", exponent, Below(1e3)),
            Aim("decrease", exponent, Above(-1e3)),
        ]
        if not self.backend.has_gradients:
            found += self.result_magnitude()
        return found

    def power_of(self, base, exponent):
        if exponent > 1:
            return [Aim("away from zero", base, Within(self.largest(base) ** (1.0 / exponent)))]
        if exponent < 0:
            return [Aim("toward zero", base, Around(0.0))]
        return [Aim("decrease", base, Above(0.0))]

    def magnitude(self, value, label="away from zero"):
        return Aim(label, value, Within(self.largest(value)))

    def result_magnitude(self, label="away from zero"):
        output = self.node.output
        return [self.magnitude(output, label)] if self.steerable(output) else []

    def operand_magnitude(self):
        return [self.magnitude(value) for value in self.inputs[:2] if self.steerable(value)]

    def spread(self):
        """Variance, standard deviation and norms: failing where everything is equal or zero."""
        output = self.node.output
        found = self.emptied(self.operand(0))
        if self.steerable(output):
            found.append(Aim("toward zero", output, Vanishing()))
        return found

    def lengths(self):
        """Quotients by the lengths of rows."""
        return [
            Aim("toward zero", value, Length())
            for value in self.inputs[:2]
            if self.steerable(value) and len(value.shape) > 0
        ]

    def positive(self):
        """Operands that have to be above zero."""
        return [
            Aim("decrease", value, Above(0.0)) for value in self.inputs if self.steerable(value)
        ]

    def matrix(self):
        value = next((value for value in self.inputs if self.steerable(value)), None)
        if value is None or len(value.shape) < 2:
            return []
        return [Aim("toward a singular matrix", value, Singular())]

    def cast(self):
        output = self.node.output
        limits = self.backend.integer_limits(output) if output is not None else None
        value = self.inputs[0] if self.inputs else None
        if limits is None or not self.steerable(value):
            return []
        return [
            Aim("increase", value, Below(limits[1] + 1.0)),
            Aim("decrease", value, Above(limits[0] - 1.0)),
        ]


_BY_OBJECTIVE = {
    "interval": Rules.interval,
    "power": Rules.power,
    "ratio": Rules.ratio,
    "origin": Rules.spread,
    "norm": Rules.spread,
    "spread": Rules.spread,
    "lengths": Rules.lengths,
    "positive": Rules.positive,
    "magnitude": Rules.result_magnitude,
    "matmul": Rules.result_magnitude,
    "cancellation": Rules.result_magnitude,
    "count": Rules.result_magnitude,
    "gap": Rules.operand_magnitude,
    "mask": Rules.operand_magnitude,
    "conditioning": Rules.matrix,
    "spectrum": Rules.matrix,
    "cast": Rules.cast,
}
