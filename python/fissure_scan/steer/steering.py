"""Distances of operations to failure, and their slopes at the operands that decide.

The rules and the measures are the same for every library (rules.py, measures.py). A library that
differentiates gets the slope at the operands and carries it to the inputs by its own derivatives; for
one that does not, the numbers are on scales that the search by runs can follow (descent.py).
"""

import math

import numpy as np

from . import registry, soft_assertions
from .rules import Rules

# What operands in a form that a rule does not know raise: they steer nothing, the oracles still watch.
_UNKNOWN_FORMS = (
    TypeError,
    AttributeError,
    IndexError,
    RuntimeError,
    ValueError,
    np.linalg.LinAlgError,
)


def distances(backend, node, trace):
    """(label, distance, [(value, slope at it)]) of each way to make an operation fail."""
    rules = Rules(backend, node, trace)
    learned = soft_assertions.learned()
    try:
        with np.errstate(all="ignore"):
            aims = learned.aims(rules) if learned is not None else None
            found = []
            for aim in rules.aims() if aims is None else aims:
                nearest = aim.measure.nearest(rules.numbers(aim.value))
                if nearest is not None:
                    found.append((aim.label, nearest[0], [(aim.value, nearest[1])]))
            return found
    except _UNKNOWN_FORMS:
        return []


def scaled_distances(backend, node, trace):
    """(label, distance, no gradients) of each way to make an operation fail."""
    rules = Rules(backend, node, trace)
    try:
        with np.errstate(all="ignore"):
            pairs = [
                pair
                for aim in rules.aims()
                for pair in aim.measure.scaled(aim.label, rules.numbers(aim.value))
            ]
    except _UNKNOWN_FORMS:
        return []
    return [(label, distance, {}) for label, distance in pairs if math.isfinite(distance)]


def slope_may_fail(backend, node):
    """Can the derivative of an operation be infinite at the operands that it had?"""
    objective = registry.objective(node.name)
    if objective is None or not backend.is_float(node.output):
        return False
    if objective in ("norm", "lengths", "spread", "power", "origin", "ratio"):
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
