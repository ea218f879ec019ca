"""One function in one element type: its accuracy, and intervals in which it is wrong.

What counts as wrong is in `docs/sweep.md`; the bounds are here.
"""

import numpy

from fissure_sweep import values as numbers

#: Units in the last place that an element may be off; types of 16 bits are computed in a wider one and rounded.
ALLOWED = {"float16": 4.0, "bfloat16": 4.0, "float32": 64.0, "float64": 64.0}
#: Rounding of the argument that is forgiven: near a zero, or where the function is steep, the last digits of
#: the argument decide.
CONDITION = 8.0
#: Magnitudes of arguments that everybody uses.
ORDINARY = (1e-2, 1e2)
#: Share of the elements where a function is steep that shows what it loses, and how many there must be.
USUAL = 0.95
FEW = 64
#: Results this close to the largest number may overflow: a thousandth, or as far as an element may be off.
NEARLY = {
    dtype: 1.0 - max(1e-3, allowed * 2.0 ** -numbers.FORMATS[dtype][0])
    for dtype, allowed in ALLOWED.items()
}
#: Arguments this many times above the smallest normal number still lose digits where a step of a formula halves them.
HALVED = 4.0
#: What a script compares with, by kind of finding; a wider type without an entry.
OTHERS = {
    "vector and strided code disagree": "strided",
    "an element alone and in a row disagree": "alone",
    "in place and out of place disagree": "in place",
    "one thread and two disagree": "threads",
    "not odd": "negative",
    "not even": "negative",
}
#: Elements that are called alone, those that look worst among them.
ALONE = 128
#: Intervals that are told of one question.
MOST = 4
#: Points of a plot.
STEPS = 160
#: Elements between two wrong ones that still belong to one interval.
GAP = 64


