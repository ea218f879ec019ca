"""The hot loop: takes inputs out of the arena, calls the API, writes down what happened.

Two pieces of shared memory: the *arena* with the encoded inputs, read-only here, and the *journal*
(layout in `journal.rs`): a header, one result word and one text reference per input, then the text
of exceptions and of what oracles say. The journal names an input before anything of it runs, and its result is stored
after everything of it is gone, destructors included; whoever finds this process dead knows which
input it was, and that all results before it are good.
"""

import _thread
import faulthandler
import gc
import marshal
import mmap
import os
import signal
import socket
import sys
import time
import traceback
import types

from fissure_worker import describe as describe_module
from fissure_worker import coverage, judging, native
from fissure_worker.build import build, resolve
from fissure_worker.involved import how_far, involved
from fissure_worker.outcome import (
    ACCEPTED,
    ACCEPTED_NAN,
    NOT_BUILT,
    REJECTED,
    describe,
    status_of,
)

# Words of the journal's header.
CURRENT = 0  # 1 + number of the input that runs, 0 when none does
FINISHED = 1  # the last finished message
NEXT = 2  # first input of that message which did not run
TEXT = 3  # bytes of text in use
BEGAN = 4  # when the call of the current input began, on the monotonic clock
HEADER_WORDS = 8

#: Bits of the flags of a message.
CHECK_NAN = 1
COMPILED = 2
TRACED = 4
REARM = 8
#: A collection of reference cycles that took longer (seconds) is not to be repeated after every batch.
LONG_COLLECTION = 0.002
#: How long a thread that an input started is waited for, so that its crash is this input's crash.
THREAD_GRACE = 0.25
THREAD_STEP = 0.002
#: Room that one more exception needs at most in the text area.
TEXT_RESERVE = 16384
#: Rejections of a message of which it is told what they have to do with which argument: no more are read.
EXPLAINED = 24
#: By how much a finding's script gives way to others.
SCRIPT_NICENESS = 3


