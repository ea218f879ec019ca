"""Scans inside this interpreter of programs written into folders of their own, and sentences about
what comes out. The scripts beside it import it; they are run with the runtime's folder and the
registry as JSON, print one line per sentence and end with 1 if one of them is wrong."""

import atexit
import builtins
import contextlib
import importlib.machinery
import io
import json
import math
import os
import runpy
import shutil
import sys
import tempfile
import textwrap
import traceback

sys.path.insert(0, sys.argv[1])
sys.path.insert(0, os.path.join(sys.argv[1], "..", "crates", "fissure-testing", "python"))
WANTED = sys.argv[3:]
with open(sys.argv[2], encoding="utf-8") as handle:
    REGISTRY = json.load(handle)

import numpy

try:
    import torch
except ImportError:
    # An interpreter of another library: its scripts scan, and run no reproducer in here.
    torch = None

import in_process

CASES = []
_OF_TORCH = ()
if torch is not None:
    torch.set_num_threads(1)
    _OF_TORCH = (
        (torch, ("compile", "from_numpy", "load", "save")),
        (torch.jit, ("script", "trace")),
        (torch.utils.data.DataLoader, ("__iter__",)),
    )
# What a reproducer, whose process ends with it, replaces for good.
_PATCHED = [
    (owner, name)
    for owner, names in _OF_TORCH
    + (
        (builtins, ("__fissure_result__",)),
        (importlib.machinery.SourceFileLoader, ("get_code",)),
        (math, tuple(dir(math))),
        (
            numpy,
            (
                "array",
                "asarray",
                "zeros",
                "ones",
                "full",
                "linspace",
                "arange",
                "eye",
                "load",
                "loadtxt",
                "genfromtxt",
                "fromfile",
                "frombuffer",
            ),
        ),
        (
            numpy.random,
            tuple(name for name in dir(numpy.random) if not name.startswith("_")),
        ),
    )
    for name in names
]


class Scan:
    """One scan of files written into a folder of its own."""

    def __init__(self, files, target="program.py", **more):
        folder = os.path.realpath(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb" if isinstance(text, bytes) else "w") as handle:
                handle.write(text if isinstance(text, bytes) else textwrap.dedent(text))
        self.folder = folder
        file, module, function = target, None, None
        if "::" in target:
            file, function = target.split("::")
        elif ":" in target:
            (module, function), file = target.split(":"), None
        if file:
            file = os.path.join(folder, file)
        os.chdir(folder)
        sys.path.insert(0, folder)
        given = {
            "module": module,
            "function": function,
            "root": folder,
            "directory": folder,
            "timeout": 20,
            "own_run_timeout": 20,
            "output": os.path.join(folder, "out"),
        }
        given.update(more)
        self.events = in_process.Events()
        self.session = in_process.session(self.events, file, REGISTRY, **given)
        try:
            if self.session.start():
                self.session.run_search()
        finally:
            sys.path.remove(folder)
            self.forget()
        self.records = self.events.of("finding")
        self.findings = [event for event in self.records if event["severity"] != "theoretical"]
        self.notes = [event for event in self.records if event["severity"] == "theoretical"]
        understood = self.events.of("understood")
        self.inputs = dict(
            (entry["name"], entry) for event in understood for entry in event["inputs"]
        )

    def forget(self):
        """The next scan may have modules of the same name."""
        for name in list(sys.modules):
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(self.folder):
                del sys.modules[name]

    def at(self, line, records=None):
        for record in self.findings if records is None else records:
            if record["site"]["line"] == line:
                return record
        return None

    def problem(self):
        return "; ".join(str(event.get("message")) for event in self.events.of("failed"))

    def reproduces(self, record):
        """Exit code 1 of reproduce.py, run as a script of its own."""
        before = list(sys.path)
        saved = [(owner, name, getattr(owner, name)) for owner, name in _PATCHED]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(os.path.join(record["folder"], "reproduce.py"), run_name="__main__")
        except SystemExit as stop:
            return stop.code == 1
        finally:
            sys.path[:] = before
            for owner, name, value in saved:
                setattr(owner, name, value)
            self.forget()
        return False

    def __repr__(self):
        return "problem %r, records %r, inputs %r" % (
            self.problem(),
            [
                (
                    record["site"]["line"],
                    record["site"]["function"],
                    record["oracle"],
                    record["severity"],
                    record["level"],
                    record["label"],
                    record["reason"],
                )
                for record in self.records
            ],
            self.inputs,
        )


def case(sentence):
    def register(function):
        CASES.append((sentence, function))
        return function

    return register


def check(value, scan):
    assert value, repr(scan)


def run_cases():
    """Runs the sentences, or those that contain one of the words after the two paths."""
    wrong = 0
    for sentence, function in CASES:
        if WANTED and not any(word in sentence for word in WANTED):
            continue
        try:
            function()
            print("%s: ok" % sentence, flush=True)
        except Exception as error:
            wrong += 1
            print("%s: %s: %s" % (sentence, type(error).__name__, str(error)[:1500]), flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    sys.exit(1 if wrong else 0)
