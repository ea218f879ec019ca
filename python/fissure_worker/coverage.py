"""Native coverage inside the target's process: an `int3` on every block of the library's code, put
there once after the import, and a handler that takes it away when the block is first run.

The blocks come from the program, which reads the files (`fissure-coverage`), and so does the handler,
as machine code (`handler.rs` there: the layout of its words is the one used here). What a worker
reaches goes into its slot's part of shared memory, which the program reads between messages.
"""

import ctypes
import mmap
import os
import signal

from fissure_worker import native

#: Bytes of the page of code; the handler's words are in the page behind it.
PAGE = 4096
LIST = 0
CURRENT = 1
COUNT = 2
MODULES = 4
WORDS_OF_MODULE = 3
#: Words of a list before its entries, and bytes of an entry.
LIST_WORDS = 2
ENTRY_BYTES = 16

SA_SIGINFO = 0x4
SA_ONSTACK = 0x08000000
SA_RESTART = 0x10000000
SA_NODEFER = 0x40000000
FAILED = ctypes.c_void_p(-1).value

#: What is armed in this process, or None.
ARMED = None


class Action(ctypes.Structure):
    """`struct sigaction` of the C library."""

    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def executable_files():
    """The files whose code is mapped here: path, begin and end of the mapping, position in the file."""
    found = []
    with open("/proc/self/maps") as stream:
        for line in stream:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
                begin, _, end = fields[0].partition("-")
                found.append(
                    {
                        "path": fields[5],
                        "begin": int(begin, 16),
                        "end": int(end, 16),
                        "position": int(fields[2], 16),
                    }
                )
    return found


def address_of(buffer):
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def library():
    if native.LIBC is None:
        raise OSError("the interpreter has no ctypes")
    libc = native.LIBC
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc


def check(done, action):
    if not done:
        number = ctypes.get_errno()
        raise OSError(number, "failed to %s: %s" % (action, os.strerror(number)))


class Armed:
    """The code, its words and the lists of all slots, as the zygote made them and workers inherit."""

    def __init__(self, reply, plan, hits, lines=None):
        #: Of the library's Python code, or None.
        self.lines = lines
        libc = library()
        # Made writable first, then executable: systems that forbid both at once say so here.
        self.region = mmap.mmap(-1, 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        code = bytes.fromhex(reply["code"])
        self.region[: len(code)] = code
        self.base = address_of(self.region)
        done = libc.mprotect(self.base, PAGE, mmap.PROT_READ | mmap.PROT_EXEC) == 0
        check(done, "make the handler executable")
        self.words = (ctypes.c_uint64 * (PAGE // 8)).from_buffer(self.region, PAGE)
        self.hits = mmap.mmap(hits, 0)
        self.list_bytes = reply["list_bytes"]
        self.entries = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
        self.again = self.entries(self.base + reply["rearm"])
        self.arm(libc, reply, plan)

    def arm(self, libc, reply, plan):
        arm = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        arm = arm(self.base + reply["arm"])
        # Without native code there are lines of Python alone.
        size = max(os.fstat(plan).st_size, 1)
        blocks = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, plan, 0)
        check(blocks != FAILED, "map the list of blocks")
        for number, module in enumerate(reply["modules"]):
            begin, length = module["begin"], module["end"] - module["begin"]
            descriptor = os.open(module["path"], os.O_RDONLY | os.O_CLOEXEC)
            original = libc.mmap(
                None, length, mmap.PROT_READ, mmap.MAP_PRIVATE, descriptor, module["position"]
            )
            os.close(descriptor)
            check(original != FAILED, "map %s once more" % module["path"])
            at = MODULES + WORDS_OF_MODULE * number
            self.words[at : at + WORDS_OF_MODULE] = [begin, begin + length, original]
        count = len(reply["modules"])
        if self.lines is not None:
            facts = self.lines.facts()
            at = MODULES + WORDS_OF_MODULE * count
            originals = address_of(self.lines.originals)
            self.words[at : at + WORDS_OF_MODULE] = [facts["begin"], facts["end"], originals]
            count += 1
        self.words[COUNT] = count
        action = Action(handler=self.base)
        action.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER
        done = libc.sigaction(signal.SIGTRAP, ctypes.byref(action), None) == 0
        check(done, "install the handler")
        everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        for module in reply["modules"]:
            length = module["end"] - module["begin"]
            done = libc.mprotect(module["begin"], length, everything) == 0
            check(done, "make the code of %s writable" % module["path"])
            arm(blocks + module["plan"], module["blocks"], module["bias"])
        libc.munmap(ctypes.c_void_p(blocks), ctypes.c_size_t(size))

    def attach(self, slot, journal):
        """In a worker: hits go to the list of this slot, each with the journal's first word."""
        begin = slot * self.list_bytes
        self.list = (ctypes.c_uint64 * LIST_WORDS).from_buffer(self.hits, begin)
        self.settled = ctypes.c_uint64.from_buffer(self.hits, begin + self.list_bytes - 8)
        self.first = address_of(self.hits) + begin + 8 * LIST_WORDS
        self.words[CURRENT] = address_of(journal)
        self.words[LIST] = address_of(self.hits) + begin
        if self.lines is not None:
            self.lines.watch()

    def rearm(self):
        """Blocks count again: all of them when another API runs from here on, otherwise those behind the part of the
        list that is settled (its length is the last word)."""
        count = min(self.list[0], self.list[1])
        settled = min(self.settled.value, count)
        self.list[0] = settled
        self.again(self.first + settled * ENTRY_BYTES, count - settled)
        if self.lines is not None:
            self.lines.again()


def arm(reply, descriptors, lines=None):
    global ARMED
    try:
        ARMED = Armed(reply, *descriptors, lines=lines)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def attach(slot, journal):
    if ARMED is not None:
        ARMED.attach(slot, journal)


def rearm():
    if ARMED is not None:
        ARMED.rearm()
