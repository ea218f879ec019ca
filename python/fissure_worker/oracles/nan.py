"""The result holds a NaN that the input does not explain.

# What it does

Looks at a NaN in the result of a call whose numbers are finite and of ordinary size. The same call
in another precision (float64, or float32 where the input is float64 already) is the judge: if it
has no NaN, the NaN comes from the kernel and not from the definition of the function.

# Why it matters

A NaN spreads: one of them in a layer turns a whole model into NaN, without any error, often
hours into training.

# When it stays silent

- A number of the input is NaN or infinite already.
- A number is so large that its square overflows its type (about 1.8e19 for `float32`, 256 for
  `float16`), or a type that the call asks for (`dtype=`), or so small that its reciprocal does: an
  overflow on the way explains the NaN.
- A number that stands alone (not inside a tensor) is beyond 1024: as an exponent or a factor it
  makes anything overflow.
- A tensor has no elements (the mean of nothing is NaN by definition), or the input holds no number
  at all (`None`, a text).
- The other precision has a NaN too: the function is undefined there (`log(-1)`, `0 / 0`, a
  softmax with temperature 0), or a setting such as a negative `eps` makes it so.
- The true result is beyond the range of the type.
- The function returns uninitialised memory (`empty`).

In TensorFlow, JAX and MXNet as well; layers in TensorFlow only, whose weights are then made in `float64`.

# Example

```text
softplus_naive(tensor([100.])) = nan, in float64: 100.
```
"""

from fissure_worker.oracles import compare, foreign, nan_foreign, promote
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.magnitude import is_ordinary

PRICE = 2


def unavailable(library):
    if getattr(library, "__name__", None) in foreign.CASTS:
        return None
    return foreign.unread(library)


def is_number(value):
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def check(call):
    if call.is_foreign:
        yield from nan_foreign.check(call)
        return
    path = nan_path(call.baseline)
    if path is None or call.has("uninitialised"):
        return
    arguments = call.build()
    if not is_ordinary(call, arguments, finite=True):
        return
    other, lines = other_precision(call, arguments)
    if other is None:
        # Nothing but plain numbers: no other precision can be asked.
        if not any(is_number(value) for _, value in arguments.values(call.parameter)):
            return
        yield Report("NaN", compare.short(call.baseline), "a number", nan_source(call, path))
        return
    wide = lines and "float64" in lines[0] or call.is_layer
    result, error = call.attempt(other, change_layer=promote.widened if wide else None)
    if error is not None or nan_path(result) is not None:
        return
    observed = part(call.baseline, path)
    if compare.is_tensor(observed) and call.referee.excused_by_overflow(
        path, observed, part(result, path)
    ):
        return
    if call.referee.excused_by_perturbation(
        compare.Difference("nan placement", path, None, None, []),
        part(call.baseline, path),
        part(result, path),
    ):
        return
    yield Report(
        "NaN",
        compare.short(part(call.baseline, path)),
        compare.short(part(result, path)),
        compared_source(call, path, lines),
    )


def part(result, path):
    return eval("result" + path, {"result": result})


def nan_path(result):
    """Where the first NaN is."""
    for path, leaf in compare.leaves(result):
        if has_nan(leaf):
            return path
    return None


def has_nan(leaf):
    if compare.is_tensor(leaf):
        if not compare.is_inexact(leaf) or getattr(leaf, "is_quantized", False):
            return False
        leaf = compare.plain(leaf)[0]
        return bool((leaf != leaf).any())
    return isinstance(leaf, (float, complex)) and leaf != leaf


def other_precision(call, arguments):
    """(arguments, statements): float64, or float32 for what is float64, or float64 for integers;
    (None, []) when there are no numbers in tensors."""
    promoted, lines = promote.promoted(call, arguments)
    if lines:
        return promoted, lines
    changed = []
    for place, tensor in call.tensors(arguments):
        name = compare.dtype_name(tensor)
        if not compare.is_torch(tensor) or name == "bool" or tensor.is_quantized:
            continue
        wanted = {"float64": "float32", "complex128": "complex64"}.get(name, "float64")
        import torch

        changed.append(place.assignment(arguments, "%s.to(torch.%s)" % (place.expression, wanted)))
        arguments = arguments.replace(place, tensor.to(getattr(torch, wanted)))
    return (arguments, changed) if changed else (None, [])


def nan_source(call, path):
    """For plain numbers: there is a NaN."""
    return call.source(
        [
            "{build}",
            "observed = {call}" + path,
            "return observed != observed, str(observed), 'a number'",
        ]
    )


def compared_source(call, path, lines):
    """A NaN here, and none in the other precision."""
    wide = any("float64" in line or "complex128" in line for line in lines)
    other = promote.call_source(call) if wide else "{call}"
    text = ["{build}", "observed = {call}" + path, "{build}"]
    text.extend(lines)
    if call.draws and other != "{call}":
        text.append("torch.manual_seed(0)")
    text.extend(
        [
            "expected = " + other + path,
            "wrong = bool((observed != observed).any()) and not bool((expected != expected).any())",
            "return wrong, str(observed), str(expected)",
        ]
    )
    return call.source(text)
