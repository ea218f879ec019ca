"""Composites with a known stable algorithm: the user's formula against it, on the same operands.

The rules (formulas.py) recognise a formula by the producers of a node's operands and compute the
same quantity in a stable way in double precision; a difference beyond tolerance is the oracle
`stable_algorithm` (another algorithm) or `rewrite` (the same mathematics, rearranged).
"""

import torch

from .formulas import RULES


def examine(trace):
    """(oracle, node, detail) for the first composite whose result is wrong, or None."""
    return next(differences(trace), None)


def differences(trace):
    """(oracle, node, detail) for every composite whose result is wrong."""
    for node in trace.nodes:
        if node.output_bad or node.inputs_bad or node.library != "torch" or not node.unchanged():
            continue
        for rule in RULES.get(node.name, ()):
            try:
                formula = rule(node, trace)
                detail = None if formula is None else _differs(node.output.detach(), formula)
            except (RuntimeError, TypeError, IndexError, AttributeError, ValueError):
                # Operands in a form that the rule does not know.
                continue
            if detail:
                yield formula.oracle, node, "%s: %s" % (formula.text, detail)


def _differs(value, formula):
    reference = formula.reference
    if tuple(value.shape) != tuple(reference.shape) or value.numel() == 0:
        return None
    wide, right = value.double(), reference.double()
    if not bool(torch.isfinite(right).all()):
        return None
    error = (wide - right).abs()
    place = int(error.argmax())
    worst, scale = float(error.max()), float(right.abs().max())
    if worst > formula.relative * scale and worst > formula.absolute:
        return "%.9g where a stable computation gives %.9g" % (
            float(wide.flatten()[place]), float(right.flatten()[place]))
    return None
