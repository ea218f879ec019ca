"""An overflow inside the call was covered up, and the finite result is wrong.

# What it does

Clears the floating-point flags of the processor, makes the call, and reads them: overflow, division by zero, invalid
operation. When one is up although arguments and result are finite, the call is made again in float64. No flag there and
another result: an infinity or a NaN arose on the way and was turned into an ordinary number.

# Why it matters

An infinity in the result is seen. One that a later division turns into 0 is not: `x / norm(x)` is 0 everywhere
as soon as the squares overflow, and training goes on with it.

# When it stays silent

- No number is so large or small that its square or reciprocal leaves the type: `reference64` looks at those calls.
- The flag is up in float64, too: kernels compute both branches of a condition, or lanes that are thrown away.
- The result in float64 does not fit into the type, or agrees within ten times the type's tolerance.
- The call is random, already in float64, or refuses float64; or the arithmetic runs in another thread.
- Where the C library of the machine does not tell the flags.

# Example

```text
torch.nn.functional.normalize([1e20, 1e20]) = [0.0, 0.0], in float64: [0.7071, 0.7071]; an overflow was covered up
```
"""

import platform

from fissure_worker import dtypes
from fissure_worker.oracles import compare, foreign, promote
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.magnitude import is_ordinary
from fissure_worker.oracles.referee import REPRESENTABLE, part
from fissure_worker.oracles.reference64 import examine

PRICE = 3

#: Bits of `fenv.h`, by processor.
FLAGS = {
    "x86_64": {"invalid operation": 1, "division by zero": 4, "overflow": 8},
    "aarch64": {"invalid operation": 1, "division by zero": 2, "overflow": 4},
}.get(platform.machine(), {})
ALL = sum(FLAGS.values())

try:
    import ctypes

    LIBM = ctypes.CDLL("libm.so.6")
    # Another C library may lack them.
    CLEAR, TEST = LIBM.feclearexcept, LIBM.fetestexcept
except (ImportError, OSError, AttributeError):
    LIBM = None


def unavailable(library):
    if LIBM is None or not FLAGS:
        return "the C library does not tell the floating-point flags of this processor"
    return foreign.unread(library)


def check(call):
    if call.has("about dtype") or call.has("unordered") or call.random or call.mutates:
        return
    if not is_extreme(call) or not is_finite(call.baseline):
        return
    _, raised = watched(lambda: call.run(call.build()))
    if not raised:
        return
    reference, wide_raised = watched(call.promoted_result)
    if reference is None or wide_raised or call.referee.is_ambiguous():
        return
    for found in compare.differences(call.baseline, reference, check_dtype=False):
        observed, expected = part(call.baseline, found.path), part(reference, found.path)
        if found.kind != "values" or not fits(observed, expected):
            continue
        report = examine(call, found, reference)
        if report is not None:
            told = report.expected + "; covered up: " + ", ".join(raised)
            yield Report("covered up", report.observed, told, report.source)
            return


def watched(run):
    """What it returns, and the names of the flags that went up meanwhile."""
    CLEAR(ALL)
    result = run()
    up = TEST(ALL)
    return result, [name for name, bit in FLAGS.items() if up & bit]


def is_extreme(call):
    """Finite numbers of low precision, some of them so large or small that a product of two may not fit."""
    tensors = [tensor for _, tensor in call.tensors(call.used)]
    if not any(compare.dtype_name(tensor) in promote.NARROW for tensor in tensors):
        return False
    return call.referee.has_finite_input and not is_ordinary(call, call.build(), finite=False)


def is_finite(result):
    """Every number of it, and there is one."""
    tensors = [leaf for _, leaf in compare.leaves(result) if compare.is_tensor(leaf)]
    sizes = [abs(compare.wide(compare.plain(it)[0])[0]) for it in tensors if compare.is_inexact(it)]
    return bool(sizes) and all(bool((size < float("inf")).all()) for size in sizes)


def fits(observed, expected):
    """The true result is a number of the type, and no subnormal one."""
    if not compare.is_tensor(observed) or not compare.is_inexact(observed):
        return False
    largest = dtypes.INEXACT[compare.dtype_name(observed)].largest
    size = abs(compare.wide(compare.plain(expected)[0])[0])
    return bool((size < largest * REPRESENTABLE).all())
