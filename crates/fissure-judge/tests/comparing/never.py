"""What must never be reported, each beside a case like it that must."""

import torch
from harness import judged, tell

STATE = {"calls": 0}


def strided(x):
    return not x.is_contiguous()


def tied_indices(x):
    """Which of several equal elements: any of them is right."""
    return torch.argmax(torch.zeros(4) + strided(x)) + int(strided(x))


def other_values(x):
    return x.sum() + strided(x)


def sort_indices(x):
    values, indices = torch.sort(x.reshape(-1))
    if strided(x):
        indices = indices.flip(0)
    return torch.return_types.sort((values, indices))


def sort_values(x):
    values, indices = torch.sort(x.reshape(-1))
    if strided(x):
        values = values.flip(0)
    return torch.return_types.sort((values, indices))


def rounded(x):
    """Off by less than the type's tolerance."""
    return x * (1 + 5e-4) if strided(x) else x


def off(x):
    return x * 1.25 if strided(x) else x


def cancelled(x):
    """Large numbers that cancel: the last digits of a sum in another order."""
    y = x.reshape(-1)
    y = y.flip(0) if strided(x) else y
    total = y[0]
    for item in y[1:]:
        total = total + item
    return total


def once(x):
    """Wrong the fourth time it is called, and never again."""
    STATE["calls"] += 1
    return x + 1 if STATE["calls"] == 4 else x


def noisy(x):
    return x + torch.randn(3, 4) * strided(x)


def refuses(x):
    if strided(x):
        raise RuntimeError("input must be contiguous")
    return x


def trips(x):
    if strided(x):
        raise IndexError("index 12 is out of range")
    return x


def overflows(x):
    """Infinite in float32 because the true result is."""
    return torch.exp(x * 50)


def naive_softplus(x):
    return torch.log(1 + torch.exp(x))


def swallows(x, **others):
    """Takes anything by name and looks at nothing of it."""
    return x + 1


def ignores_out(x, out=None):
    return x + 1


def unwritten(x):
    """Stands for memory that nobody has written, and that happens to be the same twice."""
    return x + strided(x)


def neighbour(x):
    """The tail of an odd length reads the element before its own."""
    y = x.clone()
    if x.numel() % 2:
        y.view(-1)[-1] = x.view(-1)[-2]
    return y


def rotated(x):
    return torch.roll(x, 6)


def scaled_in_part(x):
    """Divides by the number of rows, in one column only."""
    y = x.clone()
    y[:, 1] /= x.shape[0]
    return y


def batch_mean(x):
    return x / x.shape[0]


def refuses_sizes(x, out=None):
    """Says without data that sizes do not fit, which is not so."""
    if x.device.type == "meta":
        raise AssertionError("size mismatch: %s" % (tuple(x.shape),))
    return x + 1


def refuses_type(x):
    """The real kernel happens to take this type."""
    if x.device.type == "meta":
        raise RuntimeError("expected a floating-point dtype, but got dtype=%s" % x.dtype)
    return x.clone()


def quotient(x, y):
    """Whole numbers whatever comes in, computed without rounding."""
    return torch.floor(x.double() / y.double()).to(x.dtype)


def rounded_quotient(x, y):
    """The same, but more than one element are rounded on the way: 560 / 3 is 187 then."""
    return quotient(x, y) if x.numel() == 1 else torch.floor((x - torch.fmod(x, y)) / y)


def all_of_them(x, dim=None):
    """A maximum over all elements, which looks like elementwise where the largest is not touched."""
    y = x.clone()
    y[x < -50] = x.max()
    return y


def odd_rows(x):
    """The first row of a batch is wrong."""
    y = x.clone()
    if x.shape[0] > 1:
        y[0] += 1
    return y


def other_infinity(x):
    """Infinite in both layouts, with another second part."""
    y = x * complex("inf") if strided(x) else x + complex(float("inf"), float("nan"))
    return y


def finite_elsewhere(x):
    return x if strided(x) or x.dtype == torch.complex128 else x + complex(float("inf"), 0)


def fills(x):
    """Some elements of the result are uninitialised."""
    return x + strided(x)


def promises(x):
    """All elements of the result are written."""
    return x + strided(x)


def jagged(values, offsets):
    """Rows of different lengths: the size of their dimension is another symbol in each result."""
    return torch.nested.nested_tensor_from_jagged(values, offsets)


