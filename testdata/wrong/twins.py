"""Loads the files of `defects/` twice: with their defects (`wrong`) and without (`right`).

Every file is ordinary library code that asks `wrong("name")` at the place where it goes wrong; what
is executed for `right` is the very same text. The environment variable `WRONG_DEFECTS` (names
separated by commas) leaves only these defects switched on.
"""

import os
import sys
import types

FILES = ("values", "contracts", "forms", "derivatives", "modes", "costs", "failures", "memory")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "defects")


def switch(name, defects):
    """The question that the files ask."""
    if not defects:
        return lambda defect: False
    chosen = os.environ.get("WRONG_DEFECTS")
    if chosen is None:
        return lambda defect: True
    chosen = tuple(chosen.split(","))
    return lambda defect: defect in chosen


def load(name, defects):
    """The public functions and classes of all files, for the namespace of the module `name`."""
    found = {"__version__": "1.0"}
    for file in FILES:
        module = types.ModuleType(name + "." + file)
        module.__file__ = os.path.join(FOLDER, file + ".py")
        module.wrong = switch(name, defects)
        #: Names that exist once in a process (custom operators, methods of tensors) need it.
        module.LIBRARY = name
        with open(module.__file__) as stream:
            text = stream.read()
        sys.modules[module.__name__] = module
        exec(compile(text, module.__file__, "exec"), module.__dict__)
        for public, value in list(module.__dict__.items()):
            if getattr(value, "__module__", None) == module.__name__ and public[0] != "_":
                value.__module__ = name
                found[public] = value
    return found
