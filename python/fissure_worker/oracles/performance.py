"""A lower precision is many times slower than a higher one, or time grows faster than the input.

# What it does

Takes the processor time of the call in `float64`, `float32`, `float16` and `bfloat16`, as far as it accepts them: a lower
precision that takes more than ten times as long as a higher one, and more than a millisecond, is
reported. Then it makes the first tensor longer, four times and sixteen times, and reports when the
time per element of arguments and result rises by the same factors as the length.

# Why it matters

Half precision is chosen for speed. A missing kernel that falls back to a loop turns it into the
opposite, and nothing says so. Quadratic time works in every test and fails in production.

# When it stays silent

Below a millisecond, whatever the factor. When the median of five runs does not show it, or not again
in the next five. For functions whose cost is known to grow faster than their input (sorting aside:
decompositions, `matrix_power`, `kron`), for random functions, and for calls that take longer than
a tenth of a second to begin with.

# Example

```
torch.some_function(x.half())
observed  38 ms in float16
expected  at most ten times the 0.4 ms of float32
```
"""

import time

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

PRICE = 60
ONLY = ("torch",)

RUNS = 5
FACTOR = 10.0
LEAST_TIME = 1e-3
SLOW = 0.1
#: Higher precision first.
PRECISIONS = ("float64", "float32", "float16", "bfloat16")
#: The first tensor is made longer by these factors.
LONGER = (4, 16)
#: Time per element may rise by this factor between the two lengths, which differ by four.
RISE = 2.5
LEAST_LONG = 5e-3
#: More elements than this are not made even longer.
LARGEST = 1 << 16


def check(call):
    if call.seconds > SLOW or call.random or call.mutates or call.is_layer:
        return
    tensors = [(place, it) for place, it in call.tensors(call.used) if compare.is_torch(it)]
    if not tensors or any(str(it.layout) != "torch.strided" for _, it in tensors):
        return
    yield from by_precision(call, tensors)
    if not call.has("superlinear"):
        yield from by_length(call, tensors)


def median_time(call, arguments):
    """Seconds of one call, or None when it is refused. Processor time: what else the machine does
    must not count. The first run is left out; it says whether the others are worth it."""
    times = []
    for number in range(RUNS + 1):
        call.seed()
        begin = time.process_time()
        result, error = call.attempt(arguments)
        elapsed = time.process_time() - begin
        if error is not None:
            return None
        del result
        if number:
            times.append(elapsed)
        if elapsed > 20 * SLOW:
            return elapsed
    return sorted(times)[RUNS // 2]


def by_precision(call, tensors):
    floating = [place for place, it in tensors if it.is_floating_point()]
    if not floating:
        return
    measured = []
    for name in PRECISIONS:
        dtype = getattr(call.library, name)
        arguments = call.build()
        for place in floating:
            arguments = arguments.replace(place, arguments.get(place).to(dtype))
        taken = median_time(call, arguments)
        if taken is None:
            continue
        for higher, before in measured:
            if taken > LEAST_TIME and taken > FACTOR * before:
                yield Report(
                    "%s slower than %s" % (name, higher),
                    "%.3f ms in %s" % (taken * 1e3, name),
                    "at most %d times the %.3f ms of %s" % (FACTOR, before * 1e3, higher),
                    precision_source(call, floating, name, higher),
                )
                break
        measured.append((name, taken))


TIMING = [
    "def median(arguments, keywords):",
    "    times = []",
    "    for _ in range(%d):" % (RUNS + 1),
    "        begin = time.process_time()",
    "        call(arguments, keywords)",
    "        times.append(time.process_time() - begin)",
    "    return sorted(times[1:])[%d]" % (RUNS // 2),
]


def precision_source(call, places, lower, higher):
    fresh = call.build()
    lines = ["import time"] + TIMING + ["taken = {}", "for dtype in (torch.%s, torch.%s):"]
    lines[-1] = lines[-1] % (higher, lower)
    lines.append("    {build}")
    for place in places:
        lines.append("    " + place.assignment(fresh, place.expression + ".to(dtype)"))
    lines += [
        "    taken[dtype] = median(arguments, keywords)",
        "high, low = taken[torch.%s], taken[torch.%s]" % (higher, lower),
        "observed = '%%.3f ms in %s' %% (low * 1e3)" % lower,
        "expected = 'at most %d times the %%.3f ms of %s' %% (high * 1e3)" % (FACTOR, higher),
        "return low > %r and low > %r * high, observed, expected" % (LEAST_TIME, FACTOR),
    ]
    return call.source(lines)


def by_length(call, tensors):
    """Only the first tensor, along its first dimension: everything else stays as it is."""
    place, tensor = tensors[0]
    if not tensor.dim() or not tensor.numel() or tensor.numel() > LARGEST:
        return
    per_element = []
    for factor in LONGER:
        arguments = longer(call, place, factor)
        found, error = call.attempt(arguments)
        if error is not None:
            return
        taken = median_time(call, arguments)
        if taken is None:
            return
        per_element.append((taken, taken / (elements(arguments, call) + size(found))))
    if per_element[1][0] < LEAST_LONG or per_element[1][1] < RISE * per_element[0][1]:
        return
    yield Report(
        "time grows faster than the length of %s" % place,
        "%.1f times the time per element" % (per_element[1][1] / per_element[0][1]),
        "the same time per element",
        length_source(call, place),
    )


def longer(call, place, factor):
    arguments = call.build()
    tensor = arguments.get(place)
    return arguments.replace(place, tensor.repeat(factor, *[1] * (tensor.dim() - 1)))


def size(result):
    return sum(leaf.numel() for _, leaf in compare.leaves(result) if compare.is_torch(leaf))


def elements(arguments, call):
    return sum(tensor.numel() for _, tensor in call.tensors(arguments) if compare.is_torch(tensor))


def length_source(call, place):
    fresh = call.build()
    count = fresh.get(place).dim() - 1
    lines = (
        ["import time"] + TIMING + ["taken = []", "for factor in %r:" % (LONGER,), "    {build}"]
    )
    repeats = ", ".join(["factor"] + ["1"] * count)
    lines.append("    tensor = %s.repeat(%s)" % (place.expression, repeats))
    lines.append("    " + place.assignment(fresh, "tensor"))
    lines += [
        "    taken.append(median(arguments, keywords))",
        "rise = taken[1] / taken[0]",
        "observed = '%.1f times the time for four times the length' % rise",
        "wrong = taken[1] > %r and rise > %r" % (LEAST_LONG, 4 * RISE),
        "return wrong, observed, 'about four times the time'",
    ]
    return call.source(lines)
