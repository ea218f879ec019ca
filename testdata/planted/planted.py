"""A library with planted bugs: most inputs are fine, the value 7 is not.

Fissure's tests run against it. Each function misbehaves in one way, named by the function, and
returns its argument otherwise.
"""

import _thread
import ctypes
import os
import signal
import socket
import sys
import threading
import time

__version__ = "1.0"

TRIGGER = 7


def fine(x):
    """Nothing is wrong with this one."""
    return x


def reject(x):
    """An ordinary rejection."""
    if x == TRIGGER:
        raise ValueError("x must not be %d" % x)
    return x


def segv(x):
    """A real read of address zero."""
    if x == TRIGGER:
        ctypes.string_at(0)
    return x


def abort(x):
    if x == TRIGGER:
        os.abort()
    return x


def fpe(x):
    if x == TRIGGER:
        os.kill(os.getpid(), signal.SIGFPE)
    return x


def bus(x):
    """A real one: a mapped file that was cut short."""
    if x == TRIGGER:
        import mmap
        import tempfile

        with tempfile.TemporaryFile() as stream:
            stream.truncate(8192)
            mapped = mmap.mmap(stream.fileno(), 8192)
            stream.truncate(0)
            return mapped[5000]
    return x


def ill(x):
    if x == TRIGGER:
        os.kill(os.getpid(), signal.SIGILL)
    return x


def handler_exit(x):
    """As libraries do that catch a fault themselves: a message, then an exit code."""
    if x == TRIGGER:
        os.write(2, b"Segmentation fault: 11\n")
        os._exit(255)
    return x


def plain_exit(x):
    if x == TRIGGER:
        os._exit(3)
    return x


def hang(x):
    """Asks not to be disturbed."""
    if x == TRIGGER:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)
    return x


def memory_hog(x):
    if x == TRIGGER:
        kept = []
        while True:
            kept.append(b"x" * (1 << 20))
    return x


KEPT = []


def leak(x):
    """Never lets go of a megabyte."""
    KEPT.append(b"x" * (1 << 20))
    return x


def hog_in_child(x):
    """The memory is taken by a child process."""
    if x == TRIGGER:
        pid = os.fork()
        if pid == 0:
            memory_hog(x)
        os.waitpid(pid, 0)
    return x


def output_flood(x):
    """Sixty-four megabytes of noise, then a normal return."""
    if x == TRIGGER:
        for _ in range(1024):
            os.write(1, b"noise\n" * 10922)
    return x


def endless_flood(x):
    if x == TRIGGER:
        while True:
            print("noise " * 1000)
    return x


def close_descriptors(x):
    if x == TRIGGER:
        os.closerange(0, 4096)
    return x


def leave_children(x):
    """Three children: one in the group, one in its own session, one whose parent is gone."""
    if x == TRIGGER:
        for way in range(3):
            if os.fork() == 0:
                if way:
                    os.setsid()
                if way == 2 and os.fork():
                    os._exit(0)
                time.sleep(600)
                os._exit(0)
    return x


def leave_children_and_hang(x):
    leave_children(x)
    return hang(x)


def slow(x):
    """Nothing is wrong with it, it takes its time."""
    time.sleep(0.02)
    return x


def slow_tenths(x):
    """Takes so many tenths of a second."""
    time.sleep(x / 10)
    return x


def fork_and_return(x):
    """The child comes back from the call just like the parent."""
    if x == TRIGGER:
        os.fork()
    return x


def late_thread_crash(x):
    """Returns at once; a thread crashes a little later."""
    if x == TRIGGER:

        def later():
            time.sleep(0.05)
            ctypes.string_at(0)

        threading.Thread(target=later, daemon=True).start()
    return x


def endless_thread(x):
    """Returns at once; a thread stays."""
    if x == TRIGGER:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    return x


def slow_to_leave(x):
    """Returns at once; its process seems to have one more thread, and takes its time to see that."""
    if x == TRIGGER:
        count = _thread._count

        def counted():
            time.sleep(0.5)
            return count() + 1

        _thread._count = counted
    return x


def undecodable_text(x):
    if x == TRIGGER:
        raise ValueError(b"caf\xe9 \xff".decode("utf-8", "surrogateescape") + "\0end")
    return x


def huge_text(x):
    if x == TRIGGER:
        raise ValueError("y" * (1 << 24))
    return x


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text for you")

    __repr__ = __str__


def unprintable_exception(x):
    if x == TRIGGER:
        raise Unprintable()
    return x


class Sticky:
    """Complains when it goes."""

    def __del__(self):
        raise RuntimeError("not now")

    def __repr__(self):
        raise RuntimeError("no text for you")


def sticky_result(x):
    return Sticky() if x == TRIGGER else x


class CrashingEnd:
    def __del__(self):
        ctypes.string_at(0)


def crash_in_destructor(x):
    """The call returns; letting go of its result crashes."""
    return CrashingEnd() if x == TRIGGER else x


def system_exit(x):
    if x == TRIGGER:
        sys.exit("planted")
    return x


def endless_recursion(x):
    if x == TRIGGER:
        return endless_recursion(x)
    return x


def interrupt(x):
    """An interrupt that arrives at any later moment."""
    if x == TRIGGER:
        _thread.interrupt_main()
    return x


def internal_assert(x):
    if x == TRIGGER:
        raise RuntimeError(
            'x != 7 INTERNAL ASSERT FAILED at "planted.cpp":7, please report a bug to Planted.'
        )
    return x


def not_a_number(x):
    return [{"values": (0.0, float("nan") if x == TRIGGER else 1.0)}]


def kill_parent(x):
    if x == TRIGGER:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1)
    return x


def kill_itself(x):
    """Looks like somebody else's `kill -9`."""
    if x == TRIGGER:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def write_outside(x):
    """Writes where PLANTED_OUTSIDE says, which is outside the scratch folder."""
    if x == TRIGGER:
        with open(os.environ["PLANTED_OUTSIDE"], "w") as stream:
            stream.write("planted")
    return x


def write_inside(x):
    with open("inside.txt", "w") as stream:
        stream.write(str(x))
    return os.environ["HOME"]


def open_connection(x):
    """Connects to the port of this machine that PLANTED_PORT names."""
    if x == TRIGGER:
        port = int(os.environ["PLANTED_PORT"])
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    return x


class Layer:
    """A class that is constructed, then called."""

    def __init__(self, size):
        if size < 0:
            raise ValueError("size must not be negative")
        self.size = size

    def __call__(self, x):
        if x == TRIGGER:
            ctypes.string_at(0)
        return x + self.size


def expect(kind, value):
    """Raises unless `repr(value)` of type name `kind` arrived: for tests of the way there."""
    got = "%s:%r" % (type(value).__name__, value)
    if got != kind:
        raise ValueError(got)
    return True


def slip_of_the_library(x):
    """An index that its own code gets wrong: not an answer to the caller."""
    sizes = (1, 2, 3)
    return sizes[x] if x == TRIGGER else x


def refuses_an_index(x):
    """The correct twin: the same class, raised for the caller."""
    if x == TRIGGER:
        raise IndexError("x is out of range, expected less than 7")
    return x


SPOILT = []


def spoil(x):
    """Leaves the library in a state in which `spoilt` refuses everything."""
    SPOILT.append(x)
    return x


def spoilt(x):
    if SPOILT:
        raise TypeError("'NoneType' object is not callable")
    return x
