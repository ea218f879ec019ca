"""Findings about the process itself: the program kills it, or a call never comes back."""

import os

from ..run.journal import Run

_SCRIPT = '''"""%(text)s.

Exits with 1 when the failure reproduces, with 0 when it does not.
"""

import os, subprocess, sys

CODE = %(code)r
try:
    run = subprocess.run([sys.executable, "-c", CODE], cwd=%(root)r, timeout=%(seconds)d)
except subprocess.TimeoutExpired:
    print("it did not come back")
    sys.exit(1)
print("exit code", run.returncode)
sys.exit(1 if run.returncode < 0 else 0)
'''

_CALLED = """
import importlib.util, inspect, sys
sys.path.insert(0, %(root)r)
%(call)s
if %(file)r:
    spec = importlib.util.spec_from_file_location("program", %(file)r)
    space = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(space)
else:
    space = importlib.import_module(%(module)r)
owner, target = None, space
for name in %(function)r.split("."):
    owner, target = target, getattr(target, name)
if inspect.isclass(owner) and inspect.isfunction(target) and not isinstance(
        inspect.getattr_static(owner, name), staticmethod):
    if CONSTRUCTOR is None:
        held = owner()
    else:
        ordered = [CONSTRUCTOR.pop(key) for key in CONSTRUCTOR_POSITIONAL]
        held = owner(*(ordered + list(CONSTRUCTOR_REST)), **CONSTRUCTOR)
    target = getattr(held, name)
ordered = [CALL.pop(key) for key in POSITIONAL]
target(*(ordered + list(REST)), **CALL)
"""

_GUARD = """
import subprocess
if os.environ.get("FISSURE_REPRODUCES") is None:
    # The program kills its process, or does not come back: it gets one of its own.
    try:
        run = subprocess.run([sys.executable, os.path.abspath(__file__)], timeout=60,
                             env=dict(os.environ, FISSURE_REPRODUCES="1"))
    except subprocess.TimeoutExpired:
        print("it did not come back")
        sys.exit(1)
    print("exit code", run.returncode)
    sys.exit(1 if run.returncode < 0 else 0)
"""


class Stopped:
    """A call that was stopped from outside, as `record` wants it."""

    def __init__(self, kind, text, call, place):
        self.kind, self.text = kind, text
        self.run = Run("", {}, None, call)
        file, line, scope = place
        self.place = (file, line, scope, scope)


def guarded(script):
    """A reproducer whose program runs in a process of its own."""
    marker = "import base64, os, sys, warnings, zlib\n"
    return script.replace(marker, marker + _GUARD, 1)


def record(plan, death, made_up=False):
    """The finding of a program that dies on its own data, or of a function that dies on made-up
    arguments, with its folder."""
    file, line, name, scope = death.place or (
        plan.get("file") or plan.get("module") or "",
        1,
        plan.get("function") or "program",
        "",
    )
    identifier = "%s_line%d_%s" % (name, line, death.kind)
    folder = os.path.join(plan["output"], identifier)
    os.makedirs(folder, exist_ok=True)
    if plan.get("function"):
        code = _CALLED % {
            "root": plan["root"],
            "call": death.run.call or "CALL, POSITIONAL, REST, CONSTRUCTOR = {}, [], (), None",
            "file": plan.get("file"),
            "module": plan.get("module"),
            "function": plan["function"],
        }
    else:
        code = "import runpy, sys\nsys.argv = %r\nrunpy.run_path(%r, run_name='__main__')" % (
            [plan["file"]] + list(plan.get("arguments", [])),
            plan["file"],
        )
    with open(os.path.join(folder, "reproduce.py"), "w", encoding="utf-8") as handle:
        handle.write(
            _SCRIPT % {"text": death.text, "code": code, "root": plan["directory"], "seconds": 60}
        )
    return {
        "id": identifier,
        "target": plan.get("target"),
        "site": {"file": file, "line": line, "function": name, "scope": scope},
        "oracle": death.kind,
        "also": [],
        "details": [death.text],
        "sentence": "With %s %s."
        % ("made-up arguments" if made_up else "the program's own data", death.text),
        "level": "L2" if made_up else "L0",
        "severity": "high" if made_up else "critical",
        "reason": None,
        "producer": name,
        "hidden_by": None,
        "label": "made-up arguments" if made_up else "the program's own data",
        "signal": "no change",
        "training_steps": 0,
        "ratio": 1.0,
        "input": {},
        "library": "python",
        "elapsed": None,
        "folder": folder,
    }