class Sweep:
    """What one function gives for one set of numbers."""

    def __init__(self, backend, function, path, dtype, bits, facts):
        self.backend = backend
        self.function = function
        self.path = path
        self.dtype = dtype
        self.bits = bits
        #: The row of the table of functions, or None.
        self.facts = facts
        #: Between which neighbours no interval reaches; None: where so many elements in between are right.
        self.gaps = None
        #: What `condition` found.
        self.forgiven = None
        #: Results below it are as good as zero.
        self.floor = 0.0
        self.x = numbers.values_of(bits, dtype)
        self.y = self.run(backend.tensor(bits, dtype))
        self.r = self.reference(self.x)
        self.unit = None if self.r is None else numbers.unit(self.r, dtype)

    def script(self, worst, kind):
        """A line that shows one element."""
        other = OTHERS.get(kind, "wide")
        return self.backend.script(self.path, self.dtype, self.x[worst], other)

    def run(self, tensor):
        return self.backend.values(self.function(tensor)).astype("float64")

    def reference(self, x):
        """The function in a wider type; None for the widest."""
        if self.dtype == "float64" and self.backend.name != "numpy":
            return None
        try:
            result = self.function(self.backend.wide(x))
        except Exception:
            return None
        return self.backend.values(result).astype("float64")

    def explained(self, chosen):
        """Which of some elements are off by no more than a last digit of the argument makes, or have a reference
        that its own last digit moves: a period, a pole or a zero is near."""
        x, y, r = self.x[chosen], self.y[chosen], self.r[chosen]
        spacing = numbers.unit(x, self.dtype)
        if self.dtype == "float64":
            # A part of its last digit is lost in the type itself.
            x = x.astype("longdouble")
        step = self.moved(x, r, spacing)
        with numpy.errstate(all="ignore"):
            # The result of a neighbour: where the function jumps, a last digit on the way decides the side.
            neighbour = numpy.zeros(len(x), bool)
            for share in (-2.0, -1.0, 1.0, 2.0):
                neighbour |= abs(self.reference(x + share * spacing) - y) <= self.unit[chosen]
            digit = 2.0**-52 if self.dtype != "float64" else numpy.longdouble(2.0) ** -63
            # Several times: a reference that is off by chance stays where it is by chance.
            wobble = numpy.zeros(len(x))
            for share in (-3, -1, 1, 2, 5):
                moved = abs(self.reference(x * (1.0 + share * digit)) - r)
                wobble = numpy.maximum(wobble, numpy.where(numpy.isnan(moved), numpy.inf, moved))
            return (
                (abs(y - r) <= self.condition() * step)
                | neighbour
                | ~(wobble <= 0.25 * self.unit[chosen])
            )

    def moved(self, x, r, spacing):
        """How far the reference moves when the argument moves by a part of its last digit."""
        step = numpy.zeros(len(x))
        with numpy.errstate(all="ignore"):
            # No simple fractions: a periodic function would be where it was.
            for share in (-0.318, 0.137, 0.482):
                moved = abs(self.reference(x + share * spacing) - r)
                step = numpy.maximum(step, numpy.where(numpy.isfinite(moved), moved, 0.0))
        return step

    def same_but_for_digits(self, chosen, other):
        """Of elements that two ways compute differently: which differ by no more than the argument's last digit makes."""
        if self.r is None:
            return numpy.zeros(len(chosen), bool)
        x, y, r = self.x[chosen], self.y[chosen], self.r[chosen]
        spacing = numbers.unit(x, self.dtype)
        if self.dtype == "float64":
            x = x.astype("longdouble")
        with numpy.errstate(all="ignore"):
            apart = abs(y - other[chosen])
            return apart <= self.condition() * self.moved(x, r, spacing)

    def condition(self):
        """How much of the argument's last digit is forgiven. A function of 16 bits that is computed in a wider type
        and rounded once loses nothing to the last digit of its argument, however steep it is: then most of its
        elements show that, and one that is off is wrong."""
        if self.dtype not in ("float16", "bfloat16"):
            return CONDITION
        if self.forgiven is None:
            x, spacing = self.x, numbers.unit(self.x, self.dtype)
            with numpy.errstate(all="ignore"):
                step = numpy.zeros(len(x))
                for share in (-0.318, 0.482):
                    moved = abs(self.reference(x + share * spacing) - self.r)
                    step = numpy.maximum(step, numpy.where(numpy.isfinite(moved), moved, 0.0))
                steep = numpy.isfinite(self.y) & numpy.isfinite(self.r) & (step > 2.0 * self.unit)
                steep &= abs(self.r) >= 2.0 ** numbers.FORMATS[self.dtype][1] * 1024.0
                # Beside what the rounding of the result itself explains.
                lost = numpy.maximum(abs(self.y - self.r) - self.unit, 0.0)[steep] / step[steep]
            usual = numpy.sort(lost)[int(USUAL * len(lost))] if len(lost) >= FEW else CONDITION
            self.forgiven = min(CONDITION, CONDITION * usual)
        return self.forgiven


def profile(sweep, ordered=True):
    """Accuracy as plain data, and findings; `ordered`: neighbours among the elements are neighbours."""
    facts = {"elements": int(len(sweep.x))}
    # What two code paths disagree about says more than that one of them is wrong.
    findings = between_paths(sweep)
    if sweep.r is not None:
        accuracy, wrong = against_reference(sweep)
        facts.update(accuracy)
        findings += wrong
    if sweep.facts is not None:
        findings += promises(sweep, ordered)
    return facts, once(findings)


def once(findings):
    """One cause, one finding: what lies in an interval that was told already is named there."""
    kept = []
    for finding in findings:
        low, high = float(finding["from"]), float(finding["to"])
        for other in kept:
            ends = float(other["from"]), float(other["to"])
            mirrored = other.get("mirrored") and low <= -ends[0] and high >= -ends[1]
            if low <= ends[1] and high >= ends[0] or mirrored:
                for kind in [finding["kind"]] + finding.get("also", []):
                    if kind not in [other["kind"]] + other["also"]:
                        other["also"].append(kind)
                break
        else:
            kept.append(dict(finding, also=list(finding.get("also", []))))
    return kept


