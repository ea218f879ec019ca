"""The function gives something else than the reference that you named.

# What it does

Calls the reference of `--reference MODULE:FUNCTION` (or of `fissure.toml`) with the same arguments and
compares the results: structure, shape, element type, where NaN and infinities are, and values within
`rtol` and `atol` where you set them, else within the tolerance of the least precise element type. A class
is constructed and its object called, as the function under test is.

# Why it matters

A plain implementation of what a kernel should compute is the best oracle there is.

# When it stays silent

When the reference raises: it need not support what the function does. For functions that draw random
numbers. Only when a reference is named.

# Example

```text
mypkg.ops.window_sum(x, width=3) != mypkg.ref.window_sum(x, width=3)
observed  tensor([1., 3., 6.])
expected  tensor([1., 3., 5.])
```
"""

import importlib
import json
import os

from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report

PRICE = 2
#: What the user asked for, as JSON: `{"references": [{target, module, name, rtol, atol}], …}`.
SETTINGS = "FISSURE_OWN_ORACLES"


def settings(kind):
    """The rows of one kind that the user asked for."""
    return json.loads(os.environ.get(SETTINGS, "{}")).get(kind, [])


def concerns(row, path):
    """Is a row about this function? Without a target it is about every function."""
    target = row.get("target")
    return not target or target == path


def unavailable(library):
    return None if settings("references") else "no reference is named (--reference)"


def check(call):
    rows = [row for row in settings("references") if concerns(row, call.path)]
    for row in rows:
        if call.random:
            return
        reference = importlib.import_module(row["module"])
        for part in row["name"].split("."):
            reference = getattr(reference, part)
        expected, error = run(call, reference)
        if error is not None:
            continue
        options = {"rtol": row.get("rtol"), "atol": row.get("atol")}
        found = compare.difference(call.baseline, expected, **options)
        if found is not None:
            texts = compare.short(found.observed), compare.short(found.expected)
            yield Report("reference: " + found.kind, texts[0], texts[1], source(call, row, found))


def run(call, reference):
    arguments = call.build()
    call.seed()
    try:
        result = reference(*arguments.positional, **arguments.keywords)
        if arguments.layer is not None:
            result = result(*arguments.layer[0], **arguments.layer[1])
    except Exception as error:
        return None, error
    return (foreign.native(result) if call.is_foreign else result), None


def source(call, row, found):
    expected = "reference(*arguments, **keywords)"
    if call.is_layer:
        expected += "(*layer_arguments, **layer_keywords)"
    if call.is_foreign:
        expected = "native(%s)" % expected
    lines = [
        "import importlib",
        "reference = importlib.import_module(%r).%s" % (row["module"], row["name"]),
        "{build}",
        "observed = {call}" + found.path,
        "{build}",
        "expected = " + expected + found.path,
    ]
    return call.source(lines + found.lines)
