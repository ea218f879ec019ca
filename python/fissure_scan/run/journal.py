"""What a run is about to do, written down where it survives the run's process.

A scan runs in a fork of a process that has imported everything (server.py). When the program kills
its process, the process that forked it reads here which input did it and where the program was.
"""

import mmap
import pickle
import struct
import time

_SIZE = 1 << 24
_HEAD = struct.Struct("<Bdd")  # phase, start of the run, its limit in seconds
# Offsets: the last operation, the question that waits for an answer, what the run was.
_PLACE, _ASKED, _RUN, _CALL = 64, 3200, 4096, 12 << 20
IDLE, ARGUMENTS, OWN, SEARCH, REPORT = range(5)


class Run:
    """One run as the journal knows it."""

    def __init__(self, kind, overrides, change, call=None):
        self.kind = kind  # "" or what our own comparison is: `shadow:bfloat16`
        self.overrides = overrides
        self.change = change  # a Change of changes.py, or None
        self.call = call  # of a target function, as source text

    def key(self):
        return (
            self.kind,
            tuple(sorted((name, value.tobytes()) for name, value in self.overrides.items())),
            getattr(self.change, "label", None),
            self.call,
        )


class Journal:
    def __init__(self):
        self._memory = mmap.mmap(-1, _SIZE)
        self._phase = IDLE

    # Written by the process that runs the program ------------------------------------------------

    def phase(self, phase):
        self._phase = phase
        self._head(0.0, 0.0)

    def begin(self, run, limit):
        try:
            data = pickle.dumps((run.kind, run.overrides, run.change), 2)
        except Exception:
            # What cannot be written down is still named.
            data = pickle.dumps((run.kind, {}, None), 2)
        if len(data) + _RUN + 8 > _CALL:
            data = pickle.dumps((run.kind, {}, None), 2)
        call = (run.call or "").encode("utf-8")
        if len(call) + _CALL + 8 > _SIZE:
            call = b""
        self._memory[_CALL : _CALL + 8] = struct.pack("<Q", len(call))
        self._memory[_CALL + 8 : _CALL + 8 + len(call)] = call
        self._memory[_RUN : _RUN + 8] = struct.pack("<Q", len(data))
        self._memory[_RUN + 8 : _RUN + 8 + len(data)] = data
        self._memory[_PLACE : _PLACE + 2] = b"\0\0"
        self._head(time.monotonic(), limit or 0.0)

    def place(self, file, line, name, scope):
        text = ("%s\0%d\0%s\0%s" % (file, line, name, scope)).encode("utf-8", "replace")[:2800]
        self._memory[_PLACE : _PLACE + 2] = struct.pack("<H", len(text))
        self._memory[_PLACE + 2 : _PLACE + 2 + len(text)] = text

    def asked(self, text):
        """A check that Rust waits for; empty when it has its answer."""
        data = text.encode("utf-8", "replace")[:800]
        self._memory[_ASKED : _ASKED + 2] = struct.pack("<H", len(data))
        self._memory[_ASKED + 2 : _ASKED + 2 + len(data)] = data

    def end(self):
        self._head(0.0, 0.0)

    def _head(self, started, limit):
        self._memory[: _HEAD.size] = _HEAD.pack(self._phase, started, limit)

    # Read by the process that waits --------------------------------------------------------------

    def state(self):
        """(phase, seconds the run under way has taken or None, its limit)."""
        phase, started, limit = _HEAD.unpack(self._memory[: _HEAD.size])
        return phase, time.monotonic() - started if started else None, limit

    def last_run(self):
        size = struct.unpack("<Q", self._memory[_RUN : _RUN + 8])[0]
        if not size:
            return Run("", {}, None)
        kind, overrides, change = pickle.loads(self._memory[_RUN + 8 : _RUN + 8 + size])
        size = struct.unpack("<Q", self._memory[_CALL : _CALL + 8])[0]
        call = self._memory[_CALL + 8 : _CALL + 8 + size].decode("utf-8") or None
        return Run(kind, overrides, change, call)

    def last_place(self):
        """(file, line, operation, function) of the last operation that began, or None."""
        size = struct.unpack("<H", self._memory[_PLACE : _PLACE + 2])[0]
        if not size:
            return None
        text = self._memory[_PLACE + 2 : _PLACE + 2 + size].decode("utf-8", "replace")
        file, line, name, scope = text.split("\0")
        return file, int(line), name, scope

    def waiting(self):
        size = struct.unpack("<H", self._memory[_ASKED : _ASKED + 2])[0]
        return self._memory[_ASKED + 2 : _ASKED + 2 + size].decode("utf-8", "replace")

    def clear(self):
        self._memory[: _RUN + 8] = b"\0" * (_RUN + 8)
