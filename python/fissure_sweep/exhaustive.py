"""All 4,294,967,296 numbers of `float32`, part by part, in their order.

Nearly every element is settled by comparing whole numbers: the distance in steps between what came and the rounded
reference. What is further away goes through the same questions as in a usual sweep.
"""

import numpy

from fissure_sweep import profile

#: Parts into which the numbers are cut; each is worked off and kept by itself.
PARTS = 256
#: Elements that are looked at together: few enough for the processor's cache.
BLOCK = 1 << 17
#: Wrong elements of one part that are looked at closely; the others are only counted as far away.
CLOSELY = 1 << 16
#: Patterns between two wrong elements that still belong to one interval.
GAP = 1 << 16
HALF = 1 << 31
#: Steps above which an element is looked at closely, at first; then what is worst so far.
SUSPECT = 3
BOUNDS = (1, 2, 4, 16)


def patterns(first, count):
    """Patterns of the numbers from place `first` on, in the order of the numbers."""
    # A block lies on one side of zero.
    if first < HALF:
        top = (1 << 32) - 1 - first
        return numpy.arange(top, top - count, -1, dtype="int64").astype("uint32")
    return numpy.arange(first - HALF, first - HALF + count, dtype="uint32")


def place_of(bits):
    """The place of a pattern in the order of the numbers."""
    bits = bits.astype("int64")
    return numpy.where(bits >= HALF, (1 << 32) - 1 - bits, bits + HALF)


def steps(result):
    """Whole numbers that are as far apart as the numbers of `float32` between two results."""
    whole = result.view("int32")
    return whole ^ ((whole >> 31) & 0x7FFFFFFF)


def part(backend, function, path, facts, number):
    """What one part of the numbers shows, as plain data."""
    size = (1 << 32) // PARTS
    told = {"elements": 0, "above": dict.fromkeys(map(str, BOUNDS), 0), "suspects": 0}
    told["worst"], told["worst_at"], told["findings"] = 0.0, None, []
    suspects, worst = [], SUSPECT
    for first in range(number * size, (number + 1) * size, BLOCK):
        bits = patterns(first, BLOCK)
        x = bits.view("float32")
        if x[0] != x[0] or x[-1] != x[-1]:
            bits = bits[x == x]
            if not len(bits):
                continue
        found, highest = block(backend, function, bits, worst, told)
        suspects.append(found)
        if told["worst"] < min(highest, SUSPECT):
            # So near, steps are as good as units in the last place.
            told["worst"] = float(min(highest, SUSPECT))
            told["worst_at"] = repr(float(bits[len(bits) // 2].view("float32")))
        worst = max(worst, min(highest, int(profile.ALLOWED["float32"])))
    bits = numpy.concatenate(suspects) if suspects else numpy.zeros(0, "uint32")
    told["suspects"] = int(len(bits))
    if len(bits):
        closer(backend, function, path, facts, bits, told)
    return told


def block(backend, function, bits, suspect, told):
    """Patterns whose results are more than `suspect` steps from the reference or from what the same elements give
    with gaps between them, and the largest number of steps."""
    tensor = backend.tensor(bits, "float32")
    y = numpy.ascontiguousarray(backend.plain(function(tensor)), "float32")
    if y.shape != bits.shape:
        raise ValueError("it does not act on each element by itself")
    with numpy.errstate(all="ignore"):
        wide = backend.values(function(backend.wide(bits.view("float32").astype("float64"))))
        r = wide.astype("float32")
    order = steps(y).astype("int64")
    away = abs(order - steps(r))
    # NaN is NaN, whatever its bits.
    unknown = (y != y) & (r != r)
    away[unknown] = 0
    strided = backend.strided(backend.tensor(bits, "float32"))
    if strided is not None:
        other = numpy.ascontiguousarray(backend.plain(function(strided)), "float32")
        if not numpy.array_equal(other.view("uint32"), y.view("uint32")):
            between = abs(order - steps(other))
            between[unknown] = 0
            away = numpy.maximum(away, between)
    told["elements"] += int(len(bits))
    highest = int(away.max())
    for bound in BOUNDS:
        if highest > bound:
            told["above"][str(bound)] += int((away > bound).sum())
    if highest <= suspect:
        return bits[:0], highest
    return bits[away > suspect], highest


def closer(backend, function, path, facts, bits, told):
    """The questions of a usual sweep, to the elements that need them."""
    # The order of the table of functions cannot be asked of elements with gaps between them.
    order = numpy.argsort(place_of(bits), kind="stable")
    bits = bits[order]
    if len(bits) > CLOSELY:
        bits = bits[numpy.unique(numpy.linspace(0, len(bits) - 1, CLOSELY).astype("int64"))]
    places = place_of(bits)
    sweep = profile.Sweep(backend, function, path, "float32", bits, facts)
    sweep.gaps = numpy.diff(places) > GAP * max(1, told["suspects"] // CLOSELY)
    accuracy, findings = profile.profile(sweep, ordered=False)
    if accuracy.get("worst", 0.0) > told["worst"]:
        told["worst"], told["worst_at"] = accuracy["worst"], accuracy["worst_at"]
    for finding in findings:
        ends = numpy.array([float(finding["from"]), float(finding["to"])]).astype("float32")
        finding["places"] = [int(it) for it in place_of(ends.view("uint32"))]
    told["findings"] = findings
