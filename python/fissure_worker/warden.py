"""Stands between Fissure and a process that runs code of others: whatever that code starts, daemons
that detach themselves included, ends with it.

Run as ``python -I -S -c <this text> <descriptor> <flags> <program> <arguments…>``; stands alone, because
it is started before anything else is there. It starts the program, adopts every orphan below it, says
on the descriptor which process it is and how it ended, and kills what is left. When the other end of
the descriptor closes, however that came about, it kills everything and ends.
"""

import os
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_SCOPE_SIGNAL = 2
#: Flag: the program cannot signal this process (Landlock, Linux 6.12 or newer).
CONFINE = "confine"
#: Milliseconds between two looks when nothing else happens.
INTERVAL = 500
#: Seconds after which processes that cannot be killed are left to the kernel.
PATIENCE = 10

try:
    import ctypes

    LIBC = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):
    # Then orphans are found by the marker in their environment only.
    ctypes = None
    LIBC = None


def adopt_orphans():
    if LIBC is not None:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)


def confine_signals():
    if LIBC is None:
        return
    attributes = (ctypes.c_uint64 * 3)(0, 0, LANDLOCK_SCOPE_SIGNAL)
    ruleset = LIBC.syscall(
        SYS_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(24), ctypes.c_uint32(0)
    )
    if ruleset >= 0:
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)
        LIBC.syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
        os.close(ruleset)


def children():
    own = os.getpid()
    try:
        with open("/proc/%d/task/%d/children" % (own, own), "rb") as stream:
            return [int(child) for child in stream.read().split()]
    except OSError:
        pass
    # Kernels built without that file.
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % int(entry), "rb") as stream:
                if int(stream.read().rpartition(b")")[2].split()[1]) == own:
                    found.append(int(entry))
        except (OSError, ValueError, IndexError):
            pass
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def end_all():
    """Generation after generation: orphans of what was killed come to this process."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        below = children()
        # All of a generation are stopped before one is killed: what forks is faster than this loop.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def say(control, text):
    try:
        os.write(control, text.encode("ascii"))
    except OSError:
        # Nobody listens: the poll says so next.
        pass


def start(control, flags, program):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.close(control)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        if flags == CONFINE:
            confine_signals()
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, ("%s: %s\n" % (program[0], error)).encode("utf-8", "replace"))
    finally:
        os._exit(127)


def let_go(kept):
    """Only the program itself holds what it was given: the end of its pipes is its end."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    try:
        present = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        present = list(range(4096))
    for descriptor in present:
        if descriptor > 2 and descriptor not in kept:
            try:
                os.close(descriptor)
            except OSError:
                # The one with which the list was made.
                pass


def watch(control, main, wake):
    """Reaps until the program has ended or nobody wants it any more."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == main:
                    return status
                if pid == 0:
                    break
        except ChildProcessError:
            return None
        for descriptor, _ in poll.poll(INTERVAL):
            if descriptor == control:
                return None
            os.read(wake, 4096)


def main(control, flags, program):
    os.set_inheritable(control, False)
    # Ctrl-C is for Fissure, which says what is to happen.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake, writer = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    adopt_orphans()
    pid = start(control, flags, program)
    say(control, "started %d" % pid)
    let_go({control, wake, writer})
    status = watch(control, pid, wake)
    if status is None:
        kill(pid)
    else:
        say(control, "ended %d" % status)
    end_all()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
