"""Events to the Rust side, and commands from it: one JSON object per line on inherited pipes."""

import json
import os


class Channel:
    """The two pipes. Writing never raises: without a reader there is nobody left to tell."""

    def __init__(self, commands_fd, events_fd):
        self._commands = os.fdopen(commands_fd, "r", encoding="utf-8")
        self._events = os.fdopen(events_fd, "w", encoding="utf-8")
        for descriptor in (commands_fd, events_fd):
            os.set_inheritable(descriptor, False)

    def emit(self, kind, **fields):
        fields["event"] = kind
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
