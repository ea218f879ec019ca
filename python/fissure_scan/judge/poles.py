"""Infinities that are the right answer: `log1mexp(0)` is -inf, and says so.

A function that is documented as the logarithm of something is infinite where that is 0. It is nobody's fault where

- the infinities that the operation gives are those of the result, element by element: nothing was
  added up or multiplied with them, and there is no NaN;
- the same call in wider floats gives the same ones;
- next to these values the function grows toward them: an infinity with another sign on each side is no value;
- the function says it: its documentation begins with a formula of that operation, or speaks of the infinity.

A loss over such logarithms that is summed, or that promises nothing, stays a finding.
"""

import inspect
import re

import numpy as np

from ..watch.monitor import Policy
from . import consequence

# Steps away from the failing values, in units of the input's size.
_STEPS = (1e-2, 1e-4)
_INFINITY = re.compile(r"(?<!\w)-?inf(?!\w)|infinity|∞")
_FORMULA = re.compile(r"[A-Za-z_][\w.]*(?=\()")


def right_infinity(runner, found, trace):
    """Is the infinite result of a target function the right one, and documented?"""
    program = runner.program
    failure = found.failure
    if (
        not program.function
        or found.variation is not None
        or trace.error is not None
        or failure.output is None
        or not hasattr(failure.output, "dtype")
        or not documented(program.resolve, failure.name)
    ):
        return False
    given = consequence.leaves(trace.result)
    made = consequence.leaves(failure.output)
    if len(given) != 1 or len(made) != 1 or given[0].shape != made[0].shape:
        return False
    result, bad = given[0], np.isinf(made[0])
    if np.isnan(result).any() or not bool((np.isinf(result) == bad).all()) or not bad.any():
        return False
    wide = _wide(runner, found, found.overrides)
    if wide is None or wide.shape != result.shape or not bool((wide[bad] == result[bad]).all()):
        return False
    return _grows_toward(runner, found, result, bad)


def _grows_toward(runner, found, result, bad):
    """Do finite values next to the failing ones grow toward the infinities, and nowhere to others?"""
    toward = False
    for sign in (1.0, -1.0):
        sizes = []
        for step in _STEPS:
            moved = dict(
                (key, value + sign * step * found.space.by_key[key].scale)
                for key, value in found.overrides.items()
            )
            near = _wide(runner, found, moved)
            if near is None or near.shape != result.shape or not np.isfinite(near[bad]).all():
                break
            sizes.append(near[bad] * np.sign(result[bad]))
        if len(sizes) < len(_STEPS):
            continue
        if bool((sizes[1] > sizes[0]).all()):
            toward = True
        elif bool((sizes[1] < sizes[0]).any()):
            return False
    return toward


def _wide(runner, found, overrides):
    """The result of the target in float64."""
    program = runner.program
    program.widen = True
    try:
        trace = runner.run(Policy(overrides=overrides, time_limit=runner.time_limit * 2))
    finally:
        program.widen = False
    held = consequence.leaves(trace.result)
    return None if trace.error is not None or len(held) != 1 else held[0].astype(np.float64)


def documented(resolve, operation):
    """Does the documentation of a target say that it is such a function, or that it can be infinite?"""
    try:
        text = inspect.getdoc(resolve().function) or ""
    except Exception:
        return False
    if _INFINITY.search(text):
        return True
    first = re.split(r"\n\s*\n", text.strip())[0]
    formula = _FORMULA.search(first)
    return formula is not None and _stem(formula.group().split(".")[-1]) == _stem(operation)


def _stem(name):
    """`log` of log1p, log2 and log10."""
    return re.sub(r"\d+p?$", "", name.lower())
