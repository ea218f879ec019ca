"""Findings about the process itself: the program kills it, or a call never comes back."""

import os

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

_GUARD = '''
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
'''


def guarded(script):
    """A reproducer whose program runs in a process of its own."""
    marker = "import base64, os, sys, warnings, zlib\n"
    return script.replace(marker, marker + _GUARD, 1)


def record(plan, death):
    """The finding of a program that dies on its own data, with its folder."""
    file, line, name, scope = death.place or (plan.get("file") or plan.get("module") or "", 1,
                                              plan.get("function") or "program", "")
    identifier = "%s_line%d_%s" % (name, line, death.kind)
    folder = os.path.join(plan["output"], identifier)
    os.makedirs(folder, exist_ok=True)
    if plan.get("function"):
        code = "raise SystemExit('the arguments are in the finding')"
    else:
        code = "import runpy, sys\nsys.argv = %r\nrunpy.run_path(%r, run_name='__main__')" % (
            [plan["file"]] + list(plan.get("arguments", [])), plan["file"])
    with open(os.path.join(folder, "reproduce.py"), "w", encoding="utf-8") as handle:
        handle.write(_SCRIPT % {"text": death.text, "code": code, "root": plan["directory"],
                                "seconds": 60})
    return {"id": identifier, "target": plan.get("target"),
            "site": {"file": file, "line": line, "function": name, "scope": scope},
            "oracle": death.kind, "also": [], "details": [death.text],
            "sentence": "With the program's own data %s." % death.text, "level": "L0",
            "severity": "critical", "reason": None, "producer": name, "hidden_by": None,
            "label": "the program's own data", "signal": "no change", "training_steps": 0,
            "ratio": 1.0, "input": {}, "library": "python", "elapsed": None, "folder": folder}
