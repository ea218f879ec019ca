"""Composites with a known stable algorithm: the user's formula against it, on the same operands.

The rules (formulas.py) recognise a formula by the producers of a node's operands and compute the
same quantity in a stable way in double precision; a difference beyond tolerance is the oracle
`stable_algorithm` (another algorithm) or `rewrite` (the same mathematics, rearranged).
"""

import numpy as np

from .formulas import RULES
from .producers import of_node

# An absolute error that matters in a double, beside one that matters in a float32.
_DOUBLE = 2.0**-29


def examine(trace):
    """(oracle, node, detail) for the first composite whose result is wrong, or None."""
    return next(differences(trace), None)


def differences(trace):
    """(oracle, node, detail) for every composite whose result is wrong."""
    for node in trace.nodes:
        if node.output_bad or node.inputs_bad or node.library == "math" or not node.unchanged():
            continue
        for rule in RULES.get(node.name, ()):
            try:
                with np.errstate(all="ignore"):
                    view = of_node(trace, node)
                    formula = rule(node, view)
                    detail = None if formula is None else _differs(view.wide(node.output), formula)
            except (RuntimeError, TypeError, IndexError, AttributeError, ValueError):
                # Operands in a form that the rule does not know.
                continue
            if detail:
                yield formula.oracle, node, "%s: %s" % (formula.text, detail)


def _differs(value, formula):
    reference = formula.reference
    if value.shape != reference.shape or value.size == 0:
        return None
    if not bool(np.isfinite(reference).all()):
        return None
    error = np.abs(value - reference)
    place = int(error.argmax())
    worst, scale = float(error.max()), float(np.abs(reference).max())
    absolute = formula.absolute
    if value.dtype == np.longdouble and formula.relative:
        absolute *= _DOUBLE
    if worst > formula.relative * scale and worst > absolute:
        return "%.9g where a stable computation gives %.9g" % (
            float(value.ravel()[place]),
            float(reference.ravel()[place]),
        )
    return None
