"""What a function's name promises does not hold: a probability above 1, a negative variance.

# What it does

Knows, by name, what holds for every result of well-known functions whatever the input, and checks
it: ranges (a sigmoid lies in [0, 1], a variance is not negative), sums (softmax adds up to 1 along
its dimension), order (exp rises, sort sorts), and identities (rounding what is rounded changes
nothing, flipping twice gives the input back, `maximum(a, b)` is `maximum(b, a)`, tanh is odd).

# Why it matters

Code after the function relies on it: `sqrt(1 - cos**2)` becomes NaN when a cosine is 1.0000005, a
sampler gets stuck when probabilities do not add up. No second library and no higher precision is
needed to be sure.

# When it stays silent

Within a few units in the last place. About elements that are NaN: other oracles look at these.
For complex, quantized, and sparse tensors, for functions that draw random numbers, and where the
arguments change the promise (`var` with a correction that is larger than the number of elements,
`add` with an `alpha`).

# Example

```
torch.nn.functional.cosine_similarity(x, x)
observed  1.0000119
expected  every element between -1 and 1
```
"""

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

PRICE = 3
ONLY = ("torch",)

PI = 3.141592653589793
INFINITY = float("inf")

#: name: (lowest, highest) of every element.
RANGES = {
    "sigmoid": (0, 1),
    "expit": (0, 1),
    "hardsigmoid": (0, 1),
    "softmax": (0, 1),
    "softmin": (0, 1),
    "ndtr": (0, 1),
    "log_softmax": (-INFINITY, 0),
    "logsigmoid": (-INFINITY, 0),
    "log_ndtr": (-INFINITY, 0),
    "exp": (0, INFINITY),
    "exp2": (0, INFINITY),
    "expm1": (-1, INFINITY),
    "erf": (-1, 1),
    "erfc": (0, 2),
    "tanh": (-1, 1),
    "softsign": (-1, 1),
    "sin": (-1, 1),
    "cos": (-1, 1),
    "sinc": (-0.21723362821122166, 1),
    "cosine_similarity": (-1, 1),
    "corrcoef": (-1, 1),
    "sign": (-1, 1),
    "frac": (-1, 1),
    "atan": (-PI / 2, PI / 2),
    "arctan": (-PI / 2, PI / 2),
    "atan2": (-PI, PI),
    "arctan2": (-PI, PI),
    "asin": (-PI / 2, PI / 2),
    "arcsin": (-PI / 2, PI / 2),
    "acos": (0, PI),
    "arccos": (0, PI),
    "cosh": (1, INFINITY),
    "acosh": (0, INFINITY),
    "arccosh": (0, INFINITY),
    "abs": (0, INFINITY),
    "absolute": (0, INFINITY),
    "square": (0, INFINITY),
    "sqrt": (0, INFINITY),
    "rsqrt": (0, INFINITY),
    "relu": (0, INFINITY),
    "relu6": (0, 6),
    "var": (0, INFINITY),
    "std": (0, INFINITY),
    "nanvar": (0, INFINITY),
    "nanstd": (0, INFINITY),
    "norm": (0, INFINITY),
    "vector_norm": (0, INFINITY),
    "matrix_norm": (0, INFINITY),
    "hypot": (0, INFINITY),
    "dist": (0, INFINITY),
    "cdist": (0, INFINITY),
    "pdist": (0, INFINITY),
    "pairwise_distance": (0, INFINITY),
    "mse_loss": (0, INFINITY),
    "l1_loss": (0, INFINITY),
    "huber_loss": (0, INFINITY),
    "smooth_l1_loss": (0, INFINITY),
    "svdvals": (0, INFINITY),
    "i0": (1, INFINITY),
    "entr": (-INFINITY, 0.36787944117144233),
}
#: Arguments with which the ranges above do not hold.
BREAKS_RANGE = frozenset("correction ddof weight unbiased beta".split())
#: A larger input never gives a smaller result.
RISING = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sigmoid expit tanh erf atan arctan asin arcsin "
    "asinh arcsinh sinh atanh arctanh relu relu6 floor ceil trunc fix round sign logsigmoid "
    "hardsigmoid softsign ndtr log_ndtr logit acosh arccosh erfinv".split()
)
#: A second time changes nothing.
IDEMPOTENT = frozenset(
    "round floor ceil trunc fix rint abs absolute fabs relu relu6 hardtanh sign sgn clamp clip triu "
    "tril nan_to_num real msort positive".split()
)
#: A second time undoes the first.
INVOLUTION = frozenset(
    "neg negative flip fliplr flipud t conj conj_physical logical_not bitwise_not transpose "
    "swapaxes swapdims".split()
)
#: The two arguments may change places.
COMMUTATIVE = frozenset(
    "add mul multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and "
    "bitwise_or bitwise_xor eq ne equal not_equal hypot gcd lcm logaddexp logaddexp2 "
    "dist".split()
)
#: f(-x) is -f(x), f(-x) is f(x).
ODD = frozenset(
    "sin tan tanh sinh asin arcsin atan arctan asinh arcsinh atanh arctanh erf erfinv cbrt neg "
    "negative sign trunc fix softsign tanhshrink".split()
)
EVEN = frozenset("cos cosh abs absolute square sinc i0 i0e".split())