def against_reference(sweep):
    x, y, r = sweep.x, sweep.y, sweep.r
    largest = numbers.LARGEST[sweep.dtype]
    smallest = 2.0 ** numbers.FORMATS[sweep.dtype][1]
    # Below this something on the way may have been no normal number.
    low = max(smallest * 1024.0, sweep.floor)
    with numpy.errstate(all="ignore"):
        both = numpy.isfinite(y) & numpy.isfinite(r) & (abs(r) <= largest)
        error = numpy.where(both, abs(y - r) / sweep.unit, 0.0)
        # A number in place of an infinity, a NaN in place of a number, and the other way round.
        overflown = (
            numpy.isinf(y)
            & (abs(r) > NEARLY[sweep.dtype] * largest)
            & (numpy.sign(y) == numpy.sign(r))
        )
        saturated = (
            numpy.isfinite(y)
            & (abs(r) > NEARLY[sweep.dtype] * largest)
            & (abs(y) > NEARLY[sweep.dtype] * largest)
        )
        same = (numpy.isnan(y) & numpy.isnan(r)) | both | overflown | saturated
        # An argument below the normal numbers may be taken for zero.
        same |= abs(x) < smallest
        vanished = both & (y == 0.0) & (abs(r) >= low)
        # Its last digits decide between a number and an infinity: the edge of a domain or a pole.
        doubtful = numpy.isfinite(y) != numpy.isfinite(r)
        if doubtful.any():
            spacing = numbers.unit(x, sweep.dtype)
            for side in (-0.75, 0.75):
                near = sweep.reference(x + side * spacing)
                same |= (
                    doubtful
                    & (numpy.isnan(near) == numpy.isnan(y))
                    & (
                        numpy.isinf(near)
                        | (abs(near) > NEARLY[sweep.dtype] * largest)
                        | (numpy.isfinite(y))
                    )
                )
        far = both & (error > ALLOWED[sweep.dtype])
        far &= numpy.maximum(abs(r), abs(y)) >= low
        doubtful = numpy.flatnonzero(both & (error > 1.0))
        if len(doubtful):
            explained = doubtful[sweep.explained(doubtful)]
            far[explained] = False
            vanished[explained] = False
            error[explained] = 0.0
    # Told without what an argument's last digit explains, and without results below the normal numbers.
    ordinary = both & (abs(r) >= smallest) & (abs(x) >= smallest)
    counted = numpy.where(ordinary, error, 0.0)
    worst = int(counted.argmax()) if len(counted) else 0
    total = max(1, int(ordinary.sum()))
    accuracy = {
        "worst": float(counted[worst]) if len(counted) else 0.0,
        "worst_at": repr(float(x[worst])) if len(counted) else "0.0",
        "above": {str(bound): float((counted > bound).sum()) / total for bound in (1, 2, 4, 16)},
        "classes": int((~same).sum()),
        "plot": plot(x, counted),
    }
    findings = intervals(sweep, ~same, "another class than in a wider type", r)
    findings += intervals(
        sweep, vanished & same & (abs(x) >= smallest), "zero for a normal number", r
    )
    findings += intervals(sweep, far & ~vanished, "far from the result in a wider type", r, error)
    return accuracy, findings


def plot(x, error):
    """The largest error of each of some equal steps over the numbers in their order, as (number, error)."""
    found = []
    for group in numpy.array_split(numpy.arange(len(x)), STEPS):
        group = group[numpy.isfinite(x[group])]
        if len(group):
            worst = group[error[group].argmax()]
            found.append([float(x[worst]), round(float(error[worst]), 3)])
    return found


