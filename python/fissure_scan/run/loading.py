"""What a file of the program defines and which libraries it names, before it is run."""

import ast
import contextlib
import importlib
import importlib.util
import io
import sys

from . import instrument


def defines_functions(path):
    """Has the file functions or classes that could be scanned one by one?"""
    try:
        with open(path, "rb") as handle:
            tree = ast.parse(handle.read(), path)
    except (OSError, SyntaxError, ValueError, TypeError):
        return False
    return any(isinstance(node, instrument.DEFINITIONS[2:]) for node in tree.body)


def preload(path, users):
    """Imports what a file imports from elsewhere: this is no part of its run, and takes time."""
    try:
        with open(path, "rb") as handle:
            tree = ast.parse(handle.read(), path)
    except (OSError, SyntaxError, ValueError, TypeError):
        return
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        else:
            continue
        for name in names:
            if name not in sys.modules and not _own(name, users):
                sink = io.StringIO()
                with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
    if "scipy.linalg" in sys.modules:
        from ..backends import scipy_watch

        scipy_watch.install()


def _own(name, users):
    """Is it a module that the user wrote? Those are executed in the run; `fissure` itself too."""
    first = name.partition(".")[0]
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError, AttributeError):
        return True
    if spec is None:
        return True
    places = list(spec.submodule_search_locations or []) + [spec.origin or ""]
    return any(
        users.owns(place + ("/x.py" if not place.endswith(".py") else "")) for place in places
    )
