"""Oracles that compare with a better computation: cancellation, wider floats, stable algorithms,
and the same region in lower precision."""

import sys

from . import candidates
from .findings import Found
from .monitor import Policy
from .trace import Failure

# A result is called wrong when it is off by this share of its size, after an operation that made
# an error at least this much larger than that of its operands.
WRONG = 0.05
JUMP = 1e3
ACCURATE = 1e-5


def examine(search, level):
    if "torch" not in sys.modules:
        return
    import torch
    points = [("the program's own data", {})]
    if level >= 2:
        points += list(candidates.offsets(search.inputs))[:8]
    for label, overrides in points:
        if search.budget.over():
            return
        trace, shadow = shadowed(search, overrides, torch.float64)
        if trace.failures or trace.error is not None:
            continue
        blamed = cancellation(trace, shadow)
        if blamed is None or blamed[0].site.key() in search.found:
            continue
        node, wrong, error = blamed
        detail = "%s loses digits: %s at line %d is off by %.2g of its value against float64" % (
            node.name, wrong.name, wrong.site.line, error)
        failure = Failure("cancellation", node, detail, node.arguments, node.keywords,
                          node.output.detach().clone())
        found = Found(failure, overrides, 0 if not overrides else 2, label, search)
        if found.severity != "theoretical":
            search.found[node.site.key()] = found


def shadowed(search, overrides, dtype):
    from .shadow import Shadow
    shadow = Shadow(dtype)
    search.runs += 1
    trace = search.program.run(Policy(overrides=overrides, shadow=shadow,
                                      stop_after=2 * search.horizon, backward_limit=1,
                                      time_limit=search.time_limit * 2))
    return trace, shadow


def cancellation(trace, shadow):
    """(node that lost the digits, wrong result, its error): only when a result that the program
    keeps or takes out is wrong."""
    errors = dict((id(node), error) for node, _, error in shadow.errors)
    wrong = None
    for node in trace.nodes:
        error = errors.get(id(node), 0.0)
        if error > WRONG and (not node.consumed or node.name in _AMPLIFIERS):
            wrong = node
            break
    if wrong is None:
        return None
    for node, inputs, error in shadow.errors:
        if node.index <= wrong.index and error > WRONG / 10 and inputs < ACCURATE \
                and error > JUMP * max(inputs, 1e-9) and node.name in _LOSERS:
            return node, wrong, errors[id(wrong)]
    return None


_LOSERS = {"sub", "add", "sum", "mean", "cumsum", "log", "matmul", "var", "std"}
_AMPLIFIERS = {"sqrt", "log", "div", "rsqrt", "reciprocal"}
