"""What it does to the memory and the messages that it shares with the orchestrator."""

import ctypes
import os
import signal
import socket
import struct
import time

from hostile.behaviours import LIBC, refused, harmless, orchestrator, checked, shared_mappings

# The shared memory.


@refused
def truncate_inherited_descriptors():
    """Any descriptor that leads to shared memory, made shorter."""
    done = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            if "memfd:fissure" in os.readlink("/proc/self/fd/" + name):
                os.ftruncate(int(name), 0)
                done += 1
        except OSError:
            pass
    if not done:
        raise PermissionError("no descriptor could be truncated")


@refused
def truncate_shared_memory_by_its_map():
    """The same through the links of the process table."""
    done = 0
    for start, length, _ in shared_mappings():
        path = "/proc/self/map_files/%x-%x" % (start, start + length)
        try:
            os.truncate(path, 0)
            done += 1
        except OSError:
            pass
    if not done:
        raise PermissionError("no mapping could be truncated")


@refused
def truncate_files_of_the_orchestrator():
    """Its own descriptors, through the process table."""
    folder = "/proc/%d/fd" % orchestrator()
    done = 0
    for name in os.listdir(folder):
        try:
            os.truncate(os.path.join(folder, name), 0)
            done += 1
        except OSError:
            pass
    if not done:
        raise PermissionError("no descriptor could be truncated")


@harmless
def zero_the_journal():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memset(start, 0, length)


@harmless
def fill_the_journal_with_ones():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memset(start, 255, length)


@harmless
def zero_the_journal_and_exit():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memset(start, 0, length)
    os._exit(0)


@harmless
def zero_the_journal_and_hang_up():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memset(start, 0, length)
    os.kill(os.getpid(), signal.SIGSEGV)


@harmless
def claim_that_nothing_runs_and_exit():
    """Only the word that names the input, so that no mark is touched."""
    for start, _, rights in shared_mappings():
        if "w" in rights:
            ctypes.memset(start, 0, 8)
    os._exit(0)


@harmless
def claim_another_input():
    for start, _, rights in shared_mappings():
        if "w" in rights:
            ctypes.memmove(start, struct.pack("<Q", 1 << 40), 8)
    os._exit(1)


@harmless
def claim_huge_texts():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memmove(start + 8 * (8 + 4096), b"\xff" * (8 * 4096), 8 * 4096)


@harmless
def claim_results_of_no_kind():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            ctypes.memmove(start + 64, b"\x0f" * (8 * 4096), 8 * 4096)


@harmless
def make_the_journal_unwritable():
    for start, length, rights in shared_mappings():
        if "w" in rights:
            LIBC.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(length), 1)


@harmless
def unmap_the_shared_memory():
    for start, length, _ in list(shared_mappings()):
        LIBC.munmap(ctypes.c_void_p(start), ctypes.c_size_t(length))


@refused
def write_into_the_inputs():
    """The arena is for reading."""
    for start, length, rights in shared_mappings():
        if "w" not in rights:
            checked(LIBC.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(length), 3))
            ctypes.memset(start, 0, 64)
            return
    raise PermissionError("there is no arena")


@harmless
def grow_the_journal():
    for name in os.listdir("/proc/self/fd"):
        try:
            if "memfd" in os.readlink("/proc/self/fd/" + name):
                os.ftruncate(int(name), 1 << 30)
        except OSError:
            pass


# Messages.


@harmless
def forge_messages():
    """Something to every socket that is open here."""
    for name in os.listdir("/proc/self/fd"):
        for message in (b"f", b"", b'{"ended": {"pid": 1, "status": 0}}', b"\xff" * 60000):
            try:
                socket.socket(fileno=os.dup(int(name))).send(message, socket.MSG_DONTWAIT)
            except OSError:
                pass


@harmless
def close_every_descriptor():
    os.closerange(0, 4096)


@harmless
def shut_every_socket_down():
    for name in os.listdir("/proc/self/fd"):
        try:
            socket.socket(fileno=os.dup(int(name))).shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


@harmless
def print_without_end_for_a_while():
    for _ in range(2000):
        os.write(1, b"\x1b]0;title\x07\x1b[2J" * 500)


@harmless
def keep_the_output_open_in_a_child():
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