def check(call):
    name = call.path.rpartition(".")[2].rstrip("_").lower()
    result = call.baseline
    if name == "sort" and isinstance(result, tuple) and len(result) == 2:
        yield from sorted_values(call)
    if not usable(result) or call.random or "quantized" in call.path:
        return
    if compare.is_complex(result) or any(
        compare.is_complex(tensor) for _, tensor in call.tensors(call.used)
    ):
        return
    for test in (in_range, sums_to_one, rising, identities):
        yield from test(call, name, result)


def usable(result):
    return compare.is_torch(result) and str(result.layout) == "torch.strided"


def claim(call, detail, expected, lines):
    """A report that the referee has no say in: its own source decides."""
    source = call.source(lines)
    call.announce(detail, source)
    return Report(detail, "", expected, source)


def in_range(call, name, result):
    if name not in RANGES or BREAKS_RANGE & names_of(call) or not result.is_floating_point():
        return
    low, high = RANGES[name]
    slack = 8 * call.library.finfo(result.dtype).eps
    outside = result.detach()
    outside = (outside < low - slack * abs(low or 1)) | (outside > high + slack * abs(high or 1))
    if not outside.any():
        return
    tests = []
    if low > -INFINITY:
        tests.append("(result < %r - slack)" % low)
    if high < INFINITY:
        tests.append("(result > %r + slack)" % high)
    expected = "every element between %s and %s" % (low, high)
    yield claim(
        call,
        "out of its range",
        expected,
        [
            "{build}",
            "result = {call}.detach()",
            "slack = %d * torch.finfo(result.dtype).eps" % (32 if PI in (low, high) else 8),
            "wrong = " + " | ".join(tests),
            "return bool(wrong.any()), str(result[wrong][:8]), %r" % expected,
        ],
    )


def names_of(call):
    """Every argument's name."""
    found = set()
    for part, values in enumerate(call.used.parts()):
        keys = values if isinstance(values, dict) else range(len(values))
        found.update(call.parameter(part, key) for key in keys)
    return found


def sums_to_one(call, name, result):
    """Softmax along its dimension; a dimension that is left to the library is not guessed."""
    if name not in ("softmax", "softmin", "log_softmax") or not result.is_floating_point():
        return
    place = None
    for candidate, value in call.used.values(call.parameter):
        named = candidate.name == "dim" or candidate.keys == (1,) and candidate.part == 0
        if named and type(value) is int:
            place = candidate
    if place is None or not result.numel():
        return
    values = "{call}.detach().double()" + (".exp()" if name == "log_softmax" else "")
    yield claim(
        call,
        "does not sum to one",
        "1 along the dimension",
        [
            "{build}",
            "dim = " + place.expression,
            "result = %s" % values,
            "total = result.sum(dim)",
            "wrong = abs(total - 1) > %r" % (16 * call.library.finfo(result.dtype).eps),
            "return bool(wrong.any()), str(total[wrong][:8]), '1 along the dimension'",
        ],
    )


def only_tensor(call):
    """The place of the one tensor argument, if the call has just one and it is the first."""
    tensors = call.tensors(call.used)
    if len(tensors) != 1:
        return None
    place, _ = tensors[0]
    return place if place.keys in ((0,), ("input",), ("x",)) else None


