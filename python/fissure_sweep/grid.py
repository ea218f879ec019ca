"""Functions of two tensors, complex numbers and whole numbers: a product of special and ordinary ones.

A million pairs say less than the few that matter: zeros, ones, the edges of the type, halves, neighbours of one, each
with each and with ordinary numbers. What counts as wrong is in `docs/sweep.md`.
"""

import numpy

from fissure_sweep import profile
from fissure_sweep import values as numbers

PARTS = {"complex64": "float32", "complex128": "float64"}
INTEGERS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
#: Ordinary numbers beside the special ones, of each sign.
ORDINARY = 40
#: Elements that are called alone.
ALONE = 64
#: Findings of one kind that are told.
MOST = 3
#: A complex result may be off by so many units in the last place of its magnitude.
COMPLEX_ALLOWED = 64.0


def special(dtype):
    """Numbers at which functions branch, all exact in the type."""
    mantissa, lowest = numbers.FORMATS[dtype]
    largest, one = numbers.LARGEST[dtype], 2.0**-mantissa
    positive = [
        0.0,
        2.0 ** (lowest - mantissa),
        2.0**lowest,
        one,
        0.5,
        1.0 - one / 2,
        1.0,
        1.0 + one,
    ]
    positive += [
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        7.0,
        10.0,
        100.0,
        2.0**mantissa,
        2.0 ** (mantissa + 1) - 1,
    ]
    positive += [2.0 ** (-lowest), largest / 2, largest, float("inf")]
    return numpy.array(positive + [-number for number in positive] + [float("nan")])


def ordinary(dtype, count=ORDINARY):
    generator = numpy.random.RandomState(1)
    exponents = generator.uniform(-10, 6 if dtype == "float16" else 10, count)
    found = 2.0**exponents
    found = numbers.values_of(numbers.bits_of(found, dtype), dtype)
    return numpy.concatenate([found, -found])


