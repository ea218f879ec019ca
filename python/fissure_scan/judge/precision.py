"""Oracles that compare with a better computation: cancellation, wider floats, stable algorithms."""

import sys

from . import consequence, low_precision, oracles, points
from ..search import candidates
from ..steer import registry
from ..watch import operations
from ..watch.monitor_tools import flatten

# A result is called wrong when it is off by this share of its size, after an operation that made
# an error at least this much larger than that of its operands, and by more than the tolerance of
# ordinary comparisons.
WRONG = 0.05
JUMP = 1e3
ACCURATE = 1e-5
ABSOLUTE = 1e-5


def examine(runner, space, collected, level):
    if "torch" not in sys.modules:
        return
    import torch
    from ..backends.torch_backend import TorchBackend
    from .shadow import Shadow

    backend = TorchBackend()
    looked_at = [("the program's own data", {})]
    if level >= 1:
        looked_at += list(candidates.delicate(space.inputs))
    if level >= 2:
        looked_at += list(candidates.offsets(space.inputs))[:12]
    points.examine(
        runner,
        space,
        collected,
        looked_at,
        lambda: Shadow(torch.float64),
        # Those of NumPy are numpy_precision's.
        lambda trace, shadow: (
            judgement
            for judgement in judgements(backend, trace, shadow)
            if judgement[1].library == "torch"
        ),
    )
    low_precision.examine(runner, space, collected, torch)


def judgements(backend, trace, shadow):
    for node in trace.nodes[:500]:
        if (
            node.library == "torch"
            and not node.inputs_bad
            and node.unchanged()
            and node.operands_unchanged()
            and registry.oracle_applies(node.name, "other_framework")
        ):
            detail = oracles.other_framework(backend, node)
            if detail:
                yield "other_framework", node, detail
                break
    from . import patterns

    pattern = patterns.examine(trace)
    if pattern is not None:
        yield pattern
    blamed = cancellation(trace, shadow) if shadow is not None else None
    if blamed is not None:
        node, wrong, error = blamed
        yield (
            oracle_of(node),
            node,
            "%s loses digits: %s at line %d is off by %.2g of its value against float64"
            % (node.name, wrong.name, wrong.site.line, error),
        )


def oracle_of(node):
    """The oracle that a loss of digits in this operation belongs to."""
    return "wider_float" if operations.has(node.name, "conditioned") else "cancellation"


def _returns_right(trace, errors):
    """Is what a target function gives back right? Then digits were lost in what it only decides by (an
    error estimate, a test of convergence)."""
    made = [
        trace.producer(value)
        for value in flatten(
            trace.result if isinstance(trace.result, tuple) else (trace.result,), []
        )
    ]
    known = [node for node in made if node is not None and id(node) in errors]
    return (
        trace.stopped is None
        and bool(known)
        and len(known) == len(made)
        and all(errors[id(node)] <= consequence.HARMLESS for node in known)
    )


def cancellation(trace, shadow, accurate=ACCURATE):
    """(node that lost the digits, wrong result, its error): only when a result that the program
    keeps or takes out is wrong."""
    errors = dict((id(node), error) for node, _, error, _ in shadow.errors)
    sizes = dict((id(node), size) for node, _, _, size in shadow.errors)
    wrong = None
    for node in trace.nodes:
        error = errors.get(id(node), 0.0)
        if (
            error > WRONG
            and error * sizes[id(node)] > ABSOLUTE
            and (not node.consumed or node.taken or operations.has(node.name, "amplifies"))
        ):
            wrong = node
            break
    if wrong is None or consequence.recovers(trace, wrong, errors) or _returns_right(trace, errors):
        return None
    for node, inputs, error, _ in shadow.errors:
        if (
            node.index <= wrong.index
            and error > WRONG / 10
            and inputs < accurate
            and error > JUMP * max(inputs, 1e-9)
            and operations.has(node.name, "loses digits")
        ):
            return node, wrong, errors[id(wrong)]
    return None
