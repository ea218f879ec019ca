"""The oracle `reference64` for TensorFlow and JAX: the same call in float64, with tensors of theirs."""

import contextlib

from fissure_worker import dtypes
from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.nan_foreign import is_ordinary

LIBRARIES = ("tensorflow", "jax")
#: What is compared; other types have more than their rounding to explain.
NARROW = ("float32", "float16")
#: Times the usual tolerance: nobody can ask these libraries for the rounding inside.
SLACK = 20.0
#: Last digits by which arguments are moved, and times what that does to the result.
DIGITS = 4.0
EXCUSED = 32.0


def unavailable(library):
    return None if getattr(library, "__name__", None) in LIBRARIES else foreign.unread(library)


def check(call):
    arguments, places = inputs(call)
    if not places:
        return
    wide = run(call, arguments, places, 0.0)
    if wide is None:
        return
    for path, leaf in compare.leaves(call.baseline):
        expected = comparable(leaf, wide, path)
        if expected is None:
            continue
        found = foreign.disagreement(leaf, expected, SLACK, check_dtype=False)
        if found is None or found.kind != "values":
            continue
        if not is_explained(call, arguments, places, path, leaf, expected):
            texts = compare.short(found.observed), compare.short(found.expected)
            yield Report(
                "values", texts[0], texts[1], source(call, arguments, places, path, found.lines)
            )
        return


def inputs(call):
    """(the arguments, where those of low precision are): none where the call in float64 says nothing of this one."""
    arguments, places = call.build(), []
    about = call.has("about dtype") or call.has("unordered")
    if about or call.is_layer or call.mutates or call.random:
        return arguments, places
    for place, value in arguments.values(call.parameter):
        if not foreign.is_tensor(value):
            if isinstance(value, float) and not abs(value) < 1e6:
                return arguments, []
            continue
        name = dtype_name(value)
        array = foreign.array(value)
        if array is None or name in dtypes.INEXACT and name not in NARROW:
            return arguments, []
        if not is_ordinary(array):
            return arguments, []
        if name in NARROW:
            places.append((place, array))
    return arguments, places


def dtype_name(value):
    """`float32`: TensorFlow writes more than the name."""
    found = getattr(value, "dtype", None)
    return getattr(found, "name", str(found))


def run(call, arguments, places, moved):
    """The result in float64 with arguments that are moved by so many last digits, or None."""
    import numpy

    with block(call.library):
        for place, array in places:
            values = array.astype("float64")
            if moved:
                signs = 1.0 - 2.0 * (numpy.arange(values.size) % 2).reshape(values.shape)
                values = values * (1.0 + moved * numpy.finfo(array.dtype).eps * signs)
            arguments = arguments.replace(place, tensor(call.library, values))
        result, error = call.attempt(arguments)
    return None if error is not None else result


@contextlib.contextmanager
def block(library):
    mode = foreign.wide_mode(library)
    if mode is None:
        yield
        return
    scope = {"jax": library}
    exec("\n".join(foreign.ENABLE_X64), scope)
    with eval(mode, scope):
        yield


def tensor(library, values):
    if library.__name__ == "jax":
        return library.numpy.asarray(values)
    return library.constant(values)


def comparable(leaf, wide, path):
    """The same part of the result in float64 where both are finite numbers of one shape, else None."""
    import numpy

    if not compare.is_numpy(leaf) or leaf.dtype.name not in NARROW or not leaf.size:
        return None
    try:
        expected = foreign.part(wide, path)
    except (LookupError, TypeError):
        return None
    if not compare.is_numpy(expected) or expected.dtype.name != "float64":
        return None
    if expected.shape != leaf.shape or not numpy.isfinite(leaf).all():
        return None
    return expected if numpy.isfinite(expected).all() else None


def is_explained(call, arguments, places, path, leaf, expected):
    """A change of the last digits of the arguments does as much to the result."""
    room = 0.0
    for moved in (DIGITS, -DIGITS):
        result = run(call, arguments, places, moved)
        other = None if result is None else comparable(leaf, result, path)
        if other is None:
            return True
        room = room + abs(other - expected)
    rtol, atol = foreign.bounds(leaf, expected, SLACK)
    allowed = EXCUSED * room + atol + rtol * abs(expected)
    return not bool((abs(leaf.astype("float64") - expected) > allowed).any())


def source(call, arguments, places, path, lines):
    """A script with the result in `observed`, that in float64 in `expected`, and `lines`, which compare them."""
    cast = foreign.CASTS[call.library.__name__]
    wide = [
        place.assignment(arguments, cast % (place.expression, "float64")) for place, _ in places
    ] + ["expected = {call}" + path]
    mode = foreign.wide_mode(call.library)
    if mode:
        wide = foreign.within(["with %s:" % mode], wide)
    text = ["{build}", "observed = {call}" + path, "{build}"]
    return call.source(foreign.imports(call.library) + text + wide + lines)