def differ(first, second, unit, dtype):
    """Where two results of one type are not about the same."""
    smallest = 2.0 ** numbers.FORMATS[dtype][1]
    with numpy.errstate(all="ignore"):
        kinds = (numpy.isnan(first) != numpy.isnan(second)) | (
            numpy.isinf(first) != numpy.isinf(second)
        )
        # One of them overflows where the other is next to the largest number.
        least = numpy.minimum(abs(first), abs(second))
        edge = (least > NEARLY[dtype] * numbers.LARGEST[dtype]) & (
            numpy.sign(first) == numpy.sign(second)
        )
        kinds &= ~edge
        both = numpy.isfinite(first) & numpy.isfinite(second)
        far = (abs(first - second) > ALLOWED[dtype] * unit) & (
            abs(first) + abs(second) > smallest * 1024.0
        )
        return kinds | (both & far)


def disagree(sweep, other):
    """Where another way of computing the same gives something else, and the argument's last digit does not explain it."""
    wrong = differ(sweep.y, other, numbers.unit(sweep.y, sweep.dtype), sweep.dtype)
    chosen = numpy.flatnonzero(wrong)
    if len(chosen):
        wrong[chosen[sweep.same_but_for_digits(chosen, other)]] = False
    return wrong


def between_paths(sweep):
    """The same elements with gaps between them, and alone."""
    tensor = sweep.backend.tensor(sweep.bits, sweep.dtype)
    strided = sweep.backend.strided(tensor)
    if strided is not None:
        other = sweep.run(strided)
        found = intervals(sweep, disagree(sweep, other), "vector and strided code disagree", other)
        if found:
            return found
    chosen = numpy.unique(numpy.linspace(0, len(sweep.x) - 1, ALONE).astype("int64"))
    if sweep.r is not None:
        with numpy.errstate(all="ignore"):
            error = abs(sweep.y - sweep.r) / sweep.unit
        error[~numpy.isfinite(error)] = 0.0
        chosen = numpy.unique(numpy.concatenate([chosen, error.argsort()[-ALONE:]]))
    other = sweep.y.copy()
    for index in chosen:
        alone = sweep.backend.tensor(sweep.bits[index : index + 1].copy(), sweep.dtype)
        other[index] = sweep.run(alone)[0]
    return intervals(sweep, disagree(sweep, other), "an element alone and in a row disagree", other)


def promises(sweep, ordered=True):
    """Range, symmetry and order from the table of functions."""
    x, y = sweep.x, sweep.y
    findings = []
    with numpy.errstate(all="ignore"):
        unit = numbers.unit(y, sweep.dtype)
        if sweep.facts.range is not None:
            low, high = sweep.facts.range
            edge = numbers.unit(
                numpy.array([low if abs(low) < 1e300 else 1.0, high if abs(high) < 1e300 else 1.0]),
                sweep.dtype,
            )
            outside = (y < low - 4 * edge[0]) | (y > high + 4 * edge[1])
            # At a pole the sign of zero decides the side.
            outside &= ~((x == 0.0) & numpy.isinf(y))
            bound = numpy.clip(y, low, high)
            findings += intervals(sweep, outside, "outside its range", bound)
        properties = sweep.facts.properties
        for parity, sign in (("odd", -1.0), ("even", 1.0)):
            if parity in properties:
                flipped = sweep.bits ^ (
                    sweep.bits.dtype.type(1) << sweep.bits.dtype.type(8 * sweep.bits.itemsize - 1)
                )
                mirrored = sign * sweep.run(sweep.backend.tensor(flipped, sweep.dtype))
                findings += intervals(
                    sweep, differ(y, mirrored, unit, sweep.dtype), "not %s" % parity, mirrored
                )
        if "rising" in properties and ordered:
            finite = numpy.flatnonzero(~numpy.isnan(y))
            before, after = y[finite[:-1]], y[finite[1:]]
            # Two neighbours that are as far off as they may be, each to another side, are told elsewhere.
            falls = after < before - ALLOWED[sweep.dtype] * numbers.unit(before, sweep.dtype)
            wrong = numpy.zeros(len(x), dtype=bool)
            wrong[finite[1:][falls]] = True
            expected = y.copy()
            expected[finite[1:]] = before
            findings += intervals(sweep, wrong, "falls where it must not", expected)
    return findings


