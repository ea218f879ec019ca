"""The parent of all workers: imports the library once, forks, reaps, and does nothing else.

It never calls into the library after the import, because forking a process whose library has run
a large operation hangs the child. It ends, and ends everything below it, when the orchestrator's
end of the main socket closes, for whatever reason.
"""

import array
import faulthandler
import gc
import importlib
import json
import os
import platform
import select
import signal
import socket
import sys
import time
import traceback
import warnings

from fissure_worker import coverage, lines, native, oracles, worker
from fissure_worker.adapter import choose

REQUEST_LIMIT = 65536
DESCRIPTOR_LIMIT = 8
#: Milliseconds between two looks for strays when nothing else happens.
SWEEP_INTERVAL = 1000
#: Seconds that a question to the library may take.
CHILD_SECONDS = 20
#: A worker that failed in Fissure's own code ends with this code.
OWN_FAILURE = 86


class Zygote:
    def __init__(self, adapter, main, slots):
        self.adapter = adapter
        self.main = main
        #: File descriptor → socket of a slot.
        self.slots = {slot.fileno(): slot for slot in slots}
        #: Process id of a worker → file descriptor of its slot.
        self.workers = {}
        self.pid = os.getpid()
        self.wake, self.wake_writer = socket.socketpair()
        self.wake.setblocking(False)
        self.wake_writer.setblocking(False)

    def serve(self):
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self.wake_writer.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        for descriptor in [self.main.fileno(), self.wake.fileno()] + list(self.slots):
            poll.register(descriptor, select.POLLIN)
        while True:
            events = poll.poll(SWEEP_INTERVAL)
            for descriptor, event in events:
                if descriptor == self.wake.fileno():
                    self.wake.recv(4096)
                elif descriptor == self.main.fileno():
                    return
                elif not self.request(descriptor):
                    poll.unregister(descriptor)
                    self.drop(descriptor)
            if self.reap() or not events:
                self.sweep()

    def request(self, descriptor):
        """One request of a slot; False when the slot is gone."""
        slot = self.slots[descriptor]
        try:
            message, descriptors = receive(slot)
        except OSError:
            return False
        if not message:
            return False
        settings = json.loads(message.decode("utf-8"))
        try:
            pid = self.fork(settings, descriptors)
        except OSError as error:
            return answer(slot, {"refused": str(error)})
        finally:
            for received in descriptors:
                os.close(received)
        self.workers[pid] = descriptor
        return answer(slot, {"forked": pid})

    def fork(self, settings, descriptors):
        pid = os.fork()
        if pid:
            return pid
        code = OWN_FAILURE
        try:
            signal.set_wakeup_fd(-1)
            for own in [self.main, self.wake, self.wake_writer] + list(self.slots.values()):
                own.close()
            worker.start(self.adapter, settings, descriptors, self.pid)
            code = 0
        except BaseException:
            # Reaches the log of the slot if the descriptor still leads there.
            traceback.print_exc()
        finally:
            os._exit(code)

    def reap(self):
        """Collects ended children; a worker's group is killed while its number is still taken."""
        any_ended = False
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return any_ended
            if ended is None:
                return any_ended
            any_ended = True
            pid = ended.si_pid
            if pid in self.workers:
                native.kill(pid, whole_group=True)
            _, status = os.waitpid(pid, 0)
            descriptor = self.workers.pop(pid, None)
            if descriptor in self.slots:
                answer(self.slots[descriptor], {"ended": {"pid": pid, "status": status}})

    def sweep(self):
        """Kills processes that outlived the worker which started them."""
        for child in native.children(self.pid):
            if child not in self.workers:
                native.kill(child)

    def drop(self, descriptor):
        """A slot was closed: its workers end."""
        self.slots.pop(descriptor).close()
        for pid, owner in self.workers.items():
            if owner == descriptor:
                native.kill(pid, whole_group=True)

    def end(self):
        """Kills everything below, generation after generation: orphans come to this process."""
        deadline = time.monotonic() + 5
        for pid in self.workers:
            native.kill(pid, whole_group=True)
        while time.monotonic() < deadline:
            below = native.children(self.pid)
            if not below:
                return
            for pid in below:
                native.kill(pid)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def receive(slot):
    """One message with the file descriptors that came with it."""
    descriptors = array.array("i")
    room = socket.CMSG_SPACE(DESCRIPTOR_LIMIT * descriptors.itemsize)
    message, ancillary, _, _ = slot.recvmsg(REQUEST_LIMIT, room)
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            usable = len(content) - len(content) % descriptors.itemsize
            descriptors.frombytes(content[:usable])
    return message, list(descriptors)


def answer(channel, content):
    try:
        channel.send(json.dumps(content).encode("ascii"))
        return True
    except OSError:
        return False


def from_child(function, failed):
    """The answer of a function that is called in a child: asking a library for devices starts
    drivers, and a process that has done so must not be forked. `failed` if there is none."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            signal.alarm(CHILD_SECONDS)
            with os.fdopen(writer, "w") as stream:
                json.dump(function(), stream)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    try:
        return json.loads(text)
    except ValueError:
        # It died of what it asked; that is no reason not to run anything.
        return failed


def main(settings):
    os.nice(settings["niceness"])
    main_socket = socket.socket(fileno=settings["main"])
    slots = [socket.socket(fileno=descriptor) for descriptor in settings["slots"]]
    faulthandler.enable(2)
    native.adopt_orphans()
    native.flush_lines_of_c()
    begin = time.monotonic()
    try:
        # First, because they may be what tells which library a package is built on.
        for name in settings["imports"]:
            importlib.import_module(name)
        adapter = choose(settings["package"], settings["dtypes"])
        adapter.load()
        oracles.preload(settings["oracles"], adapter.library)
    except BaseException:
        answer(main_socket, {"failed": traceback.format_exc()[-8000:]})
        return
    # Python 3.12 warns of forks beside threads; the library's threads are idle here.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    # Objects of the import move where no collection looks: a worker's collections are cheap and
    # leave the memory shared.
    gc.collect()
    gc.freeze()
    gc.disable()
    import_seconds = time.monotonic() - begin
    if settings["coverage"]:
        watched = lines.prepare(settings["package"], adapter.library)
        python = None if watched is None else watched.facts()
        loaded = {"native": coverage.executable_files(), "python": python}
        answer(main_socket, {"imported": loaded})
        message, descriptors = receive(main_socket)
        try:
            coverage.arm(json.loads(message.decode("utf-8")), descriptors, watched)
        except Exception as error:
            answer(main_socket, {"not_armed": str(error)})
            return
    names = settings["oracles"]
    obstacles = []
    if names:
        obstacles = from_child(lambda: oracles.obstacles(names, adapter.library), [])
    answer(
        main_socket,
        {
            "ready": {
                "library_version": adapter.version(),
                "tensors": adapter.tensors(),
                "fresh_inputs": adapter.fresh_inputs,
                "python_version": platform.python_version(),
                "executable": sys.executable,
                "dtypes": adapter.supported(),
                "import_seconds": import_seconds,
                "obstacles": obstacles,
            }
        },
    )
    zygote = Zygote(adapter, main_socket, slots)
    try:
        zygote.serve()
    finally:
        zygote.end()
        os._exit(0)
