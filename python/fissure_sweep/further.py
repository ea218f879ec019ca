"""What else is asked of a function beside its numbers: the form that writes over its argument, the same on two threads,
and its derivative.
"""

import numpy

from fissure_sweep import profile
from fissure_sweep import values as numbers

#: A derivative is made of several operations, each of them rounded.
LOOSER = 8.0
#: Relative steps of differences that confirm a derivative.
STEPS = (1e-4, 1e-6)
#: How far differences may be from the derivative that they confirm.
CONFIRMED = 2e-3
#: A derivative this many times below the largest number may overflow on the way.
EDGE = 8.0
#: Share of the numbers of 32 and 64 bits that the derivative is asked for.
EVERY = 8
#: Numbers that the other forms are asked for: enough to be shared out to threads.
MOST = 1 << 19


def findings(sweep, told):
    """Findings of all three; `told` are those before, in whose intervals nothing is told twice."""
    found = other_ways(sweep)
    if sweep.facts is None or "restricted gradient" not in sweep.facts.properties:
        found += of_gradient(sweep)
    return profile.once(told + [dict(one) for one in found])


def other_ways(sweep):
    found = []
    threaded = sweep.backend.threaded(sweep.function)
    for kind, function in (
        ("in place and out of place disagree", sweep.backend.in_place(sweep.path)),
        ("one thread and two disagree", threaded),
    ):
        if function is None:
            continue
        chosen = slice(None, None, max(1, len(sweep.bits) // MOST))
        tensor = sweep.backend.tensor(sweep.bits[chosen].copy(), sweep.dtype)
        other = sweep.y.copy()
        try:
            found_here = sweep.backend.values(function(tensor)).astype("float64")
        except Exception:
            # There is no such form for this type.
            continue
        if found_here.shape != other[chosen].shape:
            continue
        other[chosen] = found_here
        found += profile.intervals(sweep, profile.disagree(sweep, other), kind, other)
    return found


class Derivative(profile.Sweep):
    """The derivative as a function by itself. Beside one, small numbers are nothing."""

    def __init__(self, sweep, bits):
        function = sweep.backend.gradient(sweep.function)
        profile.Sweep.__init__(self, sweep.backend, function, sweep.path, sweep.dtype, bits, None)
        if self.r is not None:
            one = numbers.unit(numpy.ones(1), self.dtype)[0]
            self.unit = LOOSER * numpy.maximum(self.unit, one)
            self.floor = LOOSER * profile.ALLOWED[self.dtype] * one

    def script(self, worst, kind):
        return self.backend.gradient_script(self.path, self.dtype, self.x[worst])


def trusted(sweep, derivative):
    """Where the derivative in the wider type is what differences of the function there say, the value itself is a
    number, and the derivative is not so large that a step of its formula may overflow."""
    x, r = derivative.x, derivative.r
    value = sweep.y[::EVERY] if len(derivative.y) < len(sweep.y) else sweep.y
    largest = numbers.LARGEST[derivative.dtype]
    with numpy.errstate(all="ignore"):
        known = numpy.isfinite(value) & ~(numpy.isinf(derivative.y) & (abs(r) > largest / EDGE))
        agreed = numpy.zeros(len(x), bool)
        for step in STEPS:
            ends = [x - step * abs(x), x + step * abs(x)]
            low, high = (sweep.reference(end) for end in ends)
            slope = (high - low) / (ends[1] - ends[0])
            agreed |= abs(slope - r) <= CONFIRMED * (abs(r) + derivative.floor)
        return known & agreed


def of_gradient(sweep):
    if sweep.backend.gradient(sweep.function) is None:
        return []
    wide = sweep.dtype in ("float32", "float64")
    try:
        derivative = Derivative(sweep, sweep.bits[::EVERY] if wide else sweep.bits)
    except Exception:
        # It has none.
        return []
    if derivative.r is None or derivative.y.shape != derivative.x.shape:
        return []
    # Where nothing is known, nothing is wrong.
    known = trusted(sweep, derivative)
    derivative.y = numpy.where(known, derivative.y, derivative.r)
    found = profile.against_reference(derivative)[1]
    return [dict(one, kind="derivative: " + one["kind"]) for one in found]
