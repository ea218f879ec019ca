"""The result depends on memory that nobody has written.

# What it does

Makes the call twice, with the C library told to fill every block of memory that it hands out with one byte the
first time and with another byte the second (`mallopt(M_PERTURB)`). A result that is different has read
uninitialised memory. Then once more each, to be sure that it was the byte and nothing else.

# Why it matters

Such a result is right on a fresh machine and wrong after an hour: it depends on what was computed before. It may
also hold data of somebody else.

# When it stays silent

For functions whose purpose is uninitialised memory (`empty`, `resize_`), or whose documentation says that elements
of the result are not initialised, and for those that draw random numbers. For a layer whose constructor leaves weights to
whoever loads them, as quantised ones do. When only last digits differ. Gaps between the elements of a strided
result are no part of it. Without glibc, or with another allocator in its place, it does not run; memory that a
library keeps and hands out again by itself is not seen.

# Example

```
torch.some_function(x)
observed  [1.0, 2.0, -2.9e+13]   (fresh memory filled with 0xd5)
expected  [1.0, 2.0, 0.0]        (fresh memory filled with 0x00)
```
"""

import contextlib

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

try:
    import ctypes

    LIBC = ctypes.CDLL(None)
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.malloc.argtypes = (ctypes.c_size_t,)
    LIBC.free.argtypes = (ctypes.c_void_p,)
    LIBC.memset.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
except (ImportError, OSError, AttributeError):
    LIBC = None

#: Four calls, and the filling of blocks that threads keep.
PRICE = 12
M_PERTURB = -6
#: What fresh memory holds: zero, and a byte of which every type makes a large number.
BYTES = (0x00, 0xD5)
#: Blocks up to this size are kept by each thread, seven of a kind, and handed out without being filled.
KEPT = 1033
#: Of those, so many are filled here: the ones that are handed out first. Filling all of them takes longer than most calls.
FIRST = 2

FILLED = [
    "import ctypes",
    "libc = ctypes.CDLL(None)",
    "libc.malloc.restype = ctypes.c_void_p",
    "def fill(byte):",
    "    # Every block that malloc hands out holds this byte; the C library takes its complement.",
    "    libc.mallopt(%d, byte ^ 0xff)" % M_PERTURB,
    "    for size in range(24, %d, 16):" % KEPT,
    "        blocks = [ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size))) for _ in range(7)]",
    "        for block in blocks:",
    "            ctypes.memset(block, byte, size)",
    "        for block in blocks:",
    "            libc.free(block)",
]


def unavailable_here():
    return LIBC is None or not hasattr(LIBC, "mallopt")


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    if unavailable_here():
        return "the C library cannot be told to fill memory (it is not glibc)"
    with filled(BYTES[1]):
        block = LIBC.malloc(1 << 16)
        seen = ctypes.string_at(block, 1 << 16) if block else b""
        LIBC.free(block)
    if seen.count(bytes([BYTES[1]])) < len(seen) // 2 or not seen:
        return "another allocator than glibc's is in use"
    return None


@contextlib.contextmanager
def filled(byte):
    LIBC.mallopt(M_PERTURB, byte ^ 0xFF)
    try:
        for size in range(24, KEPT, 16):
            blocks = [LIBC.malloc(size) for _ in range(FIRST)]
            for block in blocks:
                LIBC.memset(block, byte, size)
            for block in blocks:
                LIBC.free(block)
        yield
    finally:
        LIBC.mallopt(M_PERTURB, 0)


def run(call, byte):
    """The result with fresh memory of this byte, or None where the call is refused; the arguments are made
    before, so that they are the same."""
    arguments = call.build()
    call.seed()
    with filled(byte):
        result, error = call.attempt(arguments, seed=False)
    return None if error is not None else result


def weights(call, byte):
    """The state of a layer that was made in fresh memory of this byte; None where it has none."""
    arguments = call.build()
    call.seed()
    with filled(byte):
        layer = call.target(*arguments.positional, **arguments.keywords)
    state = getattr(layer, "state_dict", None)
    return None if state is None else dict(state())


def leaves_weights_open(call):
    """A layer's constructor leaves some of its weights to whoever loads them: those of a quantised layer, say."""
    if unavailable_here():
        return False
    try:
        first, second = (weights(call, byte) for byte in BYTES)
    except Exception:
        # What the constructor or its state raises is not about memory.
        return False
    return first is not None and compare.difference(second, first, exact=True) is not None


def check(call):
    if call.differs or call.draws_in_call or call.has_generator or call.has("random"):
        return
    call.announce("fresh memory", source(call, None))
    found = dependence(call)
    if found is not None:
        yield report(call, found)


def dependence(call):
    """In what the result depends on memory that nobody has written, or None."""
    first, second = (run(call, byte) for byte in BYTES)
    if first is None or second is None:
        return None
    found = compare.difference(second, first, exact=True)
    if found is None or found.kind == "type":
        return None
    if found.kind == "values" and compare.difference(second, first) is None:
        # Last digits: blocks that lie elsewhere are added up in another order.
        return None
    # The byte decides, and nothing else: each gives the same once more.
    for byte, before in zip(BYTES, (first, second)):
        again = run(call, byte)
        if again is None or compare.difference(again, before, exact=True) is not None:
            return None
    return found


def explains(call):
    """The report on uninitialised memory that stands for whatever else was seen of the call, or None: such a result is
    another one in every variant."""
    if unavailable_here() or call.draws_in_call:
        return None
    found = dependence(call)
    return None if found is None else report(call, found)


def report(call, found):
    return Report(
        "fresh memory: %s" % found.kind,
        compare.short(found.observed),
        compare.short(found.expected),
        source(call, found),
    )


def source(call, found):
    path = found.path if found is not None else ""
    lines = FILLED + [
        "results = []",
        "for byte in %r:" % (BYTES,),
        "    {build}",
        "    fill(byte)",
        "    try:",
        "        results.append({call}%s)" % path,
        "    finally:",
        "        libc.mallopt(%d, 0)" % M_PERTURB,
        "expected, observed = results",
    ]
    ending = ["return False, str(observed), str(expected)"]
    return call.source(lines + (found.lines if found is not None else ending))