def rising(call, name, result):
    place = only_tensor(call)
    if name not in RISING or place is None or call.is_layer or not result.is_floating_point():
        return
    if result.shape != call.used.get(place).shape or result.numel() < 2 or len(names_of(call)) > 1:
        return
    yield claim(
        call,
        "not rising",
        "results in the order of the inputs",
        [
            "{build}",
            "input = %s.detach().clone().flatten()" % place.expression,
            "result = {call}.detach().flatten()",
            "order = input.argsort()",
            "input, result = input[order], result[order]",
            "finite = input.isfinite() & result.isfinite()",
            "input, result = input[finite], result[finite]",
            "before, after = result[:-1].double(), result[1:].double()",
            "wrong = after < before - %r * before.abs()" % (8 * call.library.finfo(result.dtype).eps),
            "observed = str([before[wrong][:4], after[wrong][:4]])",
            "return bool(wrong.any()), observed, 'results in the order of the inputs'",
        ],
    )


def sorted_values(call):
    """The values that sort returns are those at the places it returns, in order."""
    arguments = call.used.positional
    if call.used.keywords or len(arguments) != 1 or not compare.is_torch(arguments[0]):
        return
    if not arguments[0].dim() or compare.is_complex(arguments[0]) or arguments[0].is_quantized:
        return
    yield claim(
        call,
        "not the input in ascending order",
        "the input in ascending order",
        [
            "{build}",
            "input = arguments[0].clone()",
            "values, indices = {call}",
            "wrong = (values != input.gather(-1, indices)) & ~values.isnan()",
            "wrong[..., 1:] |= values[..., 1:] < values[..., :-1]",
            "return bool(wrong.any()), str(values), 'the input in ascending order'",
        ],
    )


def identities(call, name, result):
    """What needs a second call."""
    place = only_tensor(call)
    if place is not None and not call.is_layer:
        if name in IDEMPOTENT:
            yield from second(call, "not idempotent", place, "{call}", "%s")
        if name in INVOLUTION:
            yield from second(call, "not undone by a second time", place, "{call}", None)
        floating = result.is_floating_point() and call.used.get(place).is_floating_point()
        if floating and len(names_of(call)) == 1:
            if name in ODD:
                yield from mirrored(call, "not odd", place, "-")
            if name in EVEN:
                yield from mirrored(call, "not even", place, "")
    if name in COMMUTATIVE and not call.used.keywords and len(call.used.positional) == 2:
        if all(compare.is_torch(value) for value in call.used.positional):
            yield from swapped(call)


def second(call, detail, place, applied, expected):
    """The call on its own result, compared with the result or (`expected` None) with the input."""
    arguments = call.build()
    wanted = call.baseline if expected else arguments.get(place).clone()
    given = call.baseline.detach().clone()
    if given.dtype != arguments.get(place).dtype:
        return
    observed, error = call.attempt(arguments.replace(place, given))
    if error is not None:
        return
    found = compare.difference(observed, wanted)
    if found is None:
        return
    lines = ["{build}"]
    if not expected:
        lines.append("expected = %s.clone()" % place.expression)
    lines += ["once = {call}", "{build}", place.assignment(arguments, "once.clone()")]
    if expected:
        lines.insert(2, "expected = once.clone()")
    lines.append("observed = " + applied)
    yield Report(
        "%s: %s" % (detail, found.kind),
        compare.short(found.observed),
        compare.short(found.expected),
        call.source(lines + found.lines),
    )


def mirrored(call, detail, place, sign):
    arguments = call.build()
    negative = -arguments.get(place)
    observed, error = call.attempt(arguments.replace(place, negative))
    if error is not None:
        return
    wanted = -call.baseline if sign else call.baseline
    found = compare.difference(observed, wanted)
    if found is not None:
        change = place.assignment(arguments, "-" + place.expression)
        yield Report(
            "%s: %s" % (detail, found.kind),
            compare.short(found.observed),
            compare.short(found.expected),
            call.variant_source([change], found, expected=sign + "%s"),
        )


def swapped(call):
    arguments = call.build()
    arguments.positional.reverse()
    change = ["arguments.reverse()"]
    report = call.compare_variant("arguments in the other order", change, arguments)
    if report is not None:
        yield report
