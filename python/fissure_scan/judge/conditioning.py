"""Is a result that lost its digits one that no program could get right?

Where moving the inputs by their last bit moves the exact result as far as the computed one is off
(the deviation of data that are constant but for rounding), the digits were never in the inputs. The
variance of data far from zero is another matter: exact arithmetic hardly notices the last bits, the
formula E[x²] - E[x]² loses everything.
"""

import numpy as np

from ..backends import library as backends
from ..backends.base import EPSILONS

# A share of the result's size, as in precision.py.
WRONG = 0.05


def hopeless(inputs, overrides, run, again):
    """`run` is (trace, shadow) on the inputs, `again` makes the same on other inputs."""
    from ..report.fix_check import results

    trace, shadow = run
    if shadow is None:
        return False
    exact, held = results(trace, shadow), results(trace, None)
    moved = _last_bits(inputs, overrides, _narrowest(trace))
    if not moved:
        return False
    other = results(*again(moved))
    if [len(values) for values in other] != [len(values) for values in exact]:
        return False
    found = False
    for right, got, near in zip(exact, held, other):
        if _apart(right, got) > WRONG:
            if _apart(right, near) < WRONG:
                return False
            found = True
    return found


def _narrowest(trace):
    """The rounding of the narrowest type that the program computes in."""
    names = set()
    for node in trace.nodes:
        backend = backends.of(node.library)
        for value in node.outputs:
            if backend.is_float(value):
                names.add(backend.dtype_name(value))
    return max([EPSILONS.get(name, 0.0) for name in names] or [0.0])


def _last_bits(inputs, overrides, least):
    generator = np.random.Generator(np.random.PCG64(3))
    moved = {}
    for variable in inputs:
        if variable.whole or not variable.own.size:
            continue
        value = overrides.get(variable.key, variable.own)
        signs = generator.integers(0, 2, value.shape) * 2.0 - 1.0
        share = max(least, EPSILONS.get(variable.dtype, EPSILONS["float32"]))
        moved[variable.key] = value * (1.0 + share * signs)
    return moved


def _apart(one, two):
    """The largest difference as a share of the largest value."""
    first, second = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    if not first.size or not (np.isfinite(first).all() and np.isfinite(second).all()):
        return 0.0
    size = max(float(np.abs(first).max()), float(np.abs(second).max()))
    return float(np.abs(first - second).max()) / size if size > 0.0 else 0.0
