"""Tests as a program: what pytest selects, run by pytest with its fixtures and parameters."""

import importlib.util
import os
import sys


#: The name of the program, in the folder of the scan's results.
PROGRAM = "run_tests.py"
#: What is in the folder of a project: from here on files are the user's.
_PROJECT = ("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", ".git")

# Without functions or classes of its own, which a scan would take for the user's. Tests run without pytest's rewriting of
# assertions and catching of output, in one process, and what one raises the program raises.
_TEXT = """\
# Runs the tests that were scanned, as `python -m pytest` would.
import sys
import types

import pytest

raised = []
watch = types.ModuleType("watch")
watch.pytest_exception_interact = lambda node, call: (
    raised.append(call.excinfo.value),
    isinstance(raised[-1], (Exception, pytest.fail.Exception))
    or setattr(node.session, "shouldstop", "the run was ended"),
)
code = pytest.main(
    ["-q", "-s", "--assert=plain", "-o", "addopts=", %(without)s, %(selected)r], plugins=[watch]
)
if raised:
    raise raised[0]
if code == 5 or code == 4:
    raise LookupError("pytest finds no such test: %%s" %% %(shown)r)
sys.exit(int(code))
"""
_WITHOUT = ("cacheprovider", "faulthandler", "fissure")


def become_program(plan):
    """Where pytest is there, the plan is that of a program that runs the tests."""
    selected = plan.get("tests")
    if not selected or importlib.util.find_spec("pytest") is None:
        return
    path, colons, name = selected.partition("::")
    root = _project(path, plan.get("invoked"))
    shown = os.path.relpath(path, root) + colons + name
    os.makedirs(plan["output"], exist_ok=True)
    program = os.path.join(plan["output"], PROGRAM)
    with open(program, "w", encoding="utf-8") as handle:
        without = ", ".join('"-p", "no:%s"' % plugin for plugin in _WITHOUT)
        handle.write(_TEXT % {"without": without, "selected": selected, "shown": shown})
    plan.update(kind="script", file=program, function=None, root=root, directory=root)
    os.chdir(root)
    sys.path[0] = root


def _project(path, invoked):
    """The folder of the project that a test belongs to; else, as pytest has it, the one that the user is in where the test is
    below it; else the test's own."""
    own = path if os.path.isdir(path) else os.path.dirname(path)
    folder = own
    if invoked and os.path.realpath(own).startswith(os.path.realpath(invoked) + os.sep):
        own = os.path.realpath(invoked)
    while True:
        if any(os.path.exists(os.path.join(folder, name)) for name in _PROJECT):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return own
        folder = above
