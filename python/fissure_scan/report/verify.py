"""Does the script of a finding show its failure? Asked before the finding is told.

The script runs in a fork, which has everything imported already; where that does not show the
failure, or a fork cannot be had, it runs in an interpreter of its own. What the program writes goes into
a scratch folder, as in every run of the scan.
"""

import os
import runpy
import select
import signal
import subprocess
import sys

from ..run.scratch import Scratch

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_ALONE = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
from fissure_scan.run.scratch import Scratch
sys.path.pop(0)
sys.argv = sys.argv[2:]
with Scratch().active():
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
# Exit codes of a reproducer.
SHOWN, NOT_SHOWN = 1, 0
_BROKEN = 70


def shows(script, seconds, forkable, most=60.0):
    """True, False, or None when that could not be seen: no time (`most` seconds), or the script itself broke."""
    if forkable and hasattr(os, "fork") and _in_fork(script, seconds) == SHOWN:
        return True
    try:
        run = subprocess.Popen(
            [sys.executable, "-c", _ALONE, _ROOT, script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        return {SHOWN: True, NOT_SHOWN: False}.get(run.wait(min(seconds + 20.0, most)))
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(run.pid)
        run.wait()


def _end(process):
    """Ends a script and what it has started: that of a hang runs its program in another process."""
    try:
        os.killpg(process, signal.SIGKILL)
    except OSError:
        pass


def _in_fork(script, seconds):
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.setsid()
        os.close(reading)
        _execute(script)
    os.close(writing)
    ended = bool(_readable(reading, seconds))
    os.close(reading)
    if not ended:
        os.kill(process, signal.SIGKILL)
    _end(process)
    _, status = os.waitpid(process, 0)
    return os.WEXITSTATUS(status) if ended and os.WIFEXITED(status) else None


def _readable(descriptor, seconds):
    """Waits until the other end is closed."""
    try:
        return select.select([descriptor], [], [], seconds)[0]
    except InterruptedError:
        return []


def _execute(script):
    """The fork: the script as a program of its own; never returns."""
    code = _BROKEN
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        sys.argv = [script]
        try:
            with Scratch().active():
                runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else _BROKEN
    except BaseException:
        pass
    finally:
        os._exit(code)
