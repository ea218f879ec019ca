"""Labels of elementwise functions of one operand: failure regions, then the nearest one.

The regions are measured: the function is asked on a grid over its whole precision (all numbers of a
16-bit type), and each change between two neighbours of the grid is bisected down to neighbouring
numbers.
"""

import numpy as np

from .precision import apart, between, distance

DECREASE, NO_CHANGE, INCREASE = 0, 1, 2
# Poles beyond this number are sampled, not listed.
MOST_BOUNDARIES = 400
# As many boundaries close together are no boundaries: rounding decides there, number by number.
FLICKER = 3


class Regions:
    """The failure regions of a function of one operand: closed intervals of places, ascending."""

    def __init__(self, subject, density, generator):
        self.subject = subject
        self.precision = subject.precision
        self.low, self.high = subject.limits(0)
        grid = self._grid(density, generator)
        failing = subject.failing([self.precision.value(grid)])
        starts, ends = self._bisected(grid, failing)
        self.starts, self.ends = starts, ends

    def _grid(self, density, generator):
        precision = self.precision
        if precision.last < 1 << 16:
            places = np.arange(-precision.last, precision.last + 1, dtype=np.int64)
        else:
            steps = np.linspace(-1.0, 1.0, density) * float(precision.last) * (1.0 - 1e-15)
            # Where people compute: quarters up to a thousand, with jitter, and whole numbers.
            usual = np.arange(-1024.0, 1024.25, 0.25)
            jitter = generator.normal(size=density // 4) * 10.0 ** generator.uniform(
                -3, 3, density // 4
            )
            usual = precision.place(precision.round(np.concatenate([usual, jitter])))
            ends = np.array([-precision.last, precision.last, 0, 1, -1], dtype=np.int64)
            places = np.concatenate([steps.astype(np.int64), usual, usual - 1, usual + 1, ends])
        places = np.unique(places)
        return places[(places >= self.low) & (places <= self.high)]

    def _bisected(self, grid, failing):
        change = np.flatnonzero(failing[1:] != failing[:-1])
        low, high = grid[change], grid[change + 1]
        rising = failing[change + 1]
        while len(low) and (apart(low, high) > 1).any():
            middle = between(low, high)
            fails = self.subject.failing([self.precision.value(middle)])
            upper = fails == rising
            high = np.where(upper, middle, high)
            low = np.where(upper, low, middle)
        starts = high[rising]
        ends = low[~rising]
        if len(failing) and failing[0]:
            starts = np.concatenate([grid[:1], starts])
        if len(failing) and failing[-1]:
            ends = np.concatenate([ends, grid[-1:]])
        return starts, ends

    def unsettled(self, places):
        """Which places lie where failing and not failing alternate, so that a label is luck. All
        numbers of a 16-bit type are known; of the others a grid is, and most changes are missed."""
        if self.precision.last < 1 << 16:
            return np.zeros(len(places), dtype=bool)
        points = np.sort(np.concatenate([self.starts, self.ends])).astype(np.float64)
        octave = float(self.precision.first_normal)
        groups = np.split(points, np.flatnonzero(np.diff(points) > octave / 8) + 1)
        found = np.zeros(len(places), dtype=bool)
        for group in groups:
            if len(group) >= FLICKER:
                found |= (places > group[0] - octave / 64) & (places < group[-1] + octave / 64)
        return found

    def empty(self):
        return len(self.starts) == 0

    def label(self, places):
        """The direction of the nearest failure; of two equally near ones, away from zero."""
        after = np.searchsorted(self.starts, places, side="right")
        before = np.clip(after - 1, 0, None)
        inside = (after > 0) & (self.ends[before] >= places)
        down = np.where(after > 0, distance(places, self.ends[before]), np.inf)
        next_start = np.clip(after, None, len(self.starts) - 1)
        up = np.where(after < len(self.starts), distance(places, self.starts[next_start]), np.inf)
        increase = (up < down) | ((up == down) & (places >= 0))
        label = np.where(increase, INCREASE, DECREASE)
        return np.where(inside, NO_CHANGE, label).astype(np.uint8)

    def turning_points(self, generator):
        """Places beside which the label changes: both sides of each boundary and of each middle."""
        middles = between(self.ends[:-1], self.starts[1:])
        points = np.concatenate([self.starts, self.ends, middles])
        if len(points) > MOST_BOUNDARIES:
            points = generator.choice(points, MOST_BOUNDARIES, replace=False)
        return points

    def described(self):
        """The first regions, as values, for the report."""
        pairs = zip(self.precision.value(self.starts[:8]), self.precision.value(self.ends[:8]))
        return [[float(start), float(end)] for start, end in pairs]


def train(regions, generator, count):
    """Values over the whole precision, around every turning point, and at the usual sizes."""
    precision = regions.precision
    points = regions.turning_points(generator)
    around = [points - 1, points, points + 1, points + 2]
    spread = max(1, 12000 // max(1, len(points)))
    for _ in range(min(spread, 40)):
        reach = 2.0 ** generator.uniform(0, np.log2(float(precision.last)) - 1, len(points))
        side = np.where(generator.random(len(points)) < 0.5, -1.0, 1.0)
        moved = np.clip(
            points.astype(np.float64) + side * reach,
            -float(precision.last),
            float(precision.last) * (1.0 - 1e-15),
        )
        around.append(moved.astype(np.int64))
    drawn = precision.place(precision.drawn(generator, count, regions.low, regions.high))
    sizes = 10.0 ** generator.uniform(-3, 3, count // 2)
    usual = precision.place(precision.round(generator.normal(size=count // 2) * sizes))
    return _labelled(regions, np.concatenate(around + [drawn, usual]), generator, count)


def held_out(regions, generator, count):
    """Other scales than those of training: uniform draws of fixed widths, exponentials, and the
    whole precision with other numbers; beside the boundaries by relative steps."""
    precision = regions.precision
    values = []
    for width in (0.05, 0.7, 3.0, 15.0, 130.0, 900.0, 2e4):
        values.append(generator.uniform(-width, width, count // 8))
    values.append(generator.exponential(30.0, count // 8))
    values.append(precision.drawn(generator, count, regions.low, regions.high))
    boundaries = precision.value(np.concatenate([regions.starts, regions.ends]))
    if len(boundaries):
        near = generator.choice(boundaries, count // 2)
        with np.errstate(over="ignore"):
            values.append(near * (1.0 + generator.normal(size=count // 2) * 0.05))
    places = precision.place(precision.round(np.concatenate(values)))
    return _labelled(regions, places, generator, count)


def _labelled(regions, places, generator, count):
    """Distinct places with their labels, no class more than `count` strong."""
    places = np.unique(np.clip(places, regions.low, regions.high))
    labels = regions.label(places)
    chosen = []
    for label in (DECREASE, NO_CHANGE, INCREASE):
        members = np.flatnonzero(labels == label)
        if len(members) > count:
            members = generator.choice(members, count, replace=False)
        chosen.append(members)
    chosen = np.sort(np.concatenate(chosen))
    luck = regions.unsettled(places[chosen])
    regions.subject.left_out += int(luck.sum())
    chosen = chosen[~luck]
    return regions.precision.value(places[chosen]), labels[chosen]
