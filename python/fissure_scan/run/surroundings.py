"""What is around a run of the user's program: its output is kept, its time is limited, and its package
is found."""

import contextlib
import io
import os
import signal

from ..watch.monitor import StopRun


class Capture:
    """Standard output and error of the program, kept (up to a limit) instead of shown."""

    LIMIT = 200000

    def __init__(self):
        self._buffer = Bounded(self.LIMIT)
        self._errors = Bounded(20000)

    @contextlib.contextmanager
    def active(self):
        with contextlib.redirect_stdout(self._buffer), contextlib.redirect_stderr(self._errors):
            yield

    def text(self):
        return self._buffer.getvalue()

    def errors(self):
        return self._errors.getvalue()


class Bounded(io.StringIO):
    def __init__(self, limit):
        super().__init__()
        self._limit = limit

    def write(self, text):
        if self.tell() < self._limit:
            super().write(text)
        return len(text)


def package_places(module):
    """(folders, files) of the package or single file that a module belongs to."""
    if not module:
        return [], []
    import importlib.util

    try:
        spec = importlib.util.find_spec(module.split(".")[0])
    except (ImportError, ValueError, AttributeError):
        return [], []
    if spec is None:
        return [], []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations), []
    return [], [spec.origin] if spec.origin and spec.origin.endswith(".py") else []


def package_of(file):
    """(folder above the packages, dotted package) of a file; the package is empty outside one."""
    folder, parts = os.path.dirname(file), []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, last = os.path.split(folder)
        parts.insert(0, last)
    return folder, ".".join(parts)


@contextlib.contextmanager
def alarm(seconds, monitor):
    """Raises StopRun in the program after so many seconds, even in a loop that calls nothing."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number, frame):
        if monitor is not None:
            monitor.trace.stopped = "time"
            while frame is not None and monitor.trace.place is None:
                if monitor.users.owns(frame.f_code.co_filename):
                    monitor.trace.place = (
                        frame.f_code.co_filename,
                        frame.f_lineno,
                        frame.f_code.co_name,
                    )
                frame = frame.f_back
        raise StopRun()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
