"""Which numbers are tried: all of 16 bits, a stratified share of wider types, and dense windows."""

import math

import numpy

from fissure_worker import dtypes

#: Bits of the mantissa, smallest exponent of a normal number.
FORMATS = {
    name: (-int(math.log2(dtype.epsilon)), int(math.log2(dtype.smallest)))
    for name, dtype in dtypes.INEXACT.items()
    if name in ("float16", "bfloat16", "float32", "float64")
}
LARGEST = {name: dtypes.INEXACT[name].largest for name in FORMATS}
#: Neighbours on each side of a special point.
WINDOW = 64
#: Where branches of usual algorithms lie, beside powers of two and multiples of pi / 2.
POINTS = [
    0.0,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    4.0,
    5.0,
    6.0,
    8.0,
    9.0,
    10.0,
    16.0,
    20.0,
    27.0,
    32.0,
    50.0,
    64.0,
    85.0,
    87.3,
    88.0,
    88.7,
    89.4,
    100.0,
    103.9,
    104.0,
    126.0,
    127.0,
    128.0,
    149.0,
    709.7,
    745.0,
]


def bits_of(values, dtype):
    """Patterns of the numbers of a type nearest to some values; narrow types by way of float32."""
    with numpy.errstate(all="ignore"):
        if dtype == "float64":
            return values.astype("float64").view("uint64")
        if dtype == "float32":
            return values.astype("float32").view("uint32")
        if dtype == "float16":
            return values.astype("float16").view("uint16")
        return (values.astype("float32").view("uint32") >> 16).astype("uint16")


def values_of(bits, dtype):
    """The numbers that patterns stand for, in float64."""
    if dtype == "bfloat16":
        return (bits.astype("uint32") << 16).view("float32").astype("float64")
    return bits.view(dtype).astype("float64")


#: Patterns by type and number: the same for every function.
MADE = {}


def patterns(dtype, count):
    """The patterns of a sweep in the order of their numbers; NaN is left out, infinities stay."""
    if (dtype, count) not in MADE:
        MADE[dtype, count] = made(dtype, count)
    return MADE[dtype, count]


def made(dtype, count):
    if dtype in ("float16", "bfloat16"):
        bits = numpy.arange(1 << 16, dtype="uint32").astype("uint16")
    else:
        bits = numpy.concatenate([stratified(dtype, count), windows(dtype)])
    bits.sort()
    bits = bits[numpy.concatenate([[True], bits[1:] != bits[:-1]])]
    numbers = values_of(bits, dtype)
    keep = numbers == numbers
    bits, numbers = bits[keep], numbers[keep]
    return bits[numpy.argsort(numbers, kind="stable")]


def stratified(dtype, count):
    """Every n-th pattern of float32; of float64 as many mantissas for each sign and exponent."""
    if dtype == "float32":
        step = max(1, (1 << 32) // count)
        return numpy.arange(0, 1 << 32, step, dtype="uint64").astype("uint32")
    each = max(1, count // 4096)
    head = numpy.arange(4096, dtype="uint64") << numpy.uint64(52)
    generator = numpy.random.RandomState(0)
    tail = generator.randint(0, 1 << 26, size=(4096, each)).astype("uint64") << numpy.uint64(26)
    tail |= generator.randint(0, 1 << 26, size=(4096, each)).astype("uint64")
    return (head[:, None] | tail).ravel()


def windows(dtype):
    """Neighbours of special points, of both signs."""
    mantissa, lowest = FORMATS[dtype]
    points = list(POINTS) + [number * math.pi / 2 for number in range(1, 65)]
    points += [2.0**power for power in range(lowest - mantissa, -lowest + 1)]
    points += [number + 0.5 for number in range(64)] + [
        2.0**mantissa + number / 2 for number in range(-8, 9)
    ]
    points = numpy.array(sorted({abs(point) for point in points if abs(point) <= LARGEST[dtype]}))
    centre = bits_of(points, dtype).astype("int64")
    near = (centre[:, None] + numpy.arange(-WINDOW, WINDOW + 1)).ravel()
    width = 31 if dtype == "float32" else 63
    top = (1 << width) - 1 if width == 31 else (1 << 62) + ((1 << 62) - 1)
    near = near[(near >= 0) & (near <= top)].astype("uint64")
    both = numpy.concatenate([near, near | (numpy.uint64(1) << numpy.uint64(width))])
    return both.astype("uint32" if dtype == "float32" else "uint64")


def unit(reference, dtype):
    """The distance between neighbouring numbers of a type at some reference values."""
    mantissa, lowest = FORMATS[dtype]
    with numpy.errstate(all="ignore"):
        exponent = numpy.frexp(numpy.where(numpy.isfinite(reference), reference, 1.0))[1] - 1
    return numpy.ldexp(1.0, numpy.maximum(exponent, lowest) - mantissa)
