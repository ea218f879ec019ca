"""`fuzz` and `scan`: one run of the program each, read back as objects."""

import json
import os
import sys
import tempfile

from fissure import _program
from fissure._references import reference_of
from fissure._results import Result
from fissure._targets import target_of


def fuzz(
    function,
    max_inputs=1000,
    reference=None,
    seed=0,
    max_time=None,
    timeout=None,
    oracles=None,
    workers=None,
    output=None,
    python=None,
    options=(),
):
    """Calls a function with many inputs in processes of their own, and says which calls fail.

    `function`: a function or class that can be imported, or what `fissure fuzz` takes as text.
    `reference`: a function of the same arguments that says what the result should be.
    `max_time`: seconds for the run; `timeout`: seconds for one call. `output`: folder that keeps
    the run. `options`: further options of `fissure fuzz`, as on the command line.
    """
    target = target_of(function)
    output = output or tempfile.mkdtemp(prefix="fissure-")
    command = ["fuzz", target.name, "--quiet", "--plain", "--seed", seed]
    command += ["--max-iter", max_inputs, "--output", output, "--python", python or sys.executable]
    folders = [] if target.folder is None else [target.folder]
    reference = reference if reference is not None else reference_of(function)
    if reference is not None:
        compared = target_of(reference)
        command += ["--reference", compared.reference()]
        if compared.folder is not None and compared.folder not in folders:
            folders.append(compared.folder)
    for folder in folders:
        command += ["--pythonpath", folder]
    for name, value in (
        ("--total-time", max_time),
        ("--timeout", timeout),
        ("--oracles", oracles),
        ("--workers", workers),
    ):
        if value is not None:
            command += [name, value]
    _program.run(command + list(options))
    return _read(output)


def scan(target, max_time=None, output=None, python=None, arguments=(), options=()):
    """Searches a program or a function for numerical instability, and proposes checked fixes.

    `target`: a function, or what `fissure scan` takes as text (`train.py`, `losses.py::focal`).
    `max_time`: seconds for the search. `arguments`: those of the program. `options`: further
    options of `fissure scan`.
    """
    chosen = target_of(target)
    name = chosen.name
    if not isinstance(target, str) and "::" not in name:
        module = sys.modules[target.__module__]
        name = "%s::%s" % (os.path.abspath(module.__file__), target.__qualname__)
    output = output or tempfile.mkdtemp(prefix="fissure-")
    command = ["scan", name, "--output", output, "--python", python or sys.executable]
    if max_time is not None:
        command += ["--total-time", max_time]
    command += list(options)
    if arguments:
        command += ["--"] + list(arguments)
    _program.run(command)
    return _read(output)


def still_failing(folder, python=None):
    """The run in a folder with those of its findings that fail when they are run again; None where
    there is no run, or nothing of it fails any more."""
    if not os.path.isdir(os.path.join(folder, "findings")):
        return None
    command = ["replay", folder, "--json", "--python", python or sys.executable]
    try:
        replayed = json.loads(_program.run(command))
        result = _read(folder)
    except _program.FissureError:
        # A folder of another version, or of a run that was interrupted: it is run anew.
        return None
    failing = {one["id"] for one in replayed if one["status"] == "still-fails"}
    result.findings = [finding for finding in result.findings if finding.id in failing]
    result.again = True
    return result if result.findings else None


def _read(folder):
    return Result(json.loads(_program.run(["report", folder, "--format", "json"])), folder)