matrix = torch.randn(3, 4)
huge = torch.tensor([[1e8, 1.0, -1e8], [3.0, 1e7, -1e7]])
QUOTIENT = [torch.tensor([1.5, 560.0]).bfloat16(), torch.tensor([0.25, 3.0]).bfloat16()]
CASES = [
    ("silent", "layout", torch.argmax, [torch.zeros(3, 4)], {}, None),
    ("silent", "layout", tied_indices, [matrix], {}, "torch.argmax"),
    ("reported", "layout", other_values, [matrix], {}, None),
    ("silent", "layout", sort_indices, [matrix], {}, "torch.sort"),
    ("reported", "layout", sort_values, [matrix], {}, "torch.sort"),
    ("silent", "layout", rounded, [matrix.half()], {}, None),
    ("reported", "layout", off, [matrix.half()], {}, None),
    ("silent", "layout", cancelled, [huge], {}, None),
    ("silent", "layout", once, [matrix], {}, None),
    ("silent", "layout", noisy, [matrix], {}, None),
    ("silent", "layout", refuses, [matrix], {}, None),
    ("reported", "layout", trips, [matrix], {}, None),
    ("silent", "determinism", torch.rand, [3, 4], {}, None),
    ("silent", "determinism", torch.empty, [3, 4], {}, "torch.empty"),
    ("silent", "determinism", torch.softmax, [torch.randn(4, 3), 0], {}, None),
    ("silent", "determinism", torch.cumsum, [torch.randn(4, 3), 0], {}, None),
    ("silent", "determinism", jagged, [torch.randn(4, 3), torch.tensor([0, 1, 4])], {}, None),
    ("silent", "kernel-path", torch.softmax, [torch.tensor([1.0, 100.0, 2.0]), 0], {}, None),
    ("silent", "kernel-path", torch.tril, [torch.randn(4, 4)], {}, None),
    ("silent", "kernel-path", torch.rand_like, [matrix], {}, None),
    ("silent", "placement", overflows, [torch.tensor([1.0, 3.0])], {}, None),
    ("reported", "placement", naive_softplus, [torch.tensor([1.0, 95.0])], {}, None),
    ("silent", "placement", naive_softplus, [torch.tensor([1.0, 1e30])], {}, None),
    (
        "silent",
        "placement",
        torch.softmax,
        [torch.tensor([1.0, 1e5]), 0],
        {"dtype": torch.float16},
        None,
    ),
    ("silent", "nan", torch.softmax, [torch.tensor([1.0, 1e5]), 0], {"dtype": torch.float16}, None),
    ("silent", "nan", torch.log, [torch.tensor([-1.0, 1.0])], {}, None),
    ("silent", "nan", torch.div, [torch.tensor([0, 1]), torch.tensor([0, 1])], {}, None),
    ("silent", "nan", torch.acos, [torch.tensor([2])], {}, None),
    ("silent", "nan", torch.mean, [torch.zeros(0)], {}, None),
    ("silent", "nan", torch.nn.functional.gumbel_softmax, [matrix], {"tau": 0.0}, None),
    ("reported", "nan", lambda x: float("nan"), [7], {}, "builtins.nan"),
    ("silent", "nan", lambda x: float("nan"), [None], {}, "builtins.nan"),
    ("silent", "reference64", torch.nextafter, [matrix, matrix + 1], {}, "torch.nextafter"),
    ("silent", "reference64", torch.floor, [torch.tensor([0.99999999, 2.0])], {}, None),
    ("silent", "reference64", cancelled, [huge], {}, None),
    (
        "silent",
        "reference64",
        torch.cos,
        [torch.tensor(0.5).bfloat16()],
        {"out": torch.ones(())},
        None,
    ),
    ("silent", "layout", unwritten, [matrix], {}, "torch.empty_like"),
    ("reported", "layout", unwritten, [matrix], {}, None),
    ("silent", "forms", swallows, [matrix], {}, None),
    ("reported", "forms", ignores_out, [matrix], {}, None),
    ("silent", "meta", refuses_type, [torch.ones(2, dtype=torch.int8)], {}, None),
    ("silent", "meta", refuses_sizes, [matrix], {"out": 1.0}, None),
    ("reported", "meta", refuses_sizes, [matrix], {"out": None}, None),
    ("reported", "meta", refuses_sizes, [matrix], {}, None),
    (
        "silent",
        "meta",
        torch.abs,
        [matrix.to(torch.complex64)],
        {"out": matrix.to(torch.complex64)},
        None,
    ),
    ("silent", "meta", torch.add, [matrix, matrix], {"out": 1.0}, None),
    ("silent", "determinism", lambda x, dim=None: odd_rows(x), [matrix], {}, None),
    ("reported", "determinism", odd_rows, [matrix], {}, None),
    (
        "silent",
        "kernel-path",
        all_of_them,
        [torch.tensor([1.0, -60.0, 2.0, 3.0, 4.0, 9.0])],
        {},
        None,
    ),
    ("silent", "layout", other_infinity, [matrix + 1j], {}, None),
    ("reported", "layout", finite_elsewhere, [matrix + 1j], {}, None),
    ("silent", "layout", fills, [matrix], {}, None),
    ("reported", "layout", promises, [matrix], {}, None),
    ("silent", "kernel-path", quotient, QUOTIENT, {}, None),
    ("reported", "kernel-path", rounded_quotient, QUOTIENT, {}, None),
    ("silent", "kernel-path", rotated, [torch.randn(6)], {}, None),
    ("reported", "kernel-path", neighbour, [torch.randn(6)], {}, None),
    ("silent", "determinism", batch_mean, [matrix], {}, None),
    ("reported", "determinism", scaled_in_part, [matrix], {}, None),
    (
        "silent",
        "kernel-path",
        torch.bernoulli,
        [matrix.sigmoid()],
        {"generator": torch.Generator()},
        None,
    ),
]
for expected, oracle, function, arguments, keywords, path in CASES:
    STATE["calls"] = 0
    name = "%s: %s" % (expected, getattr(function, "__name__", "?"))
    tell(name, oracle, judged(oracle, function, arguments, keywords, path=path))

layer = ([torch.randn(2, 4)], {})
for oracle in ("layout", "reference64", "placement", "determinism", "kernel-path"):
    for asked in ({}, {"dtype": torch.float32}):
        outcome = judged(oracle, torch.nn.Linear, [4, 3], asked, layer, "torch.nn.Linear")
        tell("silent: a layer with random weights", oracle, outcome)
outcome = judged("nan", torch.nn.LayerNorm, [4], {"eps": -1.0}, layer, "torch.nn.LayerNorm")
tell("silent: a setting that makes it undefined", "nan", outcome)
