"""What it does to the machine, the kernel and itself."""

import ctypes
import mmap
import os
import resource
import signal
import socket
import struct
import tempfile
import time

from hostile.behaviours import LIBC, refused, harmless, orchestrator, system, checked

# The machine.


@refused
def set_the_clock():
    time.clock_settime(time.CLOCK_REALTIME, time.time() + 0.001)


@refused
def set_the_name_of_the_machine():
    name = socket.gethostname().encode()
    checked(LIBC.sethostname(name, len(name)))


@refused
def mount_a_file_system():
    checked(LIBC.mount(b"none", tempfile.gettempdir().encode(), b"tmpfs", 0, None))


@refused
def make_everything_writable_again():
    checked(LIBC.mount(None, b"/", None, 32 | 4096, None))


@refused
def change_the_root():
    os.chroot(tempfile.gettempdir())


@refused
def enter_a_namespace_of_the_orchestrator():
    descriptor = os.open("/proc/%d/ns/mnt" % orchestrator(), os.O_RDONLY)
    try:
        system(308, descriptor, 0)
    finally:
        os.close(descriptor)


@refused
def make_namespaces():
    checked(LIBC.unshare(0x10000000 | 0x00020000))


@refused
def load_a_program_into_the_kernel():
    system(321, 5, None, 0)


@refused
def ask_for_performance_counters():
    system(298, ctypes.create_string_buffer(struct.pack("<II", 1, 128) + bytes(120)), 0, -1, -1, 0)


@refused
def add_a_key():
    system(248, b"user", b"hostile", b"x", 1, -4)


@refused
def use_queues_of_the_kernel():
    system(425, 8, ctypes.create_string_buffer(120))


@refused
def open_a_file_by_its_handle():
    system(304, -100, ctypes.create_string_buffer(struct.pack("<Ii", 8, 1) + bytes(8)), 0)


@refused
def write_a_setting_of_the_kernel():
    with open("/proc/sys/vm/swappiness") as stream:
        value = stream.read()
    with open("/proc/sys/vm/swappiness", "w") as stream:
        stream.write(value)


@refused
def become_another_user():
    os.setresuid(12345, 12345, 12345)
    # What the orchestrator started must stay within its reach.
    os.setresuid(0, 0, 0)


@harmless
def take_memory_without_end():
    blocks = []
    while True:
        block = mmap.mmap(-1, 64 << 20)
        block.write(b"x" * (64 << 20))
        blocks.append(block)


@harmless
def open_files_without_end():
    kept = []
    try:
        while True:
            kept.append(open("/dev/null"))
    except OSError:
        pass


@harmless
def hang_with_all_signals_blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 32)))
    os.kill(os.getpid(), signal.SIGSTOP)


@harmless
def kill_its_own_group():
    os.killpg(0, signal.SIGKILL)


@harmless
def replace_itself_by_another_program():
    os.execv("/bin/sleep", ["sleep", "600"])


@harmless
def limit_itself_to_nothing():
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
