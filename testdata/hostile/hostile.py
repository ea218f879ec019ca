"""A library that attacks whoever runs it. Every function returns its argument unless it is 7; then it
does what its name says. Each behaviour is one of:

- ``refused``: it must fail. A return without an exception means that it got what it wanted.
- ``harmless``: it may do what it likes with its own process; nobody else may notice.

Where things lie that must stay as they are, the variables HOSTILE_… say. The Rust test beside it
(`crates/fissure-execute/tests/integration/hostile.rs`) looks after each behaviour whether they did.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

TRIGGER = 7
#: Name of each behaviour → refused or harmless.
BEHAVIOURS = {}
LIBC = ctypes.CDLL(None, use_errno=True)
__version__ = "1"


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


# Files outside.


@refused
def create_a_file_outside():
    open(outside("new"), "w").close()


@refused
def overwrite_a_file_outside():
    with open(outside("file"), "w") as stream:
        stream.write("gone")


@refused
def append_to_a_file_outside():
    with open(outside("file"), "a") as stream:
        stream.write("more")


@refused
def truncate_a_file_outside():
    os.truncate(outside("file"), 0)


@refused
def remove_a_file_outside():
    os.unlink(outside("file"))


@refused
def rename_a_file_outside():
    os.rename(outside("file"), outside("renamed"))


@refused
def move_a_file_from_outside():
    os.rename(outside("file"), "taken")


@refused
def make_a_folder_outside():
    os.mkdir(outside("folder"))


@refused
def make_a_link_outside():
    os.symlink("/etc/passwd", outside("link"))


@refused
def hard_link_from_outside():
    os.link(outside("file"), "linked")
    with open("linked", "w") as stream:
        stream.write("gone")


@refused
def write_through_a_link_inside():
    if os.path.lexists("way-out"):
        os.unlink("way-out")
    os.symlink(outside("file"), "way-out")
    with open("way-out", "w") as stream:
        stream.write("gone")


@refused
def change_the_mode_of_a_file_outside():
    os.chmod(outside("file"), 0o777)


@refused
def change_the_mode_by_descriptor():
    descriptor = os.open(outside("file"), os.O_RDONLY)
    try:
        os.fchmod(descriptor, 0o777)
    finally:
        os.close(descriptor)


@refused
def change_the_owner_of_a_file_outside():
    os.chown(outside("file"), 12345, 12345)


@refused
def change_the_times_of_a_file_outside():
    os.utime(outside("file"), (1, 1))


@refused
def set_an_attribute_of_a_file_outside():
    os.setxattr(outside("file"), "user.hostile", b"1")


@refused
def set_flags_of_a_file_outside():
    descriptor = os.open(outside("file"), os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, 0x40086602, struct.pack("l", 0x40))
    finally:
        os.close(descriptor)


@refused
def make_a_device_outside():
    os.mknod(outside("device"), 0o600 | 0o020000, os.makedev(1, 3))


@refused
def make_a_device_inside():
    os.mknod("device", 0o600 | 0o060000, os.makedev(254, 0))


@refused
def write_from_a_child_outside():
    subprocess.check_call(
        [sys.executable, "-S", "-c", "open(%r, 'w')" % outside("new")], stderr=subprocess.DEVNULL
    )


@harmless
def replace_the_work_folder_by_a_link():
    """The clean-up must not follow it."""
    folder = os.getcwd()
    os.chdir("/")
    os.rename(folder, folder + "-moved")
    os.symlink(outside(), folder)
    os._exit(0)


@harmless
def replace_the_parent_of_the_work_folder_by_a_link():
    folder = os.path.dirname(os.getcwd())
    os.chdir("/")
    os.rename(folder, folder + "-moved")
    os.symlink(outside("parent"), folder)
    os._exit(0)


@harmless
def fill_the_work_folder_with_deep_folders():
    for _ in range(400):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)


@harmless
def make_the_work_folder_unreadable():
    os.chmod(os.getcwd(), 0)
    os._exit(0)


@harmless
def write_one_huge_file():
    with open("huge", "wb") as stream:
        stream.truncate(1 << 40)


# Memory that stays.


@harmless
def leave_a_file_in_shared_memory():
    try:
        with open("/dev/shm/hostile-left", "w") as stream:
            stream.write("x" * 1000)
    except OSError:
        pass


@harmless
def leave_system_v_memory():
    try:
        system(29, 0x46495353, 4096, 0o1666)
    except OSError:
        pass


@harmless
def leave_a_system_v_queue():
    try:
        system(68, 0x46495353, 0o1666)
    except OSError:
        pass


@harmless
def leave_system_v_semaphores():
    try:
        system(64, 0x46495353, 1, 0o1666)
    except OSError:
        pass


# Secrets.


@refused
def read_an_ssh_key():
    read_secret(os.path.join(os.environ["HOSTILE_HOME"], ".ssh", "id_test"))


@refused
def read_a_token():
    read_secret(os.path.join(os.environ["HOSTILE_HOME"], ".netrc"))


@refused
def read_a_secret_through_a_link():
    if os.path.lexists("key"):
        os.unlink("key")
    os.symlink(os.path.join(os.environ["HOSTILE_HOME"], ".ssh", "id_test"), "key")
    read_secret("key")


@refused
def read_a_secret_of_the_environment():
    os.environ["HOSTILE_SECRET_TOKEN"]


@refused
def read_the_environment_of_the_orchestrator():
    with open("/proc/%d/environ" % orchestrator(), "rb") as stream:
        if b"HOSTILE_SECRET_TOKEN" not in stream.read():
            raise PermissionError("not in it")


@refused
def read_the_memory_of_the_orchestrator():
    with open("/proc/%d/mem" % orchestrator(), "rb") as stream:
        stream.read(1)


@refused
def talk_to_a_socket_of_the_user():
    """An ssh-agent, or docker."""
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.connect(os.environ["HOSTILE_SOCKET"])


@refused
def talk_to_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.connect("\0" + os.environ["HOSTILE_ABSTRACT"])


# The network.


@refused
def connect_to_this_machine():
    socket.create_connection(("127.0.0.1", int(os.environ["HOSTILE_PORT"])), 2).close()


@refused
def connect_by_version_six():
    socket.create_connection(("::1", int(os.environ["HOSTILE_PORT"])), 2).close()


@refused
def send_a_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.sendto(b"x", ("127.0.0.1", int(os.environ["HOSTILE_PORT"])))


@refused
def open_a_raw_socket():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as endpoint:
        endpoint.bind(("eth0", 0))


@refused
def talk_to_the_host_of_a_virtual_machine():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


# Other processes.


@refused
def kill_the_orchestrator():
    os.kill(orchestrator(), signal.SIGKILL)


@refused
def stop_the_orchestrator():
    os.kill(orchestrator(), signal.SIGSTOP)


@refused
def kill_the_parent():
    os.kill(os.getppid(), signal.SIGKILL)


@refused
def queue_a_signal_by_a_process_descriptor():
    descriptor = system(434, orchestrator(), 0)
    try:
        system(424, descriptor, 9, None, 0)
    finally:
        os.close(descriptor)


@refused
def trace_the_orchestrator():
    system(101, 16, orchestrator(), 0, 0)


@refused
def write_memory_of_the_orchestrator():
    system(311, orchestrator(), 0, 0, 0, 0, 0)


@refused
def take_a_descriptor_of_the_orchestrator():
    descriptor = system(434, orchestrator(), 0)
    try:
        system(438, descriptor, 0, 0)
    finally:
        os.close(descriptor)


@refused
def lower_the_limits_of_the_orchestrator():
    resource.prlimit(orchestrator(), resource.RLIMIT_NOFILE, (10, 10))


@refused
def lower_the_priority_of_the_orchestrator():
    os.setpriority(os.PRIO_PROCESS, orchestrator(), 19)


@refused
def lower_the_priority_of_everything_of_the_user():
    # As it is already, should it succeed: this is the machine of whoever runs the tests.
    os.setpriority(os.PRIO_USER, 0, 0)


@refused
def pin_the_orchestrator_to_one_core():
    os.sched_setaffinity(orchestrator(), {0})


@harmless
def raise_the_score_of_the_orchestrator():
    """The kernel's choice of whom to kill when memory is short."""
    try:
        with open("/proc/%d/oom_score_adj" % orchestrator(), "w") as stream:
            stream.write("1000")
    except OSError:
        pass


@harmless
def leave_a_child():
    subprocess.Popen(["sleep", "600"])


@harmless
def leave_a_daemon():
    """Detached twice, with nothing of the environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", "600"], {})
        os._exit(0)


@harmless
def leave_a_daemon_that_ignores_signals():
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(600)
        os._exit(0)


@harmless
def leave_a_daemon_and_exit():
    if os.fork() == 0:
        os.setsid()
        os.execve("/bin/sleep", ["sleep", "600"], {})
    os._exit(0)


@harmless
def fork_two_hundred_times():
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)


@harmless
def start_threads_that_never_end():
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


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
