"""Events to the Rust side, and commands from it: one JSON object per line on an inherited socket."""

import json
import os
import select
import signal
import threading


class Channel:
    """The socket. Writing never raises: without a reader there is nobody left to tell."""

    def __init__(self, descriptor):
        # Not for the processes that the program itself may start.
        os.set_inheritable(descriptor, False)
        self._commands = os.fdopen(os.dup(descriptor), "r", encoding="utf-8")
        self._events = os.fdopen(descriptor, "w", encoding="utf-8")

    def descriptor(self):
        """For a process that tells its events here too."""
        return self._events.fileno()

    def end_with_peer(self):
        """Ends this process when the other side is gone, whatever the program is doing: without a
        reader its runs are for nobody."""
        gone = getattr(select, "POLLRDHUP", None)
        if gone is None:
            # Not on this system: the next event notices.
            return

        def wait(descriptor=self._events.fileno()):
            watch = select.poll()
            watch.register(descriptor, gone)
            watch.poll()
            os._exit(3)

        threading.Thread(target=wait, daemon=True).start()

    def emit(self, event, **fields):
        fields["event"] = event
        try:
            self._events.write(json.dumps(fields, default=str) + "\n")
            self._events.flush()
        except (OSError, ValueError):
            os._exit(3)

    def ask(self, event, **fields):
        """Emits a question and waits for its answer, which is the next command."""
        self.emit(event, **fields)
        line = self._commands.readline()
        if not line:
            os._exit(3)
        return json.loads(line)

    def commands(self):
        for line in self._commands:
            yield json.loads(line)


def interrupt_once():
    """The first Ctrl-C leaves the run under way; further ones, also those that a terminal and the
    Rust side both send, must not disturb the report."""

    def ring(number, frame):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt()

    signal.signal(signal.SIGINT, ring)


def float_text(value):
    """A float that JSON can hold: numbers stay numbers, NaN and infinities become text."""
    value = float(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value