class Worker:
    def __init__(self, adapter, settings, channel, arena, journal):
        self.adapter = adapter
        self.channel = channel
        self.folder = settings["folder"]
        self.slots = settings["slots"]
        # The mappings outlive their descriptors: closing every descriptor does not end the worker,
        # and no call finds one.
        self.arena = memoryview(mmap.mmap(arena, 0, prot=mmap.PROT_READ))
        mapped = mmap.mmap(journal, 0)
        coverage.attach(settings["slot"], mapped)
        shared = memoryview(mapped)
        native.close_all_of(arena)
        native.close_all_of(journal)
        head = 8 * (HEADER_WORDS + 2 * self.slots)
        self.words = shared[:head].cast("Q")
        # The last word is a mark of the orchestrator.
        self.text = shared[head:-8]
        self.text_full = False
        self.explained = 0
        self.reserve = TEXT_RESERVE
        self.targets = {}
        self.pid = os.getpid()
        self.threads = _thread._count()
        adapter.attach(self.arena)

    def serve(self):
        """Runs message after message until the orchestrator closes the channel."""
        while True:
            message = self.channel.recv(65536)
            if not message:
                return
            sequence, start, end, flags, table, path, names = marshal.loads(message)
            if flags & REARM:
                coverage.rearm()
            self.text_full = False
            self.explained = 0
            self.reserve = judging.TEXT_RESERVE if names else TEXT_RESERVE
            index = start
            while index < end:
                try:
                    if names:
                        index = judging.run(self, index, end, flags, table, path, names)
                    else:
                        index = self.run(index, end, flags, table, path)
                    break
                except BaseException as error:
                    # Raised outside the call itself: a pending interrupt, a raising destructor.
                    index = self.words[CURRENT] - 1
                    self.fail(index, error, status_of(error))
                    index += 1
                    if self.text_full:
                        break
            self.tidy()
            self.words[NEXT] = index
            self.words[CURRENT] = 0
            self.words[FINISHED] = sequence
            self.channel.send(b"f")
            if _thread._count() > self.threads:
                # A thread that an API started still runs; what it does next would be blamed on
                # inputs that have no part in it.
                return

    def prepare(self, path, flags=0):
        """State that an earlier input may have spoilt; then the object to call, or the error."""
        try:
            os.chdir(self.folder)
        except OSError:
            pass
        try:
            faulthandler.enable(2)
            # The watchdog asks where a hanging input is before it ends it.
            faulthandler.register(signal.SIGUSR2, 2, all_threads=True, chain=False)
        except (OSError, RuntimeError, ValueError):
            # Descriptor 2 is closed: crashes of this worker have no Python stack.
            pass
        if gc.isenabled():
            gc.disable()
        try:
            self.adapter.reset()
            way = flags & (COMPILED | TRACED)
            if (path, way) not in self.targets:
                target = self.adapter.target(resolve(path))
                if way == COMPILED:
                    target = self.adapter.compiled(target)
                elif way == TRACED:
                    target = self.adapter.traced(target)
                self.targets[path, way] = target
        except Exception as error:
            return None, error
        return self.targets[path, way], None

    def run(self, start, end, flags, table, path):
        words = self.words
        words[BEGAN] = time.perf_counter_ns()
        words[CURRENT] = start + 1
        target, problem = self.prepare(path, flags)
        if problem is not None:
            return self.fail_all(start, end, problem)
        # Everything the loop touches is local: a lookup saved is a nanosecond saved per input.
        adapter = self.adapter
        arena = self.arena
        offsets = arena[table : table + 8 * end].cast("Q")
        loads = marshal.loads
        dense = adapter.dense
        check_nan = adapter.has_nan if flags & CHECK_NAN else None
        clock = time.perf_counter_ns
        getpid = os.getpid
        pid = self.pid
        count_threads = _thread._count
        threads = count_threads()
        results = HEADER_WORDS
        for index in range(start, end):
            words[CURRENT] = index + 1
            failure = result = None
            words[BEGAN] = begin = clock()
            try:
                arguments, keywords, tensors, rest, layer = loads(arena[offsets[index] :])
                for by_name, key, code, shape, strides, offset in tensors:
                    if by_name:
                        keywords[key] = dense(code, shape, strides, offset)
                    else:
                        arguments[key] = dense(code, shape, strides, offset)
                if rest:
                    self.build_rest(arguments, keywords, rest)
                if layer:
                    layer = self.build_layer(layer)
            except BaseException as error:
                elapsed = clock() - begin
                status = NOT_BUILT
                failure = error
            else:
                begin = clock()
                try:
                    result = target(*arguments, **keywords)
                    if layer:
                        result = result(*layer[0], **layer[1])
                    elapsed = clock() - begin
                    status = ACCEPTED
                except BaseException as error:
                    elapsed = clock() - begin
                    status = status_of(error)
                    failure = error
                if getpid() != pid:
                    # The API forked and this is the copy: it must not act as the worker.
                    os._exit(0)
                if check_nan is not None and failure is None:
                    try:
                        if check_nan(result):
                            status = ACCEPTED_NAN
                    except Exception:
                        # A result that cannot be looked at is still a result.
                        pass
            if failure is not None:
                about = None
                if status == REJECTED:
                    made = layer and result is not None
                    about = self.explain(failure, arguments, keywords, layer, made)
                self.describe(index, failure, status, about)
            # Destructors run now, while the journal still names this input.
            arguments = keywords = layer = result = failure = None
            if count_threads() > threads:
                threads = self.wait_for_threads(threads)
            words[results + index] = elapsed << 4 | status
            if self.text_full:
                return index + 1
        return end

    def leave_if_forked(self):
        if os.getpid() != self.pid:
            # The API forked and this is the copy: it must not act as the worker.
            os._exit(0)

    def fail_all(self, start, end, problem):
        for index in range(start, end):
            self.words[CURRENT] = index + 1
            self.fail(index, problem, NOT_BUILT)
            if self.text_full:
                return index + 1
        return end

    def build_rest(self, arguments, keywords, rest):
        for by_name, key, tree in rest:
            if by_name:
                keywords[key] = build(self.adapter, tree)
            else:
                arguments[key] = build(self.adapter, tree)

    def build_layer(self, layer):
        """Arguments of the call on a constructed layer, in the form of those of any call."""
        arguments, keywords, tensors, rest = layer
        for by_name, key, code, shape, strides, offset in tensors:
            value = self.adapter.dense(code, shape, strides, offset)
            if by_name:
                keywords[key] = value
            else:
                arguments[key] = value
        self.build_rest(arguments, keywords, rest)
        return arguments, keywords

    def explain(self, error, arguments, keywords, layer, made):
        """How far a refused call came, and what its rejection has to do with which arguments."""
        self.explained += 1
        try:
            if self.explained > EXPLAINED:
                return how_far(error, made)
            return involved(error, arguments, keywords, layer, made)
        except Exception:
            # Frames of a program may be stranger than was thought of; the outcome must not depend on them.
            return None

    def describe(self, index, error, status, about=None):
        """Puts the text of an exception into the journal."""
        text = describe(error, status, about)[:TEXT_RESERVE]
        self.write(index, self.words[TEXT], text)

    def write(self, index, position, text):
        """Puts the text of an input into the journal, over what it had at this position."""
        words = self.words
        end = position + len(text)
        # Nobody reads a text that is half written: the reference is what counts.
        words[HEADER_WORDS + self.slots + index] = 0
        self.text[position:end] = text
        words[TEXT] = end
        words[HEADER_WORDS + self.slots + index] = position << 32 | len(text)
        # The orchestrator takes the text out before the rest of the batch goes on.
        self.text_full = end + self.reserve > len(self.text)

    def fail(self, index, error, status):
        self.describe(index, error, status)
        self.words[HEADER_WORDS + index] = status

    def wait_for_threads(self, before):
        deadline = time.monotonic() + THREAD_GRACE
        while _thread._count() > before and time.monotonic() < deadline:
            time.sleep(THREAD_STEP)
        return _thread._count()

    def tidy(self):
        """Between batches: reference cycles are collected (the zygote froze its own objects, so
        this is cheap and un-shares nothing), processes that an API left behind are killed."""
        begin = time.perf_counter()
        gc.collect()
        if time.perf_counter() - begin > LONG_COLLECTION:
            # Modules that a call imported: they stay, and looking through them takes longer than the calls.
            gc.freeze()
        self.leave_if_forked()
        for child in native.children(self.pid):
            native.kill(child)
            try:
                os.waitpid(child, 0)
            except OSError:
                # Reaped by somebody else, or children are reaped by the kernel.
                pass


