"""NaN or infinity where the same call in float64 has a number, or the other way round.

# What it does

Makes the call once more in float64 and compares, element by element, where NaN, +Inf and -Inf
are. They are compared exactly: no tolerance makes a NaN out of a number.

# Why it matters

An infinity that should be a large number, or a NaN that should be an infinity, decides whether a
training run survives. Special values are also where kernels for different types differ most.

# When it stays silent

- The call is random, or already in float64, or refuses float64.
- A finite number of the input is so large that its square overflows its type, or so small that
  its reciprocal does.
- The true result is beyond the range of the type: then an infinity is right.
- The input has NaN or infinities, and elements of it meet each other in the result: zero times
  infinity comes out as the order of a sum has it.
- A change of the input's last digits moves the NaN or the infinity as well.

In TensorFlow and JAX, functions in `float32` and `float16`: infinities alone (for a NaN there is `nan`).

# Example

```text
softplus(tensor([100.])) = inf, in float64: 100.
```
"""

from fissure_worker.oracles import compare, placement_foreign, reference64_foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.magnitude import is_ordinary
from fissure_worker.oracles.referee import part
from fissure_worker.oracles.reference64 import source

PRICE = 3


unavailable = reference64_foreign.unavailable


def check(call):
    if call.is_foreign:
        yield from placement_foreign.check(call)
        return
    if call.has("about dtype") or call.random or not is_ordinary(call, call.build(), finite=False):
        return
    reference = call.referee.reference
    if reference is None:
        return
    for found in compare.differences(call.baseline, reference, check_dtype=False):
        if found.kind not in ("nan placement", "inf placement"):
            continue
        observed, expected = part(call.baseline, found.path), part(reference, found.path)
        referee = call.referee
        if compare.is_tensor(observed):
            if referee.excused_by_overflow(found.path, observed, expected):
                continue
            if referee.excused_by_input():
                continue
        if referee.excused_by_condition(found, observed, expected):
            continue
        texts = compare.short(found.observed), compare.short(found.expected)
        yield Report(found.kind, texts[0], texts[1], source(call, found))
        return
