"""Answers one request of Fissure: descriptions of callables, lists of public ones.

The variable FISSURE_DISCOVER holds JSON: `file` (where the answer goes), `describe` (paths), `list`
(packages), `files` (packages and paths whose constraint files are wanted), `imports` (modules
imported first), `pythonpath` (folders), `deny` (patterns with reasons).
"""

import importlib
import json
import os
import sys
import warnings

if __package__ in (None, ""):
    # Run as a file: the folder that holds `fissure_worker`.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [one for one in sys.path if os.path.abspath(one or ".") != here]
    sys.path.insert(0, os.path.dirname(os.path.dirname(here)))

from fissure_worker.discover import describe, list_public
from fissure_worker.discover.files import constraint_file


def answer(request):
    for folder in reversed(request.get("pythonpath") or []):
        sys.path.insert(0, os.path.abspath(folder))
    problems = []
    for module in request.get("imports") or []:
        try:
            importlib.import_module(module)
        except BaseException as error:
            problems.append("import %s failed: %s: %s" % (module, type(error).__name__, error))
    public = {}
    for package in request.get("list") or []:
        try:
            public[package] = list_public(package, request.get("deny") or [])
        except BaseException as error:
            problems.append("listing %s failed: %s: %s" % (package, type(error).__name__, error))
    descriptions = {path: describe(path) for path in request.get("describe") or []}
    files, left_out = wanted_files(request, problems)
    asked = list(descriptions) + list(public) + list(request.get("files") or [])
    roots = {path.partition(".")[0] for path in asked}
    roots.update(("torch", "tensorflow", "jax", "numpy", "mxnet"))
    versions = {}
    for root in sorted(roots):
        if root in sys.modules:
            versions[root] = str(getattr(sys.modules[root], "__version__", "unknown"))
    return {
        "version": versions,
        "descriptions": descriptions,
        "public": public,
        "files": files,
        "left_out": left_out,
        "problems": problems,
    }


def wanted_files(request, problems):
    """(contents of constraint files, [path, reason] of what has none)."""
    files = []
    left_out = []
    for name in request.get("files") or []:
        try:
            entries = entries_of(name, request.get("deny") or [])
        except BaseException as error:
            problems.append("%s: %s: %s" % (name, type(error).__name__, error))
            continue
        version = str(getattr(sys.modules.get(name.partition(".")[0]), "__version__", "unknown"))
        for entry in entries:
            if entry["left_out"]:
                left_out.append([entry["path"], entry["left_out"]])
                continue
            description = describe(entry["path"])
            made = constraint_file(description, entry["aliases"], version)
            if made is None:
                left_out.append([entry["path"], description["problem"] or "has no form"])
            else:
                files.append(made)
    return files, left_out


def entries_of(name, deny):
    """The public callables of a module, or the one callable of this name."""
    try:
        importlib.import_module(name)
    except ImportError:
        return [{"path": name, "aliases": [], "left_out": None}]
    return list_public(name, deny)


def main():
    request = json.loads(os.environ["FISSURE_DISCOVER"])
    warnings.simplefilter("ignore")
    made = answer(request)
    with open(request["file"] + ".part", "w", encoding="utf-8", errors="replace") as stream:
        json.dump(made, stream, default=str)
    os.replace(request["file"] + ".part", request["file"])


if __name__ == "__main__":
    main()
