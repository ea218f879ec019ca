"""Batches that are judged: each input is called once, and then oracles look at it.

What they say is the text of the input in the journal, as JSON. It grows while they work: if one of
the calls that they make ends this process, the text holds what was announced for that case.
"""

import _thread
import json
import marshal
import time

from fissure_worker import oracles
from fissure_worker.oracles.arguments import Arguments
from fissure_worker.oracles.call import Call
from fissure_worker.outcome import ACCEPTED, ACCEPTED_NAN, NOT_BUILT, status_of

# Words of the journal, as in `worker.py`.
CURRENT = 0
TEXT = 3
BEGAN = 4
PULSE = 5  # counts the calls that oracles make, so that the watchdog times each by itself
HEADER_WORDS = 8
CHECK_NAN = 1
#: Room in the journal for what the oracles say of one input.
TEXT_RESERVE = 1 << 17


def run(worker, start, end, flags, table, path, names):
    """The inputs `start..end`, as `Worker.run` does it, and after each the oracles `names`."""
    words = worker.words
    words[BEGAN] = time.perf_counter_ns()
    words[CURRENT] = start + 1
    target, problem = worker.prepare(path)
    if problem is not None:
        return worker.fail_all(start, end, problem)
    offsets = worker.arena[table : table + 8 * end].cast("Q")
    threads = _thread._count()
    for index in range(start, end):
        words[CURRENT] = index + 1
        words[BEGAN] = time.perf_counter_ns()
        adapter = worker.adapter
        call = Call(path, target, adapter, adapter.library, maker(worker, offsets[index]))
        call.pulse = lambda: pulse(words)
        status = judge(worker, index, call, flags, names)
        elapsed = int(call.seconds * 1e9)
        # Destructors run now, while the journal still names this input.
        call = None
        adapter.reset()
        if _thread._count() > threads:
            threads = worker.wait_for_threads(threads)
        words[HEADER_WORDS + index] = elapsed << 4 | status
        if worker.text_full:
            return index + 1
    return end


def judge(worker, index, call, flags, names):
    """The first call of an input and what the oracles say to it; its status."""
    try:
        arguments = call.build()
    except BaseException as error:
        worker.describe(index, error, NOT_BUILT)
        return NOT_BUILT
    try:
        call.first(arguments)
    except BaseException as error:
        call.error = error
    worker.leave_if_forked()
    if call.error is not None:
        status = status_of(call.error)
        worker.describe(index, call.error, status)
        return status
    status = ACCEPTED
    try:
        if flags & CHECK_NAN and worker.adapter.has_nan(call.baseline):
            status = ACCEPTED_NAN
    except Exception:
        # A result that cannot be looked at is still a result.
        pass
    position = worker.words[TEXT]

    def announce(judgement, report):
        worker.leave_if_forked()
        worker.write(index, position, encoded(judgement, report))

    judgement = oracles.judge(call, names, announce)
    worker.leave_if_forked()
    worker.write(index, position, encoded(judgement, None))
    return status


def pulse(words):
    words[PULSE] += 1


def maker(worker, offset):
    """Makes the arguments of one input, anew each time."""

    def make():
        arguments, keywords, tensors, rest, layer = marshal.loads(worker.arena[offset:])
        call = worker.build_layer((arguments, keywords, tensors, rest))
        return Arguments(call[0], call[1], worker.build_layer(layer) if layer else None)

    return make


def encoded(judgement, announced):
    """What oracles said of one input, as bytes; the last reports are dropped if it is too much."""
    plain = judgement.plain(announced)
    while True:
        text = json.dumps(plain).encode("ascii")
        if len(text) <= TEXT_RESERVE or not plain["reports"]:
            return text[:TEXT_RESERVE]
        plain["reports"] = plain["reports"][:-1]
