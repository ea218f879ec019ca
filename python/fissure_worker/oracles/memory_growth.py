"""Memory grows with every call, or a small input takes a lot of it.

# What it does

Repeats the call, throws the results away, and looks at the resident memory of the process: after a
warm-up it must not rise round after round. Before that it looks at how far the memory rose during
one call: a call with small arguments and a small result has no need of a quarter of a gigabyte.

# Why it matters

A leak of a few kilobytes per call ends a server after a day. A small input that takes gigabytes ends
it at once.

# When it stays silent

About growth that stops (allocators and caches fill up once), below 4 KiB per call, and when the
arguments or the result are themselves large or name large sizes. Reference cycles are collected
before each measurement. Where `/proc` does not tell the memory of a process it does not run.

# Example

```
64 times torch.some_function(x), three rounds
observed  67 MB more in each round
expected  the same memory after each round
```
"""

import gc

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

PRICE = 36
#: For the look at one call, which is worth it for slow calls too.
LEAST = 4

#: Calls that tell whether a longer look is worth its price, and as many before them.
PROBE = 16
WARM_UP = 48
CALLS = 64
#: Seconds that the longer look may take.
PATIENCE = 10.0
ROUNDS = 3
#: Growth of a round that counts.
GROWTH = CALLS * 4096
#: A call takes this much although its arguments and results are below `SMALL`.
PEAK = 256 << 20
SMALL = 1 << 20
#: A number in the arguments beyond this may ask for memory.
LARGE_NUMBER = 1 << 12


def status(field):
    """A line of this process's status, in bytes; None where there is none."""
    try:
        with open("/proc/self/status") as stream:
            for line in stream:
                if line.startswith(field):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    return None if status("VmRSS:") else "the system has no /proc with the memory of a process"


def check(call):
    if unavailable(call.library) or call.mutates:
        return
    call.announce("growth", growth_source(call))
    if not call.is_foreign and asks_for_little(call):
        yield from one_call(call)
    if call.seconds * 2 * PROBE > PATIENCE / 2:
        return
    repeat(call, PROBE)
    before = resident()
    repeat(call, PROBE)
    if resident() - before < GROWTH // CALLS * PROBE:
        return
    # Most calls keep nothing, and the long rounds are not made for them.
    if call.seconds * (WARM_UP + 2 * ROUNDS * CALLS) > PATIENCE:
        return
    repeat(call, WARM_UP)
    rounds = []
    for _ in range(ROUNDS):
        before = resident()
        repeat(call, CALLS)
        rounds.append(resident() - before)
    if min(rounds) >= GROWTH:
        yield Report(
            "grows with every call",
            "%s bytes more after each %d calls" % (rounds, CALLS),
            "the same memory",
            growth_source(call),
        )


def resident():
    gc.collect()
    return status("VmRSS:")


def repeat(call, times):
    for _ in range(times):
        call.attempt(call.build())


def growth_source(call):
    return call.source(
        [
            "import gc",
            "def resident():",
            "    gc.collect()",
            "    with open('/proc/self/statm') as stream:",
            "        return int(stream.read().split()[1]) * 4096",
            "sizes = []",
            "for number in range(%d):" % (WARM_UP + ROUNDS * CALLS),
            "    if number >= %d and number %% %d == %d:" % (WARM_UP, CALLS, WARM_UP % CALLS),
            "        sizes.append(resident())",
            "    {build}",
            "    {call}",
            "sizes.append(resident())",
            "growth = [after - before for before, after in zip(sizes, sizes[1:])]",
            "observed = '%%s bytes more after each %d calls' %% growth" % CALLS,
            "return min(growth) >= %d, observed, 'the same memory'" % GROWTH,
        ]
    )


def asks_for_little(call):
    """Small arguments, without a number that could be a size, and a small result."""
    total = 0
    for _, value in list(call.used.values()) + list(compare.leaves(call.baseline)):
        if compare.is_torch(value):
            if str(value.layout) != "torch.strided":
                return False
            total += value.numel() * value.element_size()
            if not compare.is_inexact(value) and value.numel() and value.numel() < SMALL:
                if float(value.double().max()) > LARGE_NUMBER:
                    return False
        elif isinstance(value, (int, float)) and not abs(value) <= LARGE_NUMBER:
            return False
    return total < SMALL


def one_call(call):
    """How far the memory rises during a call: the kernel keeps the highest value."""
    rise = peak(call)
    if rise is None or rise < PEAK or peak(call) < PEAK:
        return
    yield Report(
        "takes much for a small input",
        "%d MB during one call" % (rise >> 20),
        "less than %d MB" % (PEAK >> 20),
        call.source(
            [
                "def status(field):",
                "    with open('/proc/self/status') as stream:",
                "        lines = [line for line in stream if line.startswith(field)]",
                "    return int(lines[0].split()[1]) * 1024",
                "for _ in range(2):",
                "    {build}",
                "    with open('/proc/self/clear_refs', 'w') as stream:",
                "        stream.write('5')  # the highest value begins anew",
                "    before = status('VmRSS')",
                "    {call}",
                "    rise = status('VmHWM') - before",
                "observed = '%d MB during one call' % (rise >> 20)",
                "return rise >= %d, observed, 'less than %d MB'" % (PEAK, PEAK >> 20),
            ]
        ),
    )


def peak(call):
    arguments = call.build()
    gc.collect()
    try:
        with open("/proc/self/clear_refs", "w") as stream:
            stream.write("5")
    except OSError:
        # Not this kernel, or not allowed: only growth is looked at.
        return None
    before = status("VmRSS:")
    call.attempt(arguments)
    return status("VmHWM:") - before
