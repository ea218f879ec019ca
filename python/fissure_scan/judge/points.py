"""Runs beside wider computations on inputs worth a look, and what lost its digits there."""

from ..backends import library as backends
from ..report.findings import Found
from ..watch.monitor import Policy
from ..watch.trace import Failure
from . import conditioning, consequence

# Oracles of digits that are lost on the way.
_DIGITS = ("cancellation", "wider_float")
# Those of formulas that have a better form.
_FORMULAS = ("rewrite", "stable_algorithm")


def examine(runner, space, collected, points, shadow_of, judgements):
    """`points` are (label, overrides); `shadow_of()` makes what computes beside a run and
    `judgements(trace, shadow)` gives (oracle, operation, detail)."""

    def again(overrides):
        shadow = shadow_of()
        return shadowed(runner, overrides, shadow), shadow

    for label, overrides in points:
        if runner.over():
            return
        trace, shadow = again(overrides)
        if trace.failures or trace.error is not None:
            continue
        # Data this small is inside the range but hardly meant: only formulas with a known stable
        # form are judged on it.
        small = "times 1e-" in label
        for oracle, node, detail in judgements(trace, None if small else shadow):
            held = collected.get(node.site.key())
            if held is not None and (
                held.oracle not in _DIGITS + _FORMULAS or held.severity != "theoretical"
            ):
                continue
            if oracle == "cancellation" and conditioning.hopeless(
                space.inputs, overrides, (trace, shadow), again
            ):
                continue
            output = backends.of(node.library).snapshot(node.output)
            failure = Failure(oracle, node, detail, node.arguments, node.keywords, output)
            found = Found(failure, overrides, 0, label, space)
            found.elapsed = collected.elapsed()
            if found.severity == "theoretical":
                continue
            if _harmless(runner, found, trace, shadow, node):
                found.severity = "theoretical"
                found.reason = "the results are right all the same"
            if collected.keep_better(node.site.key(), found):
                collected.tell(found, node.site)


def _harmless(runner, found, trace, shadow, node):
    """Are the results right all the same?"""
    if found.oracle in _DIGITS:
        return consequence.right_result(runner, found)
    if found.oracle not in _FORMULAS or shadow is None:
        return False
    errors = dict((id(made), error) for made, _, error, _ in shadow.errors)
    return consequence.recovers(trace, node, errors)


def shadowed(runner, overrides, shadow):
    """One run with a computation beside it."""
    return runner.run(
        Policy(
            overrides=overrides,
            shadow=shadow,
            stop_after=min(2 * runner.horizon, runner.far_horizon),
            backward_limit=1,
            time_limit=runner.time_limit * 2,
        )
    )
