"""The oracle `placement` for TensorFlow and JAX: infinities where the same call in float64 has a number."""

from fissure_worker import dtypes
from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.reference64_foreign import DIGITS, NARROW, inputs, run, source

#: Of the largest number of a type: rounding takes what is nearer to it beyond it.
REPRESENTABLE = 0.5


def check(call):
    if not any(infinite(leaf) is not None for _, leaf in compare.leaves(call.baseline)):
        return
    arguments, places = inputs(call)
    if not places:
        return
    # A change of the last digits of the arguments must not decide.
    wide = [run(call, arguments, places, moved) for moved in (0.0, DIGITS, -DIGITS)]
    if any(result is None for result in wide):
        return
    for path, leaf in compare.leaves(call.baseline):
        wrong = infinite(leaf)
        if wrong is None:
            continue
        for result in wide:
            wrong = wrong & numbers(leaf, result, path)
        if not wrong.any():
            continue
        expected = foreign.part(wide[0], path)
        largest = REPRESENTABLE * dtypes.INEXACT[leaf.dtype.name].largest
        lines = [
            "wrong = numpy.isinf(observed) & (abs(expected) < %r)" % largest,
            "return bool(wrong.any()), str(observed[wrong][:8]), str(expected[wrong][:8])",
        ]
        yield Report(
            "inf placement",
            str(leaf[wrong][0]),
            str(expected[wrong][0]),
            source(call, arguments, places, path, lines),
        )
        return


def infinite(leaf):
    """Where a part of the result is infinite; None where it is not at all, or of a wide type."""
    import numpy

    if not compare.is_numpy(leaf) or leaf.dtype.name not in NARROW:
        return None
    where = numpy.isinf(leaf)
    return where if where.any() else None


def numbers(leaf, wide, path):
    """Where the result in float64 is a number that the type of `leaf` has."""
    try:
        expected = foreign.part(wide, path)
    except (LookupError, TypeError):
        return False
    if not compare.is_numpy(expected) or expected.dtype.name != "float64":
        return False
    if expected.shape != leaf.shape:
        return False
    return abs(expected) < REPRESENTABLE * dtypes.INEXACT[leaf.dtype.name].largest
