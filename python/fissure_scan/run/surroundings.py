"""What is around a run of the user's program: its output is kept, its time is limited, and its package
is found."""

import ast
import contextlib
import io
import os
import signal
import sys
import time

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


def main_package(file):
    """The package of a script with relative imports, which is meant for `python -m`; else None."""
    root, package = package_of(file)
    if not package:
        return None
    try:
        with open(file, "rb") as handle:
            tree = ast.parse(handle.read())
    except (OSError, SyntaxError, ValueError):
        return None
    if not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
        return None
    if root not in sys.path:
        sys.path.insert(0, root)
    return package


def importing(frame):
    """Is a module being imported? Its time is the library's, not the program's."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


# Seconds between two looks at a run whose time is up but that is not where it can be ended.
AGAIN = 0.05
# Seconds that such a run is waited for, beyond twice its limit.
PATIENCE = 4.0
# Times its limit that a run may take on the clock while others have the cores.
LONGEST = 8.0


def delays(process="self"):
    """Seconds that the threads of a process have waited for a core while others had it; 0 where the system
    does not tell."""
    total, folder = 0, "/proc/%s/task" % process
    try:
        for thread in os.listdir(folder):
            with open("%s/%s/schedstat" % (folder, thread), encoding="ascii") as handle:
                total += int(handle.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return total / 1e9


@contextlib.contextmanager
def alarm(seconds, monitor):
    """Raises StopRun in the program after so many seconds, even in a loop that calls nothing.

    Processor time counts, and imports do not, so that a busy machine does not cut what an idle one lets
    pass, up to twice as much time on the clock; time in which others had the cores does not count, up to LONGEST
    times as much. The exception is raised in the user's own lines, or after an operation: inside
    a library, or in an import, it could end the process or leave half a module behind.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    began, processor, delayed = time.monotonic(), time.process_time(), delays()

    def ring(number, frame):
        clock = time.monotonic() - began
        waited = max(0.0, clock - (delays() - delayed)) if clock < LONGEST * seconds else clock
        busy = time.process_time() - processor < seconds
        if (busy or importing(frame)) and waited < 2.0 * seconds:
            more = 0.1 if busy else 0.5
            signal.setitimer(signal.ITIMER_REAL, max(AGAIN, more * seconds))
            return
        if monitor is not None:
            inside = monitor.users.owns(frame.f_code.co_filename)
            if not inside and waited < 2.0 * seconds + PATIENCE:
                monitor.overdue = True
                signal.setitimer(signal.ITIMER_REAL, AGAIN)
                return
            monitor.out_of_time(frame)
            ran = max(time.process_time() - processor, clock - (delays() - delayed))
            monitor.trace.starved = ran < 0.8 * seconds
        raise StopRun()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
