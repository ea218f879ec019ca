"""Answers one request of Fissure: descriptions of callables, lists of public ones.

The variable FISSURE_DISCOVER holds JSON: `file` (where the answer goes), `describe` (paths), `list`
(packages), `imports` (modules imported first), `pythonpath` (folders), `deny` (patterns with reasons).
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
    roots = {path.partition(".")[0] for path in list(descriptions) + list(public)}
    roots.update(("torch", "tensorflow", "jax", "numpy", "mxnet"))
    versions = {}
    for root in sorted(roots):
        if root in sys.modules:
            versions[root] = str(getattr(sys.modules[root], "__version__", "unknown"))
    return {
        "version": versions,
        "descriptions": descriptions,
        "public": public,
        "problems": problems,
    }


def main():
    request = json.loads(os.environ["FISSURE_DISCOVER"])
    warnings.simplefilter("ignore")
    made = answer(request)
    with open(request["file"] + ".part", "w", encoding="utf-8", errors="replace") as stream:
        json.dump(made, stream, default=str)
    os.replace(request["file"] + ".part", request["file"])


if __name__ == "__main__":
    main()
