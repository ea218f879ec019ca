"""How long a call takes and how much memory, as it is and with longer tensors.

Processor time, the least of several runs: what else the machine does must not count. Memory is that of a forked
process at its highest, above what it began with. For comparing two versions (see `observe`).
"""

import os
import struct
import time

from fissure_worker.oracles import compare

try:
    import resource
except ImportError:
    # Not a Unix: no memory is measured.
    resource = None

try:
    import ctypes

    LIBC = ctypes.CDLL(None)
except (ImportError, OSError):
    LIBC = None

PRICE = 20
#: `mallopt`: from which size on memory comes from the system each time. Without it glibc moves the limit as it
#: goes, and whether pages are fresh depends on what ran before.
M_MMAP_THRESHOLD = -3
MAPPED_FROM = 128 << 10
#: `prctl`: no huge pages, whose use depends on where memory happens to lie.
PR_SET_THP_DISABLE = 41
#: Nanoseconds for the runs of one measurement, and how many at most and at least.
SPENT = 12000000
RUNS = 24
LEAST_RUNS = 3
#: A longer call is not repeated, nor made longer.
SLOW = 150000000
#: Elements of all tensors together that are aimed at, and the largest factor.
AIM = 1 << 19
LARGEST_FACTOR = 1 << 15


def observe(call):
    facts = {"nanoseconds": None, "longer": None, "peak": None}
    if LIBC is not None and hasattr(LIBC, "mallopt"):
        LIBC.mallopt(M_MMAP_THRESHOLD, MAPPED_FROM)
    if LIBC is not None and hasattr(LIBC, "prctl"):
        LIBC.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    if call.seconds * 1e9 > SLOW:
        facts["nanoseconds"] = int(call.seconds * 1e9)
        return facts
    facts["nanoseconds"] = least_time(call, call.build)
    factor, make = longer(call)
    if make is None:
        return facts
    taken = least_time(call, make)
    if taken is not None:
        facts["longer"] = {"factor": factor, "nanoseconds": taken}
        facts["peak"] = peak(call, make)
    return facts


def least_time(call, make):
    """Nanoseconds of the fastest of several runs; None where the call is refused."""
    least, spent, runs = None, 0, 0
    while runs < LEAST_RUNS or (spent < SPENT and runs < RUNS):
        arguments = make()
        call.seed()
        begin = time.process_time_ns()
        result, error = call.attempt(arguments, seed=False)
        taken = time.process_time_ns() - begin
        del result
        if error is not None:
            return None
        runs += 1
        spent += taken
        least = taken if least is None else min(least, taken)
        if taken > SLOW:
            break
    return least


def longer(call):
    """(factor, maker of arguments) with the first dimension repeated in every tensor that shares its length with
    the largest one; (0, None) where that is not possible or not accepted."""
    given = call.build()
    tensors = [(place, it) for place, it in call.tensors(given) if it.shape and compare.count(it)]
    if not tensors:
        return 0, None
    total = sum(compare.count(tensor) for _, tensor in tensors)
    length = max(tensors, key=lambda pair: compare.count(pair[1]))[1].shape[0]
    places = [place for place, tensor in tensors if tensor.shape[0] == length]
    # A call whose cost grows with the cube of a length must stay within reach.
    factor = min(AIM // total, LARGEST_FACTOR)
    for attempt in (factor, factor // 16, factor // 256):
        if attempt < 2:
            return 0, None

        def make(attempt=attempt):
            arguments = call.build()
            for place in places:
                arguments = arguments.replace(place, repeated(arguments.get(place), attempt))
            return arguments

        begin = time.process_time_ns()
        try:
            _, error = call.attempt(make())
        except Exception:
            # A tensor that cannot be repeated.
            return 0, None
        if error is not None:
            return 0, None
        if time.process_time_ns() - begin < SLOW:
            return attempt, make
    return 0, None


def repeated(tensor, factor):
    if compare.is_torch(tensor):
        return tensor.repeat(factor, *[1] * (tensor.dim() - 1))
    import numpy

    return numpy.concatenate([tensor] * factor)


def peak(call, make):
    """Bytes that one call takes at most, measured in a copy of this process; None where that cannot be done."""
    if resource is None or not hasattr(os, "fork"):
        return None
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        try:
            arguments = make()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            result = call.attempt(arguments)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            del result
            os.write(writing, struct.pack("q", (after - before) << 10))
        finally:
            os._exit(0)
    os.close(writing)
    try:
        answer = os.read(reading, 8)
    finally:
        os.close(reading)
        os.waitpid(child, 0)
    return struct.unpack("q", answer)[0] if len(answer) == 8 else None
