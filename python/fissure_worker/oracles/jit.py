"""The traced or scripted function gives something else than the function.

# What it does

Records the call with `torch.jit.trace`, runs the record on the same tensors, and compares with the
plain call. Functions written in Python are also compiled with `torch.jit.script`.

# Why it matters

Deployed models run what was recorded. The recorded operators have their own overloads, defaults and
fusions, and constants that were tensors.

# When it stays silent

When the call cannot be traced or scripted, for random functions, and for results that are not
tensors. Only when named (`--oracles jit`): a call costs tens of milliseconds.

# Example

```
torch.jit.trace(function, (x,))(x)
observed  2.0
expected  1.0 (the plain call)
```
"""

import warnings

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

PRICE = 40
ONLY = ("torch",)
#: The price is that of recording; the call itself is made a few times.
LEAST = 4


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    if not hasattr(library, "jit"):
        return "this version of the library has no torch.jit"
    return None


def check(call):
    if unavailable(call.library) or call.random or call.mutates:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from traced(call)
        if not call.is_layer and hasattr(call.target, "__code__"):
            yield from scripted(call)


def flat(result):
    """Tensors of a result: a record returns tuples where a function returned lists."""
    return [leaf for _, leaf in compare.leaves(result) if compare.is_torch(leaf)]


FLAT = [
    "def flat(result):",
    "    if isinstance(result, (list, tuple)):",
    "        return [leaf for item in result for leaf in flat(item)]",
    "    return [result]",
]


def traced(call):
    arguments = call.build()
    places = [(place, it) for place, it in call.tensors(arguments) if compare.is_torch(it)]
    if not places:
        return
    lines = FLAT + ["def function(*tensors):", "    {build}"]
    for number, (place, _) in enumerate(places):
        lines.append("    " + place.assignment(arguments, "tensors[%d]" % number))
    lines += ["    return {call}", "{build}"]
    tensors = ", ".join(place.expression for place, _ in places)
    lines.append("tensors = (%s,)" % tensors)
    lines.append("trace = torch.jit.trace(function, tensors, check_trace=False)")
    ending = ["observed = flat(trace(*tensors))", "{build}", "expected = flat({call})"]
    call.announce("trace", call.source(lines + ending + ["return False, '', ''"]))

    def function(*tensors):
        fresh = call.build()
        for number, (place, _) in enumerate(places):
            fresh = fresh.replace(place, tensors[number])
        return call.run(fresh)

    examples = tuple(tensor for _, tensor in places)
    try:
        record = call.library.jit.trace(function, examples, check_trace=False)
        observed = flat(record(*examples))
    except Exception:
        # What cannot be recorded says so; most of the library cannot.
        return
    yield from compared(call, "trace", observed, lines + ending)


def scripted(call):
    name = call.path.rpartition(".")
    lines = FLAT + ["{build}", "expected = flat({call})", "{build}"]
    lines.append("from %s import %s as function" % (name[0], name[2]))
    lines.append("observed = flat(torch.jit.script(function)(*arguments, **keywords))")
    call.announce("script", call.source(lines + ["return False, '', ''"]))
    arguments = call.build()
    try:
        script = call.library.jit.script(call.target)
        observed = flat(script(*arguments.positional, **arguments.keywords))
    except Exception:
        return
    yield from compared(call, "script", observed, lines)


def compared(call, variant, observed, lines):
    expected = flat(call.baseline)
    if len(observed) != len(expected) or not expected:
        return
    if isinstance(call.baseline, (list, tuple)):
        found = compare.difference(observed, expected)
    else:
        observed, expected = observed[0], expected[0]
        lines = lines + ["observed, expected = observed[0], expected[0]"]
        found = call.disagreement(observed, expected)
    if found is not None:
        if found.path:
            lines = lines + [
                "observed, expected = observed%s, expected%s" % (found.path, found.path)
            ]
        yield Report(
            "%s: %s" % (variant, found.kind),
            compare.short(found.observed),
            compare.short(found.expected),
            call.source(lines + found.lines),
        )
