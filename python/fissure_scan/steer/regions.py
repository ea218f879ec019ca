"""Failure regions of functions of one operand, as measures."""

import math

from ..backends.base import MAXIMUM
from . import registry
from .measures import Above, Around, Below


class Region:
    """One interval in which a function fails, and the way into it."""

    def __init__(self, start, end, limit):
        self.start = start
        self.end = end
        if end >= limit:
            self.label, self.measure = "increase", Below(start)
        elif start <= -limit:
            self.label, self.measure = "decrease", Above(end)
        else:
            self.label = "toward zero" if start <= 0.0 <= end else "toward %g" % start
            self.measure = Around((start + end) / 2.0, (end - start) / 2.0)

    def touches_zero(self):
        return self.start <= 0.0 <= self.end + 1e-30


def regions(name, dtype, gradients=True):
    """The regions of a function, those of NaN and Inf first."""
    nonfinite, gradient = registry.regions(name, dtype)
    limit = 0.99 * max([abs(bound) for pair in nonfinite for bound in pair] or [math.inf])
    limit = min(limit, 0.97 * MAXIMUM.get(dtype, MAXIMUM["float32"]))
    found = [Region(start, end, limit) for start, end in nonfinite]
    if gradients:
        # Infinite gradients over a range come with the values beside them; a point needs its own
        # aim.
        found += [Region(start, end, math.inf) for start, end in gradient if start == end]
    return found


def of_steps(steps, largest):
    """The regions in which a model of one value says `no change`."""
    limit = 0.99 * largest
    return [
        Region(max(start, -limit), min(end, limit), 0.98 * limit)
        for start, end, label in steps
        if label == "no_change"
    ]
