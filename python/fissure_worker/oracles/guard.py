"""The call reads or writes beyond the memory of its arguments.

# What it does

Makes the call again with each tensor argument in memory of its own, the last byte of its elements at the end of a
page and a megabyte of pages behind it that may not be touched, and once more with forbidden pages before the first byte. A
kernel that goes one byte too far, or far too far, ends the process there, instead of reading whatever lies beside the tensor. The
results must be those of the plain call, too: the elements are the same, only less aligned. A function of torch that
takes `out=` writes to such memory as well, once with each page.

# Why it matters

A read beyond the end gives a number that depends on the neighbour in memory, a write corrupts it. Without such pages
neither is seen until something else fails.

# When it stays silent

For tensors without elements, sparse and quantized ones, arguments that share memory, and functions that are about
addresses or layout. Weights that a layer makes by itself are not guarded.

# Example

```
x = the 12 bytes before a forbidden page
native.some_function(x)
observed  Segmentation fault (reads 16 bytes)
expected  a result, as with x in ordinary memory
```
"""

import ctypes
import functools

from fissure_worker.oracles import compare, forms
from fissure_worker.oracles.call import Report

PRICE = 3
#: Bytes of one tensor; larger ones are left alone.
LARGEST = 1 << 22

#: The same as `guarded`, as a check source writes it; `%s` makes the tensor from `memory`.
SOURCE = [
    "import ctypes, mmap",
    "libc = ctypes.CDLL(None)",
    "def guarded(tensor, at_end):",
    "    # The same elements between pages that may not be touched.",
    "    size = tensor.nbytes if hasattr(tensor, 'nbytes') else tensor.numel() * tensor.element_size()",
    "    room, beside = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE, 1 << 20",
    "    memory = mmap.mmap(-1, room + 2 * beside)",
    "    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))",
    "    offset = beside + (room - size if at_end else 0)",
    "    made = %s",
    "    libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(beside), 0)",
    "    libc.mprotect(ctypes.c_void_p(start + beside + room), ctypes.c_size_t(beside), 0)",
    "    return made",
]
TORCH = (
    "torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=offset)"
    ".view(tensor.shape).copy_(tensor.detach())"
)
NUMPY = "__import__('numpy').frombuffer(memory, tensor.dtype, tensor.size, offset).reshape(tensor.shape); made[...] = tensor"
LIBC = None


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    global LIBC
    try:
        LIBC = ctypes.CDLL(None)
    except OSError:
        return "the C library cannot be called"
    if not hasattr(LIBC, "mprotect"):
        return "the system has no pages that may not be touched"
    if library.__name__ == "torch" and not hasattr(library, "frombuffer"):
        return "torch.frombuffer needs PyTorch 1.10 or newer"
    return None


def check(call):
    if call.random or call.has("about layout") or call.has("varies"):
        return
    arguments = call.build()
    places = [(place, it) for place, it in call.tensors(arguments) if suitable(it)]
    if not places or share_memory([it for _, it in call.tensors(arguments)]):
        return
    make = TORCH if compare.is_torch(places[0][1]) else NUMPY
    lines, guarded = helper(make)
    for name, at_end in (
        ("a forbidden page behind the elements", True),
        ("a forbidden page before them", False),
    ):
        changed = call.build()
        change = list(lines)
        for place, _ in places:
            change.append(place.assignment(changed, "guarded(%s, %r)" % (place.expression, at_end)))
        for place, _ in places:
            changed = changed.replace(place, guarded(changed.get(place), at_end))
        report = call.compare_variant(name, change, changed)
        if report is not None and "raises" not in report.detail:
            yield report
            return
    if make is TORCH and not call.mutates:
        yield from guarded_out(call, lines, guarded)


@functools.lru_cache(maxsize=None)
def helper(make):
    """The lines of a check source that define `guarded`, and that function."""
    lines = [line % make if "%s" in line else line for line in SOURCE]
    if make is TORCH:
        # The function may be one of another package that takes such tensors.
        lines = ["import torch"] + lines
    scope = {}
    exec("\n".join(lines), scope)
    return lines, scope["guarded"]


def guarded_out(call, lines, guarded):
    """The result is written between two forbidden pages."""
    if not forms.takes_out(call) or not suitable(call.baseline) or not forms.plain(call.baseline):
        return
    for at_end in (True, False):
        script = lines + ["{build}", "expected = {call}", "{build}"]
        script += [
            "keywords['out'] = out = guarded(expected.new_ones(expected.shape), %r)" % at_end,
            "{call}",
        ]
        name = "a forbidden page %s out" % ("behind" if at_end else "before")
        call.announce(name, call.source(script + ["return False, str(out), str(expected)"]))
        out = guarded(call.baseline.new_ones(call.baseline.shape), at_end)
        fresh = call.build()
        fresh.keywords["out"] = out
        if call.attempt(fresh)[1] is not None:
            forms.WITHOUT_OUT.add(call.path)
            return
        found = call.disagreement(out, call.baseline)
        if found is not None:
            script += ["observed, expected = out%s, expected%s" % (found.path, found.path)]
            yield Report(
                "%s: %s" % (name, found.kind),
                compare.short(found.observed),
                compare.short(found.expected),
                call.source(script + found.lines),
            )
            return


def suitable(value):
    if compare.is_numpy(value):
        return bool(value.shape) and 0 < value.nbytes <= LARGEST and value.dtype.kind in "biufc"
    if not compare.is_torch(value) or str(value.layout) != "torch.strided" or value.is_quantized:
        return False
    size = value.numel() * value.element_size()
    return (
        0 < size <= LARGEST
        and str(value.device) == "cpu"
        and not value.requires_grad
        and not value.is_conj()
    )


def share_memory(tensors):
    """Two arguments begin at one place: apart they are another call."""
    starts = [it.data_ptr() for it in tensors if compare.is_torch(it) and it.numel()]
    return len(set(starts)) < len(starts)
