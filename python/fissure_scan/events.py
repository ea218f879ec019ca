"""Events to the Rust side, and commands from it: one JSON object per line on an inherited socket."""

import json
import os


class Channel:
    """The socket. Writing never raises: without a reader there is nobody left to tell."""

    def __init__(self, descriptor):
        # Not for the processes that the program itself may start.
        os.set_inheritable(descriptor, False)
        self._commands = os.fdopen(os.dup(descriptor), "r", encoding="utf-8")
        self._events = os.fdopen(descriptor, "w", encoding="utf-8")

    def emit(self, event, **fields):
        fields["event"] = event
        try:
            self._events.write(json.dumps(fields, default=str) + "\n")
            self._events.flush()
        except (OSError, ValueError):
            os._exit(3)

    def commands(self):
        for line in self._commands:
            yield json.loads(line)


def float_text(value):
    """A float that JSON can hold: numbers stay numbers, NaN and infinities become text."""
    value = float(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value
