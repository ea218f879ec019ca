"""What a function's name promises does not hold: a probability above 1, a negative variance.

# What it does

Knows, from the table of functions, what holds for every result of well-known functions whatever the input, and checks
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

#: Arguments with which the ranges of the table do not hold.
BREAKS_RANGE = frozenset("correction ddof weight unbiased beta".split())


def check(call):
    function = call.function
    if function is None:
        return
    result = call.baseline
    if call.has("sorted") and isinstance(result, tuple) and len(result) == 2:
        yield from sorted_values(call)
    if not usable(result) or call.random or "quantized" in call.path.split("."):
        return
    if compare.is_complex(result) or any(
        compare.is_complex(tensor) for _, tensor in call.tensors(call.used)
    ):
        return
    for test in (in_range, sums_to_one, rising, identities):
        yield from test(call, function, result)


def usable(result):
    return compare.is_torch(result) and str(result.layout) == "torch.strided"


def claim(call, detail, expected, lines):
    """A report that the referee has no say in: its own source decides."""
    source = call.source(lines)
    call.announce(detail, source)
    return Report(detail, "", expected, source)


def in_range(call, function, result):
    if function.range is None or BREAKS_RANGE & names_of(call) or not result.is_floating_point():
        return
    low, high = function.range
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


def sums_to_one(call, function, result):
    """Softmax along its dimension; a dimension that is left to the library is not guessed."""
    if function.sums is None or not result.is_floating_point():
        return
    place = None
    for candidate, value in call.used.values(call.parameter):
        named = candidate.name == "dim" or candidate.keys == (1,) and candidate.part == 0
        if named and type(value) is int:
            place = candidate
    if place is None or not result.numel():
        return
    values = "{call}.detach().double()" + (".exp()" if function.sums == "exp one" else "")
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


def rising(call, function, result):
    place = only_tensor(call)
    if not call.has("rising") or place is None or call.is_layer or not result.is_floating_point():
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
            "wrong = after < before - %r * before.abs()"
            % (8 * call.library.finfo(result.dtype).eps),
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


def identities(call, function, result):
    """What needs a second call. The form in place is left out: it keeps the shape and the type of what it writes to."""
    if any(result is tensor for _, tensor in call.tensors(call.used)):
        return
    place = only_tensor(call)
    if place is not None and not call.is_layer:
        if call.has("idempotent"):
            yield from second(call, "not idempotent", place, "{call}", "%s")
        if call.has("involution"):
            yield from second(call, "not undone by a second time", place, "{call}", None)
        floating = result.is_floating_point() and call.used.get(place).is_floating_point()
        if floating and len(names_of(call)) == 1:
            if call.has("odd"):
                yield from mirrored(call, "not odd", place, "-")
            if call.has("even"):
                yield from mirrored(call, "not even", place, "")
    if call.has("commutative") and not call.used.keywords and len(call.used.positional) == 2:
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
