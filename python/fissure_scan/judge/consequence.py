"""What a NaN, an Inf or a lost digit does to the program's results in the end.

A failure that a later operation covers (an infinity whose reciprocal is 0, a NaN that `where`
replaces) leaves finite results. They are compared with those of a wider computation: of the whole
function on float64 arguments where it is a function of arrays, else of the shadow beside the run.
Finite but off by more than rounding is wrong, whatever covers it.
"""

import numpy as np

from ..backends import library as backends
from ..watch.monitor import Policy

RELATIVE = 0.05
ABSOLUTE = 1e-6


def wrong_result(runner, found, trace, shadow):
    """A text when results of the run are finite but wrong; None when they are right or nothing
    better is known."""
    program = runner.program
    if program.function and found.variation is None:
        answer = _wider_call(runner, found, trace)
        if answer is not _UNKNOWN:
            return answer
    if shadow is None:
        return None
    for node in trace.nodes:
        if (
            node.index < found.failure.index
            or node.output is None
            or node.output_bad
            or not (node.taken or not node.consumed)
            or not node.unchanged()
        ):
            continue
        backend = backends.of(node.library)
        if (
            node.library != found.failure.library
            or not backend.is_float(node.output)
            or not hasattr(shadow, "of")
        ):
            continue
        text = difference(backend.numbers(node.output), _numbers(shadow, backend, node.output))
        if text:
            return "%s at line %d gives %s" % (node.name, node.site.line, text)
    return None


_UNKNOWN = object()
# Results are right to this share of their size: what was lost on the way does not matter to them.
HARMLESS = 1e-3


def recovers(trace, wrong, errors):
    """Are all results that the program computes from it right, although it is not itself?"""
    if trace.stopped is not None or not wrong.consumed or wrong.taken:
        return False
    follows, ends = {id(wrong)}, []
    for node in trace.nodes:
        if node.index <= wrong.index:
            continue
        made_of = [trace.producer(value) for value in node.inputs]
        if any(producer is not None and id(producer) in follows for producer in made_of):
            follows.add(id(node))
            if not node.consumed or node.taken:
                ends.append(node)
    return bool(ends) and all(errors.get(id(node), 1.0) <= HARMLESS for node in ends)


def right_result(runner, found):
    """Does a target function give right results although digits are lost on the way? Then they are lost in
    what it only decides by: an error estimate, a test of convergence."""
    if not runner.program.function:
        return False
    trace = runner.run(Policy(overrides=found.overrides, time_limit=runner.time_limit * 2))
    pairs = _both(runner, found, trace)
    return pairs is not None and all(
        bool(np.isfinite(one).all() and np.isfinite(two).all())
        and float(np.abs(one - two).max()) <= HARMLESS * float(np.abs(two).max())
        for one, two in pairs
        if one.size
    )


def _wider_call(runner, found, trace):
    """The function on the same values in float64 against what it gave."""
    pairs = _both(runner, found, trace)
    if pairs is None:
        return _UNKNOWN
    for one, two in pairs:
        text = difference(one, two)
        if text:
            return "the result is %s" % text
    return None


def _both(runner, found, trace):
    """(result, the same of the function on float64 arguments); None where these are not wider."""
    narrow = leaves(trace.result)
    if trace.error is not None or not narrow:
        return None
    program = runner.program
    program.widen = True
    try:
        wide_trace = runner.run(Policy(overrides=found.overrides, time_limit=runner.time_limit * 2))
    finally:
        program.widen = False
    wide = leaves(wide_trace.result)
    if (
        wide_trace.error is not None
        or len(wide) != len(narrow)
        or wide_trace.failures
        or all(one.dtype == two.dtype for one, two in zip(narrow, wide))
        or any(one.shape != two.shape for one, two in zip(narrow, wide))
    ):
        return None
    return [(one.astype(np.float64), two.astype(np.float64)) for one, two in zip(narrow, wide)]


def leaves(result):
    """The floating-point arrays and numbers of a result, as NumPy arrays."""
    if isinstance(result, float):
        return [np.asarray(result)]
    if hasattr(result, "detach"):
        if not result.dtype.is_floating_point:
            return []
        held = result.detach().cpu()
        return [held.float().numpy() if held.element_size() < 4 else held.numpy()]
    if hasattr(result, "shape") and hasattr(result, "dtype"):
        try:
            array = np.asarray(result).view(np.ndarray)
        except (TypeError, ValueError):
            return []
        return [array] if array.dtype.kind == "f" else []
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in leaves(item)]
    if isinstance(result, dict):
        return [leaf for item in result.values() for leaf in leaves(item)]
    return []


def difference(value, exact):
    """A text when finite values differ from finite exact ones by more than rounding."""
    value = np.asarray(value, dtype=np.float64)
    exact = np.asarray(exact, dtype=np.float64)
    if (
        value.shape != exact.shape
        or value.size == 0
        or not np.isfinite(exact).all()
        or not np.isfinite(value).all()
    ):
        return None
    scale = float(np.abs(exact).max())
    apart = np.abs(value - exact)
    if float(apart.max()) <= RELATIVE * max(scale, float(np.abs(value).max())) + ABSOLUTE:
        return None
    place = int(apart.argmax())
    return "%.6g where %.6g is right" % (value.ravel()[place], exact.ravel()[place])


def _numbers(shadow, backend, value):
    held = shadow.of(value)
    if hasattr(held, "detach"):
        return held.detach().double().cpu().numpy()
    return np.asarray(
        backend.numbers(held) if backend.library != "numpy" else held, dtype=np.float64
    )