def shows(sweep, index):
    """A tensor of this number only gives the same: then its script shows what is told."""
    copies = sweep.backend.tensor(numpy.repeat(sweep.bits[index], 64), sweep.dtype)
    found, told = float(sweep.run(copies)[0]), float(sweep.y[index])
    return found == told or found != found and told != told


def joined(groups):
    """Neighbouring groups with fewer right elements between them than wrong ones in them are one interval."""
    found = [groups[0]]
    for group in groups[1:]:
        between = group[0] - found[-1][-1]
        if between <= len(found[-1]) + len(group):
            found[-1] = numpy.concatenate([found[-1], group])
        else:
            found.append(group)
    return found


def one_side(x, groups):
    """Groups without those that are others with the sign exchanged, and the first places of the ones that stand for both."""
    kept, mirrored = [], set()
    for group in groups:
        ends = x[group[0]], x[group[-1]]
        for other in kept:
            low, high = sorted([-x[other[0]], -x[other[-1]]])
            # Half of it at least: the last elements of an interval differ in their last digits.
            if ends[0] * low > 0 and low <= ends[1] and ends[0] <= high:
                inside = ((x[group] >= low) & (x[group] <= high)).sum()
                if 2 * inside > len(group) and len(group) > len(other) // 2:
                    mirrored.add(other[0])
                    break
        else:
            kept.append(group)
    return kept, mirrored


def off_by(x, y, expected):
    """The largest error for ordinary arguments, of one or of the right result if that is larger."""
    ordinary = (abs(x) >= ORDINARY[0]) & (abs(x) <= ORDINARY[1])
    with numpy.errstate(all="ignore"):
        error = abs(y - expected) / numpy.maximum(1.0, abs(expected))
    error = error[ordinary & numpy.isfinite(error)]
    return float(error.max()) if len(error) else 0.0


def intervals(sweep, wrong, kind, expected, weight=None):
    """Findings: each an interval of neighbouring wrong elements, with its worst one."""
    # Processors may be told to take what is below the normal numbers for zero, and libraries do that.
    smallest = 2.0 ** numbers.FORMATS[sweep.dtype][1]
    # Half precision has no numbers to spare, and is computed in a wider type.
    smallest *= 1.0 if sweep.dtype == "float16" else HALVED
    normal = (abs(sweep.x) >= smallest) | (sweep.x == 0.0)
    places = numpy.flatnonzero(wrong & normal)
    if not len(places):
        return []
    if sweep.gaps is None:
        apart = numpy.diff(places) > GAP
    else:
        before = numpy.concatenate([[0], numpy.cumsum(sweep.gaps)])
        apart = numpy.diff(before[places]) > 0
    groups = numpy.split(places, numpy.flatnonzero(apart) + 1)
    if sweep.gaps is None:
        groups = joined(groups)
    groups.sort(key=len, reverse=True)
    groups, mirrored = one_side(sweep.x, groups)
    found = []
    for group in groups[:MOST]:
        worst = group[weight[group].argmax()] if weight is not None else group[len(group) // 2]
        candidates = [worst, group[len(group) // 2], group[0], group[-1]]
        shown = [index for index in candidates if shows(sweep, index)]
        worst = shown[0] if shown else worst
        found.append(
            {
                "kind": kind,
                "from": repr(float(sweep.x[group[0]])),
                "to": repr(float(sweep.x[group[-1]])),
                "count": int(len(group)),
                "mirrored": group[0] in mirrored,
                "alone": bool(shown),
                "value": repr(float(sweep.x[worst])),
                "observed": repr(float(sweep.y[worst])),
                "expected": repr(float(expected[worst])),
                "off": off_by(sweep.x[group], sweep.y[group], expected[group]),
                "script": sweep.script(worst, kind),
            }
        )
    found[-1]["further"] = max(0, len(groups) - MOST)
    return found
