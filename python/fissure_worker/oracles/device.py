"""The same call on a GPU gives something else than on the CPU.

# What it does

Copies every tensor to the accelerator that the library finds (CUDA, ROCm, XPU, MPS), makes the call
there, and compares with the CPU's result.

# Why it matters

Each device has its own kernels. A difference is a wrong result on one of them, and models are
often made on one and used on another.

# When it stays silent

On a machine without an accelerator it does not run at all. For random functions, for dtypes or
functions that a device lacks, for rounding (the `float64` result decides), and for layers, whose
random weights differ by device.

# Example

```
torch.some_function(x.to("cuda"))
observed  2.0 (cuda)
expected  1.0 (cpu)
```
"""

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

PRICE = 3
ONLY = ("torch",)


def devices(library):
    """Names of the accelerators that are there."""
    found = []
    for name in ("cuda", "xpu"):
        module = getattr(library, name, None)
        if module is not None and module.is_available():
            found.append(name)
    backends = getattr(library, "backends", None)
    if hasattr(backends, "mps") and backends.mps.is_available():
        found.append("mps")
    return found


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    if devices(library):
        return None
    return "the library finds no GPU or other accelerator"


def check(call):
    if call.is_layer or call.random or call.mutates:
        return
    for device in devices(call.library):
        yield from on_device(call, device)


def on_device(call, device):
    arguments = call.build()
    places = [(place, it) for place, it in call.tensors(arguments) if compare.is_torch(it)]
    if not places:
        return
    lines = ["{build}", "expected = {call}", "{build}"]
    try:
        for place, tensor in places:
            text = "%s.to(%r)" % (place.expression, device)
            lines.append(place.assignment(arguments, text))
            arguments = arguments.replace(place, tensor.to(device))
    except Exception:
        # A dtype or layout that the device does not have.
        return
    lines.append("observed = {call}")
    call.announce(device, call.source(lines + ["return False, str(observed), str(expected)"]))
    observed, error = call.attempt(arguments)
    if error is not None:
        if not compare.is_unsupported(error):
            lines[-1:] = [
                "try:",
                "    observed = {call}",
                "except Exception as error:",
                "    return True, repr(error), str(expected)",
                "return False, str(observed), str(expected)",
            ]
            text = "%s: raises %s" % (device, type(error).__name__)
            yield Report(text, repr(error), compare.short(call.baseline), call.source(lines))
        return
    observed = returned(observed)
    found = call.disagreement(observed)
    if found is not None:
        lines[-1] = "observed = {call}%s.cpu()" % found.path
        if found.path:
            lines.append("expected = expected" + found.path)
        yield Report(
            "%s: %s" % (device, found.kind),
            compare.short(found.observed),
            compare.short(found.expected),
            call.source(lines + found.lines),
        )


def returned(result):
    """The same result with its tensors on the CPU."""
    if compare.is_torch(result):
        return result.cpu()
    if isinstance(result, (list, tuple)):
        items = [returned(item) for item in result]
        return items if isinstance(result, list) else tuple(items)
    return result
