"""TensorFlow's `tf.function`, with and without XLA, and JAX's `jit`, also in its 64-bit mode, against
the plain call: the part of the oracle `compile` that is about libraries other than PyTorch."""

import warnings

from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report

#: Times the usual tolerance: compilers reorder and fuse arithmetic.
SLACK = 20.0
#: By library: what a report calls it, the expression that compiles `function`, and the one whose
#: result must be the same (None: the plain call).
VARIANTS = {
    "tensorflow": (
        ("tf.function", "tensorflow.function(function, autograph=False)", None),
        ("XLA", "tensorflow.function(function, autograph=False, jit_compile=True)", None),
    ),
    "jax": (
        ("jit", "jax.jit(function)", None),
        ("jit in x64", "in_x64(jax.jit(function))", "in_x64(function)"),
    ),
}
#: The same as `in_x64`, as a check source writes it. JAX's 64-bit mode has lowerings of its own.
IN_X64 = foreign.ENABLE_X64 + [
    "def in_x64(function):",
    "    def run(*tensors):",
    "        kinds = {'f': 'float64', 'i': 'int64', 'u': 'uint64', 'c': 'complex128'}",
    "        with enable_x64(True):",
    "            wide = [kinds.get(one.dtype.kind, one.dtype) for one in tensors]",
    "            return function(*[one.astype(kind) for one, kind in zip(tensors, wide)])",
    "    return run",
]


def check(call):
    library = call.library.__name__
    if call.is_layer or call.random or not is_moderate(call):
        return
    arguments = call.build()
    places = [
        (place, value)
        for place, value in arguments.values(call.parameter)
        if foreign.array(value) is not None
    ]
    if not places:
        return
    for name, expression, other in VARIANTS[library]:
        report = compared(call, name, expression, other, places)
        if report is not None:
            yield report
            return


def is_moderate(call):
    """Numbers of ordinary size, and finite results: what overflows on the way, or is undefined, may
    come out in any way once it is computed in another order."""
    for _, value in list(call.used.values()) + list(compare.leaves(call.baseline)):
        found = value if compare.is_numpy(value) else foreign.array(value)
        if found is None or not found.size or found.dtype.kind not in "fc":
            continue
        largest = abs(found).max()
        if not largest < (1e2 if found.dtype.itemsize == 2 else 1e4):
            return False
    return True


def compared(call, name, expression, other, places):
    """A report when the expression's result differs from that of the other one."""
    arguments = call.build()
    tensors = "(%s)" % ", ".join(place.expression for place, _ in places)
    lines = ["import %s" % call.library.__name__]
    if other is not None:
        lines += IN_X64
    lines += ["def function(*tensors):", "    {build}"]
    for number, (place, _) in enumerate(places):
        lines.append("    " + place.assignment(arguments, "tensors[%d]" % number))
    plain = "{call}" if other is None else "native(%s%s)" % (other, tensors)
    lines += ["    return {traced}", "{build}", "expected = " + plain, "{build}"]
    lines.append("observed = native(%s%s)" % (expression, tensors))
    call.announce(name, call.source(lines + ["return False, str(observed), str(expected)"]))

    def function(*tensors):
        fresh = call.build()
        for (place, _), tensor in zip(places, tensors):
            fresh = fresh.replace(place, tensor)
        return call.target(*fresh.positional, **fresh.keywords)

    scope = {call.library.__name__: call.library, "function": function}
    given = [arguments.get(place) for place, _ in places]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = call.baseline
            if other is not None:
                exec("\n".join(IN_X64), scope)
                expected = foreign.native(eval(other, scope)(*given))
            observed = foreign.native(eval(expression, scope)(*given))
    except Exception:
        # What cannot be traced says so: shapes and branches that need values.
        return None
    found = foreign.disagreement(observed, expected, SLACK)
    if found is None or found.kind in ("type", "structure"):
        # A Python number becomes a tensor, a named tuple another container.
        return None
    if found.path:
        lines.append("observed, expected = observed%s, expected%s" % (found.path, found.path))
    return Report(
        "%s: %s" % (name, found.kind),
        compare.short(found.observed),
        compare.short(found.expected),
        call.source(lines + found.lines),
    )
