"""The result is further from the same call in float64 than its type's rounding explains.

# What it does

Makes the call once more with every tensor of low precision (float16, bfloat16, float32,
complex64) as float64, layers and `dtype` arguments included, and compares values.

# Why it matters

A wrong constant, a wrong branch for one type, an algorithm that cancels: all of them give numbers
of the right size. The wider run has the same code above the kernel and much smaller errors in it.

# When it stays silent

- The call is random, or already in float64, or refuses float64.
- The error is within ten times the type's tolerance for the largest element, or within what a change of the input's last
  digits does to the result (cancellation, an ill-conditioned matrix, a step of `floor`). Of a function that is not the
  library's own: within two last digits of the largest argument.
- NaN and infinities: `placement` and `nan` look at those.
- Decompositions, whose vectors are defined up to a sign or a rotation.
- In TensorFlow and JAX: layers, and types other than float32 and float16.
- Shapes: what a function does with a type may be its purpose (`view`, `nextafter`).

# Example

```text
half(x) = 1.5625, in float64: 1.25
```
"""

from fissure_worker import dtypes
from fissure_worker.oracles import compare, promote, reference64_foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.magnitude import is_ordinary

PRICE = 3
#: Times the usual tolerance: the wider run is no second opinion of the same precision.
SLACK = 10.0
#: Last digits of the largest argument that operations in Python may lose together.
ROUNDINGS = 2.0


unavailable = reference64_foreign.unavailable


def check(call):
    if call.is_foreign:
        yield from reference64_foreign.check(call)
        return
    about = call.has("about dtype") or call.has("unordered")
    if about or call.random or not is_ordinary(call, call.build(), finite=False):
        return
    reference = call.referee.reference
    if reference is None or call.referee.is_ambiguous():
        return
    for found in compare.differences(call.baseline, reference, check_dtype=False):
        if found.kind != "values" or isinstance(found.observed, str):
            # A text may well tell the element types.
            continue
        room = 0.0 if call.is_of_library else last_digits(call)
        report = examine(call, found, reference, room)
        if report is not None:
            yield report
            return


def examine(call, found, reference, room=0.0):
    """A difference in values, by the measure of this oracle; `room`: what is explained anyway."""
    from fissure_worker.oracles.referee import part

    observed, expected = part(call.baseline, found.path), part(reference, found.path)
    if compare.is_tensor(observed):
        if call.referee.is_index(found.path, observed):
            return None
        rtol, atol = coarsest(call, observed)
        rtol, atol = rtol * SLACK, atol * SLACK + rtol * SLACK * compare.largest(expected)
        atol = max(atol, room)
        if not compare.is_inexact(observed) and within(observed, expected, rtol, atol):
            # Whole numbers that were computed with in floats.
            return None
        wider = compare.differences(observed, expected, rtol, atol, check_dtype=False)
    else:
        wider = compare.differences(observed, expected, 1e-5, 1e-4, check_dtype=False)
    found_path = found.path
    found = next(iter(wider), None)
    if found is None or found.kind != "values":
        return None
    found.path = found_path
    if call.referee.excused_by_condition(found, observed, expected):
        return None
    texts = compare.short(found.observed), compare.short(found.expected)
    return Report("values", texts[0], texts[1], source(call, found))


def within(observed, expected, rtol, atol):
    first, second = (compare.wide(compare.plain(it)[0])[0] for it in (observed, expected))
    return not bool((abs(first - second) > atol + rtol * abs(second)).any())


def last_digits(call):
    """Of the largest argument. What is written in a few operations rounds after each of them: `x - mean(x)` is the
    difference of two such numbers."""
    tensors = [tensor for _, tensor in call.tensors(call.used)]
    names = [compare.dtype_name(tensor) for tensor in tensors]
    epsilon = max(
        [dtypes.INEXACT[name].epsilon for name in names if name in dtypes.INEXACT] or [0.0]
    )
    return ROUNDINGS * epsilon * max([compare.largest(tensor) for tensor in tensors] or [0.0])


def coarsest(call, result):
    """The tolerance of the lowest precision among result and arguments: a result that is stored in
    a wider type than it was computed in is no better for it."""
    tensors = [tensor for _, tensor in call.tensors(call.used)]
    floating = [it for it in tensors if compare.dtype_name(it) in promote.NARROW]
    return max(compare.tolerance(tensor) for tensor in [result] + floating)


def source(call, found):
    """The call as it is against the call in float64."""
    arguments = call.build()
    _, lines = promote.promoted(call, arguments)
    wide_call = promote.call_source(call)
    text = ["{build}", "observed = {call}" + found.path, "{build}"]
    text.extend(lines)
    if call.draws and wide_call != "{call}":
        text.append("torch.manual_seed(0)")
    text.append("expected = " + wide_call + found.path)
    text.extend(found.lines)
    return call.source(text)
