"""System calls that Python's standard library does not offer. All of them are best effort: an
interpreter without `ctypes` loses a safeguard, not the run.
"""

import os
import signal

try:
    import ctypes

    LIBC = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):
    ctypes = None
    LIBC = None

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_SCOPE_SIGNAL = 2
LINE_BUFFERED = 1


def control(option, argument):
    """`prctl(2)`; tells whether it was done."""
    if LIBC is None:
        return False
    try:
        return LIBC.prctl(option, ctypes.c_ulong(argument), 0, 0, 0) == 0
    except (AttributeError, OSError):
        return False


def adopt_orphans():
    """Processes whose parent dies become children of this one, where they can be found."""
    return control(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent):
    """The kernel kills this process when its parent ends, even by `kill -9`."""
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the call above: then nobody would tell.
    if os.getppid() != parent:
        os._exit(0)


def confine_signals():
    """A worker cannot signal the zygote or its siblings (Landlock, Linux 6.12 or newer)."""
    if LIBC is None:
        return False
    try:
        attributes = (ctypes.c_uint64 * 3)(0, 0, LANDLOCK_SCOPE_SIGNAL)
        ruleset = LIBC.syscall(
            SYS_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(24), ctypes.c_uint32(0)
        )
        if ruleset < 0:
            return False
        control(PR_SET_NO_NEW_PRIVS, 1)
        done = LIBC.syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
        os.close(ruleset)
        return done
    except (AttributeError, OSError):
        return False


def flush_lines_of_c():
    """The C library's standard output loses at most one unfinished line in a crash."""
    if LIBC is None:
        return
    try:
        stdout = ctypes.c_void_p.in_dll(LIBC, "stdout")
        LIBC.setvbuf(stdout, None, LINE_BUFFERED, ctypes.c_size_t(0))
    except (AttributeError, ValueError, OSError):
        pass


def close_all_of(descriptor):
    """Closes every descriptor of the file that this one leads to: a mapping of Python keeps a copy
    of its own, and these are never unmapped."""
    this = os.fstat(descriptor)
    try:
        found = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        found = list(range(descriptor + 64))
    for other in found:
        try:
            that = os.fstat(other)
            if (that.st_dev, that.st_ino) == (this.st_dev, this.st_ino):
                os.close(other)
        except OSError:
            # The one with which the list was made.
            pass


def children(pid):
    """The children of the one-threaded process `pid`."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), "rb") as stream:
            return [int(child) for child in stream.read().split()]
    except FileNotFoundError:
        return _children_by_search(pid)
    except OSError:
        return []


def _children_by_search(pid):
    """The same for kernels built without that file."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry, "rb") as stream:
                # The name in brackets may hold anything, brackets included.
                fields = stream.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 1 and int(fields[1]) == pid:
            found.append(int(entry))
    return found


def kill(pid, whole_group=False):
    """SIGKILL; a process that is already gone is what was wanted. One that was forked a moment ago has no group of
    its own yet, and is killed all the same."""
    for send in (os.killpg, os.kill) if whole_group else (os.kill,):
        try:
            send(pid, signal.SIGKILL)
        except OSError:
            pass
