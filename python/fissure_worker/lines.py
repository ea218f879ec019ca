"""Lines of the library's Python code, as blocks beside those of its native code.

Each line of the package's files has a byte in a region of memory that holds nothing but traps. When a line is first
run, its byte is called: the handler of native coverage notes it, puts a return instruction in its place, and from
then on the line is known. Arming again, lists and counts are therefore those of native code.

From Python 3.12 on a line costs nothing after its first run (`sys.monitoring`); before (`sys.settrace`), functions of
which every line is known are left alone, and all of them after many calls without a new line.
"""

import ctypes
import dis
import mmap
import os
import sys

TRAP = 0xCC
RETURN = 0xC3
#: Calls without a new line, after which no call is looked at until blocks are armed again.
PATIENCE = 200000
#: The tool's number for `sys.monitoring`: none of those that Python gives names to.
TOOL = 3


def watched_path(package, library):
    """The folder of a package, or the file of a module that is none; None where there is no such file."""
    module = sys.modules.get(package.partition(".")[0]) or library
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    file = os.path.realpath(file)
    return os.path.dirname(file) if hasattr(module, "__path__") else file


def files_below(folder):
    """Every Python file below a folder with its number of lines, in the order of their paths: as `python_lines.rs`."""
    if os.path.isfile(folder):
        with open(folder, "rb") as stream:
            return [(b"", stream.read().count(b"\n") + 1)]
    found = []
    for inner, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(inner, name)
            if name.endswith(".py") and os.path.isfile(path):
                with open(path, "rb") as stream:
                    lines = stream.read().count(b"\n") + 1
                found.append((os.fsencode(os.path.relpath(path, folder)), lines))
    return sorted(found)


def code_region(size, byte):
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    region = mmap.mmap(-1, size, flags=flags, prot=protection)
    region.write(bytes([byte]) * size)
    return region


class Lines:
    """The lines of one package."""

    def __init__(self, folder):
        self.folder = folder
        #: By file as code objects name it: the place of its first line.
        self.begins = {}
        total = 0
        for path, lines in files_below(folder):
            path = os.path.join(folder, os.fsdecode(path)) if path else folder
            self.begins[path] = total
            total += lines
        self.total = max(total, 1)
        self.bytes = code_region(self.total, TRAP)
        self.originals = code_region(self.total, RETURN)
        self.address = address_of(self.bytes)
        self.call = ctypes.PYFUNCTYPE(None)
        #: The same by code object, which is cheaper to ask; None for code of others.
        self.known = {}
        #: Before Python 3.12: functions of which every line is known, and the places of their lines.
        self.full = set()
        self.places = {}
        self.idle = 0
        # Kept here: at the interpreter's end the names of modules are gone before the last lines are run.
        self.trap = TRAP
        self.patience = PATIENCE
        self.line_starts = dis.findlinestarts
        self.disable = sys.monitoring.DISABLE if hasattr(sys, "monitoring") else None
        self.end_tracing = sys.settrace

    def facts(self):
        return {
            "folder": self.folder,
            "begin": self.address,
            "end": self.address + self.total,
        }

    def begin_of(self, code):
        """Where the lines of a function's file begin, or None."""
        name = code.co_filename
        if name not in self.known:
            begin = self.begins.get(name)
            self.known[name] = self.begins.get(os.path.realpath(name)) if begin is None else begin
        return self.known[name]

    def note(self, place):
        """The first visit of a line traps; whether it was one."""
        if place >= self.total or self.bytes[place] != self.trap:
            return False
        self.call(self.address + place)()
        return True

    # From Python 3.12 on.

    def watch(self):
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:
            sys.settrace(self.on_call)
            return
        if monitoring.get_tool(TOOL) is None:
            monitoring.use_tool_id(TOOL, "fissure")
        monitoring.register_callback(TOOL, monitoring.events.LINE, self.on_line)
        monitoring.set_events(TOOL, monitoring.events.LINE)

    def on_line(self, code, line):
        begin = self.begin_of(code)
        if begin is not None:
            self.note(begin + line - 1)
        return self.disable

    def again(self):
        """Lines whose bytes were armed again count again."""
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:
            self.full.clear()
            self.idle = 0
            sys.settrace(self.on_call)
        else:
            monitoring.restart_events()

    # Before.

    def on_call(self, frame, event, argument):
        code = frame.f_code
        begin = self.begin_of(code)
        if begin is None or code in self.full:
            return None
        self.idle += 1
        if self.idle > self.patience:
            self.end_tracing(None)
            return None
        self.note(begin + frame.f_lineno - 1)

        def on_event(frame, event, argument):
            if event == "line" and self.note(begin + frame.f_lineno - 1):
                self.idle = 0
            elif event == "return" and self.is_full(code, begin):
                self.full.add(code)
            return on_event

        return on_event

    def is_full(self, code, begin):
        """Every line of a function is known."""
        if code not in self.places:
            starts = self.line_starts(code)
            self.places[code] = [begin + line - 1 for _, line in starts if line]
        return all(self.bytes[place] != self.trap for place in self.places[code])


def address_of(buffer):
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def prepare(package, library):
    """The lines of the target's package, or None."""
    path = watched_path(package, library)
    return None if path is None else Lines(path)
