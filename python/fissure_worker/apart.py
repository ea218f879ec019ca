"""A question that is answered in a fork: what answering does to the process is gone with it, and takes no longer than it
may. The process itself runs nothing of the library, so that its forks find no thread or lock of an earlier one; but what
a fork imported for so long that its time was over is imported here once, and all later forks have it.
"""

import contextlib
import importlib
import os
import select
import signal
import time

from fissure_worker import native
from fissure_worker.discover.limits import limited

#: Seconds for an import that outlasted a fork.
IMPORT_SECONDS = 40
#: Seconds for a fork to say what it is doing.
GRACE = 0.3
IMPORTING = b"importing "

#: Modules that were imported for the forks, or cannot be.
imported = set()


def answered(answer, seconds):
    """The bytes that `answer()` gives in a fork, or None if that takes longer or ends it."""
    told = forked(answer, seconds)
    if told is None or not told.startswith(IMPORTING):
        return told
    name = told[len(IMPORTING) :].decode("utf-8")
    if name in imported:
        return None
    imported.add(name)
    with limited(IMPORT_SECONDS), contextlib.suppress(Exception):
        importlib.import_module(name)
    told = forked(answer, seconds)
    return None if told is None or told.startswith(IMPORTING) else told


def forked(answer, seconds):
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reading)
        tell(answer, writing, parent)
    os.close(writing)
    try:
        told = read(reading, time.monotonic() + seconds)
        if told is None:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGUSR1)
            told = read(reading, time.monotonic() + GRACE)
    finally:
        os.close(reading)
        native.kill(child)
        with contextlib.suppress(OSError):
            os.waitpid(child, 0)
    return told or None


def tell(answer, writing, parent):
    """The whole life of a fork."""
    try:
        native.die_with_parent(parent)

        def ask(number, frame):
            name = being_imported(frame)
            os.write(writing, IMPORTING + name.encode("utf-8") if name else b"")
            os._exit(0)

        signal.signal(signal.SIGUSR1, ask)
        data = answer()
        # Nothing may come between the parts.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def read(reading, deadline):
    """All that comes until the other side ends; None if it does not end in time."""
    found = b""
    while True:
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([reading], [], [], left)
        if not ready:
            return None
        part = os.read(reading, 65536)
        if not part:
            return found
        found += part


def being_imported(frame):
    """The module whose import is the outermost one under way."""
    name = None
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importlib"):
            name = frame.f_locals.get("name") or name
        frame = frame.f_back
    return name
