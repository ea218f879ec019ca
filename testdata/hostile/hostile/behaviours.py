"""How a behaviour is declared, and what several of them need."""

import ctypes
import os

TRIGGER = 7
#: Name of each behaviour → refused or harmless.
BEHAVIOURS = {}
LIBC = ctypes.CDLL(None, use_errno=True)


def behaviour(kind):
    def register(function):
        def call(x):
            if x == TRIGGER:
                function()
            return x

        BEHAVIOURS[function.__name__] = kind
        call.__name__ = call.__qualname__ = function.__name__
        call.__doc__ = function.__doc__
        return call

    return register


refused = behaviour("refused")
harmless = behaviour("harmless")


def outside(name=""):
    return os.path.join(os.environ["HOSTILE_OUTSIDE"], name)


def orchestrator():
    return int(os.environ["HOSTILE_ORCHESTRATOR"])


def system(number, *arguments):
    """A system call by number, of x86-64."""
    answer = LIBC.syscall(
        *[ctypes.c_long(it) if isinstance(it, int) else it for it in (number,) + arguments]
    )
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def read_secret(path):
    """What is hidden may be refused, or empty."""
    with open(path) as stream:
        if "precious" not in stream.read():
            raise PermissionError("there is nothing in it")


def checked(answer):
    if answer != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def shared_mappings():
    """Start and length of the memory shared with the orchestrator."""
    with open("/proc/self/maps") as stream:
        for line in stream:
            if "memfd:fissure" in line:
                start, end = [int(part, 16) for part in line.split()[0].split("-")]
                yield start, end - start, line.split()[1]
