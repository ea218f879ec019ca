"""What it does to other processes, and what it leaves running."""

import os
import resource
import signal
import subprocess
import threading
import time

from hostile.behaviours import refused, harmless, orchestrator, system

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
