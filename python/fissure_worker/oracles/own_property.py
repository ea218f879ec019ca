"""A property that you wrote does not hold for a result.

# What it does

Loads the file of `--property FILE` (or of `fissure.toml`) and calls every function of it whose name begins
with `check` with the result, then with the arguments of the call as they were given:
`check_length(result, x, width)`. A function that raises, or returns False, says that the property does not
hold. A function that cannot take these arguments (a `TypeError` of the call itself) is about another function.

# Why it matters

What must hold for every result (sorted, sums to one, its inverse gives the input back) needs no second
implementation.

# When it stays silent

When a check returns None or True. Only when a file is named.

# Example

```text
checks.check_sorted(result, x) raises AssertionError: not sorted
```
"""

import importlib.util
import inspect
import os

from fissure_worker.oracles.call import Report
from fissure_worker.oracles.own_reference import concerns, settings

PRICE = 2
LOADED = {}


def unavailable(library):
    return None if settings("properties") else "no property is named (--property)"


def load(path):
    if path not in LOADED:
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        LOADED[path] = module
    return LOADED[path]


def checks(module, only):
    for name, found in sorted(vars(module).items()):
        own = inspect.isfunction(found) and found.__module__ == module.__name__
        if own and (name == only if only else name.startswith("check")):
            yield name, found


def check(call):
    for row in settings("properties"):
        if not concerns(row, call.path):
            continue
        for name, function in checks(load(row["file"]), row.get("function")):
            problem = broken(call, function)
            if problem is not None:
                kind, text = problem
                yield Report(
                    "%s: %s" % (name, kind), text, "the property holds", source(call, row, name)
                )


def values(arguments):
    """The arguments of the call that gave the result: those of a layer's own call."""
    if arguments.layer is not None:
        return arguments.layer
    return arguments.positional, arguments.keywords


def broken(call, function):
    """`(kind, text)` when the property does not hold, else None."""
    positional, keywords = values(call.build())
    result = call.plain_run(call.build(), seed=True)
    try:
        inspect.signature(function).bind(result, *positional, **keywords)
    except TypeError:
        return None
    try:
        answer = function(result, *positional, **keywords)
    except Exception as error:
        return "raises %s" % type(error).__name__, repr(error)
    return ("returns False", "False") if answer is False else None


def source(call, row, name):
    given = "*arguments, **keywords"
    if call.is_layer:
        given = "*layer_arguments, **layer_keywords"
    lines = [
        "import importlib.util",
        "spec = importlib.util.spec_from_file_location(%r, %r)"
        % (os.path.splitext(os.path.basename(row["file"]))[0], row["file"]),
        "checks = importlib.util.module_from_spec(spec)",
        "spec.loader.exec_module(checks)",
        "{build}",
        "result = {traced}",
        "{build}",
        "try:",
        "    answer = checks.%s(result, %s)" % (name, given),
        "except Exception as error:",
        "    return True, repr(error), 'the property holds'",
        "return answer is False, repr(answer), 'the property holds'",
    ]
    return call.source(lines)