def columns(dtype, arity):
    """The arguments: one array of numbers for each tensor."""
    if dtype in INTEGERS:
        alone = whole(dtype)
        if arity == 1:
            return [alone]
        near = alone if len(alone) <= 256 else alone[:: max(1, len(alone) // 256)]
        return product(near, near)
    if dtype in PARTS:
        part = PARTS[dtype]
        line = numpy.concatenate([special(part), ordinary(part, 8)])
        real, imaginary = product(line, line)
        one = numpy.empty(len(real), "complex128")
        one.real, one.imag = real, imaginary
        if arity == 1:
            return [one]
        few = one[:: max(1, len(one) // 200)]
        return product(few, few)
    line = numpy.concatenate([special(dtype), ordinary(dtype)])
    return product(line, line) if arity == 2 else [line]


def product(first, second):
    return [numpy.repeat(first, len(second)), numpy.tile(second, len(first))]


def whole(dtype):
    """All numbers of 8 and 16 bits; of wider types the edges and powers of two with their neighbours."""
    bits = INTEGERS[dtype]
    low, high = (
        (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    if bits <= 16:
        return numpy.arange(low, high + 1, dtype="int64")
    near = {
        number + step
        for power in range(bits)
        for number in (2**power, -(2**power))
        for step in range(-4, 5)
    }
    near |= (
        set(range(-64, 65)) | {low + step for step in range(8)} | {high - step for step in range(8)}
    )
    return numpy.array(sorted(number for number in near if low <= number <= high), dtype="int64")


class Grid:
    """What a function gives on a grid."""

    def __init__(self, backend, function, path, dtype, arity):
        self.backend, self.function, self.path, self.dtype = backend, function, path, dtype
        self.columns = columns(dtype, arity)
        self.wide_name = {"complex64": "complex128"}.get(
            dtype, "int64" if dtype in INTEGERS else "float64"
        )
        self.y = self.run(self.columns, dtype)

    def run(self, arrays, dtype, strided=False):
        tensors = [self.backend.cast(array, dtype) for array in arrays]
        if strided:
            tensors = [self.backend.strided(tensor) for tensor in tensors]
        return self.backend.plain(self.function(*tensors))

    def wide(self, arrays=None):
        """The same in a wider type, or None."""
        if self.dtype in ("float64", "complex128", "int64"):
            return None
        try:
            return self.run(self.columns if arrays is None else arrays, self.wide_name)
        except Exception:
            return None

    def value(self, at):
        shown = [column[at].item() for column in self.columns]
        return repr(shown[0]) if len(shown) == 1 else "(%s)" % ", ".join(repr(it) for it in shown)

    def finding(self, kind, wrong, expected, other):
        places = numpy.flatnonzero(wrong)
        if not len(places):
            return []
        at = places[len(places) // 2]
        # One whose arguments are plain numbers says most.
        plain = [it for it in places if all(numpy.isfinite(column[it]) for column in self.columns)]
        at = plain[len(plain) // 2] if plain else at
        return [
            {
                "kind": kind,
                "from": self.value(places[0]),
                "to": self.value(places[-1]),
                "count": int(len(places)),
                "alone": True,
                "value": self.value(at),
                "observed": repr(self.y[at].item()),
                "expected": repr(expected[at].item()),
                "script": self.backend.grid_script(
                    self.path,
                    self.dtype,
                    [column[at].item() for column in self.columns],
                    other,
                    self.wide_name,
                ),
            }
        ]


def swept(backend, function, path, dtype, arity, facts):
    """(facts, findings) of one function and type; None where it is not elementwise there."""
    grid = Grid(backend, function, path, dtype, arity)
    if grid.y.shape != grid.columns[0].shape:
        return None
    told = {"elements": int(len(grid.y))}
    by_type = facts is not None and "about dtype" in facts.properties
    reference = None if by_type else grid.wide()
    if reference is not None and reference.shape != grid.y.shape:
        reference = None
    findings = between_paths(grid, reference)
    if reference is not None:
        if dtype in INTEGERS:
            findings += against_wrapped(grid, reference)
        else:
            accuracy, wrong = against_wide(grid, reference)
            told.update(accuracy)
            findings += wrong
    kinds = []
    return told, [it for it in findings if not (it["kind"] in kinds or kinds.append(it["kind"]))]


def classes(values):
    """0 finite, 1 infinite, 2 not a number; a complex number with an infinite part is infinite."""
    if not numpy.issubdtype(values.dtype, numpy.inexact):
        return numpy.zeros(values.shape, "int8")
    infinite, nan = numpy.isinf(values), numpy.isnan(values)
    return numpy.where(infinite, 1, numpy.where(nan, 2, 0))


def apart(grid, first, second):
    """Where two results of one type are not about the same."""
    if not numpy.issubdtype(first.dtype, numpy.inexact):
        return first != second
    part = part_type(grid)
    with numpy.errstate(all="ignore"):
        unit = numbers.unit(abs(first), part)
        far = abs(first - second) > profile.ALLOWED[part] * unit
    both = (classes(first) == 0) & (classes(second) == 0)
    wrong = (classes(first) != classes(second)) | (
        both & far & (abs(first) > smallest(part) * 1024)
    )
    return wrong & moderate(grid) if grid.dtype in PARTS else wrong


def moderate(grid):
    """Complex arguments of which neither the square nor the sum of parts overflows or vanishes on the way: how such
    a number is computed is nobody's promise."""
    part = part_type(grid)
    found = numpy.ones(len(grid.y), bool)
    with numpy.errstate(all="ignore"):
        for column in grid.columns:
            size = abs(column)
            found &= (size < numbers.LARGEST[part] ** 0.5 / 4) & (
                (size > smallest(part) ** 0.5) | (column == 0)
            )
            for piece in (column.real, column.imag):
                found &= (abs(piece) >= smallest(part)) | (piece == 0)
    return found


def part_type(grid):
    return PARTS.get(grid.dtype, grid.dtype if grid.dtype in numbers.FORMATS else "float32")


def smallest(dtype):
    return 2.0 ** numbers.FORMATS[dtype][1]


def disagree(grid, other, reference):
    """Where another way of computing the same gives something else, and the last digits of the arguments do not explain
    it."""
    wrong = apart(grid, grid.y, other)
    chosen = numpy.flatnonzero(wrong)
    if len(chosen) and reference is not None and grid.dtype not in INTEGERS:
        with numpy.errstate(all="ignore"):
            step = spread(grid, reference, part_type(grid), chosen)
            wrong[chosen] = ~(abs(grid.y[chosen] - other[chosen]) <= profile.CONDITION * step)
    return wrong


def between_paths(grid, reference):
    if grid.backend.strided(grid.backend.cast(grid.columns[0][:2], grid.dtype)) is not None:
        other = grid.run(grid.columns, grid.dtype, strided=True)
        wrong = disagree(grid, other, reference)
        found = grid.finding("vector and strided code disagree", wrong, other, "strided")
        if found:
            return found
    other = grid.y.copy()
    for at in numpy.unique(numpy.linspace(0, len(grid.y) - 1, ALONE).astype("int64")):
        other[at] = grid.run([column[at : at + 1] for column in grid.columns], grid.dtype)[0]
    wrong = disagree(grid, other, reference)
    return grid.finding("an element alone and in a row disagree", wrong, other, "alone")


def against_wrapped(grid, reference):
    """Whole numbers: the result in 64 bits, reduced to the type; results of another kind as they are."""
    if grid.y.dtype == reference.dtype or not numpy.issubdtype(reference.dtype, numpy.integer):
        expected = reference
    else:
        with numpy.errstate(all="ignore"):
            expected = reference.astype(grid.y.dtype)
    if numpy.issubdtype(expected.dtype, numpy.inexact) or numpy.issubdtype(
        grid.y.dtype, numpy.inexact
    ):
        with numpy.errstate(all="ignore"):
            first, second = grid.y.astype("float64"), expected.astype("float64")
            far = abs(first - second) > 1e-5 * abs(second) + 1e-30
        wrong = (classes(first) != classes(second)) | ((classes(first) == 0) & far)
    else:
        wrong = grid.y != expected
    # What 64 bits cannot hold either says nothing.
    limit = 2**31
    for column in grid.columns:
        wrong &= abs(column) < limit
    return grid.finding("another number than in 64 bits", wrong, expected, "wide")


def against_wide(grid, reference):
    part = part_type(grid)
    largest, low = numbers.LARGEST[part], smallest(part) * 1024
    allowed = COMPLEX_ALLOWED if grid.dtype in PARTS else profile.ALLOWED[part]
    with numpy.errstate(all="ignore"):
        size = abs(reference)
        beyond = ~(size <= profile.NEARLY[part] * largest)
        first, second = classes(grid.y), classes(reference)
        same = (first == second) | (beyond & (second != 2) & (first != 2))
        tiny = numpy.zeros(len(grid.y), bool)
        for column in grid.columns:
            tiny |= (abs(column) < smallest(part)) & (column != 0)
        unknown = numpy.zeros(len(grid.y), bool)
        for column in grid.columns:
            unknown |= numpy.isnan(column)
        calm = moderate(grid) if grid.dtype in PARTS else numpy.ones(len(grid.y), bool)
        same |= ~calm
        same |= tiny
        both = (first == 0) & (second == 0) & ~beyond
        error = numpy.where(both, abs(grid.y - reference) / numbers.unit(size, part), 0.0)
        # The sign of a NaN means nothing.
        error[tiny | (size < low) | unknown | ~calm] = 0.0
        doubtful = numpy.flatnonzero(~same | (error > 1.0))
        if len(doubtful):
            step = spread(grid, reference, part, doubtful)
            apart = abs(grid.y[doubtful] - reference[doubtful])
            explained = (apart <= profile.CONDITION * step) | ~numpy.isfinite(step)
            same[doubtful] |= explained
            error[doubtful[explained]] = 0.0
    worst = int(error.argmax())
    total = max(1, int(both.sum()))
    accuracy = {
        "worst": float(error[worst]),
        "worst_at": grid.value(worst),
        "above": {str(bound): float((error > bound).sum()) / total for bound in (1, 2, 4, 16)},
        "classes": int((~same).sum()),
    }
    found = grid.finding("another class than in a wider type", ~same, reference, "wide")
    found += grid.finding(
        "far from the result in a wider type", same & (error > allowed), reference, "wide"
    )
    return accuracy, found


def spread(grid, reference, part, chosen):
    """How far the reference moves when each argument moves by a part of its last digit, for some of the elements."""
    given = [column[chosen] for column in grid.columns]
    reference = reference[chosen]
    step = numpy.zeros(len(chosen))
    for number, column in enumerate(given):
        spacing = numbers.unit(abs(column), part)
        for share in (-0.318, 0.137, 0.482):
            # An argument that is exact by nature (a zero, a whole number) stays what it is only by chance.
            moved = list(given)
            moved[number] = numpy.where(column == 0, column, column + share * spacing)
            other = grid.wide(moved)
            distance = abs(other - reference)
            distance = numpy.where(classes(other) == classes(reference), distance, numpy.inf)
            distance = numpy.where((classes(other) != 0) & (classes(reference) != 0), 0.0, distance)
            step = numpy.maximum(step, numpy.where(numpy.isnan(distance), 0.0, distance))
    return step