def start(adapter, settings, descriptors, parent):
    """The whole life of a forked worker; does not return."""
    os.setsid()
    native.die_with_parent(parent)
    arena, journal, channel, output = descriptors
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if settings["confine_signals"]:
        native.confine_signals()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Ignored when Fissure was started in the background: what an input does must not depend on that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    endpoint = socket.socket(fileno=channel)
    if settings["task"] == "script":
        os.close(journal)
        run_script(settings["folder"], arena)
    elif settings["task"] == "describe":
        describe_module.serve(adapter, endpoint)
    else:
        Worker(adapter, settings, endpoint, arena, journal).serve()


def run_script(folder, source):
    """A script as an interpreter of its own would run it; ends the process as that would end."""
    # Whoever fuzzes meanwhile comes first.
    os.nice(SCRIPT_NICENESS)
    os.chdir(folder)
    gc.enable()
    size = os.fstat(source).st_size
    text = os.pread(source, size, 0).rstrip(b"\0")
    os.close(source)
    name = "reproduce.py"
    main = types.ModuleType("__main__")
    main.__file__ = name
    sys.modules["__main__"] = main
    sys.argv = [name]
    code = 0
    try:
        # Line for line, so that what is printed before a crash is seen.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(line_buffering=True)
        exec(compile(text, name, "exec"), main.__dict__)
    except SystemExit as end:
        code = end.code
        if code is None:
            code = 0
        elif not isinstance(code, int):
            sys.stderr.write("%s\n" % (code,))
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code & 0xFF)
