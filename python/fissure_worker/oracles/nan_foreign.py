"""The oracle `nan` for TensorFlow, JAX and MXNet: the same call in another precision, with tensors of theirs."""

from fissure_worker import dtypes
from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.magnitude import LARGE_SETTING

#: By library: statements before and after a layer is made and called in float64.
LAYERS = {
    "tensorflow": (
        "tensorflow.keras.backend.set_floatx('float64')",
        "tensorflow.keras.backend.set_floatx('float32')",
    ),
}


def check(call):
    library = call.library.__name__
    path = nan_path(call.baseline)
    if path is None or call.has("uninitialised") or call.random:
        return
    arguments = call.build()
    lines, wanted = [], "float64"
    for place, value in arguments.values(call.parameter):
        array = foreign.array(value) if foreign.is_tensor(value) else None
        if array is None:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if value != value or abs(value) > LARGE_SETTING:
                    return
            continue
        if not is_ordinary(array):
            return
        if array.dtype.kind not in "fiu":
            continue
        wanted = "float32" if array.dtype.name == "float64" else "float64"
        text = foreign.CASTS[library] % (place.expression, wanted)
        lines.append(place.assignment(arguments, text))
    layer = LAYERS.get(library) if call.is_layer and wanted == "float64" else ()
    if not lines or layer is None or call.is_layer and not layer:
        return
    source = ["{build}", "observed = {call}" + path]
    other = ["{build}"] + lines + ["expected = {call}" + path]
    mode = foreign.wide_mode(call.library)
    if layer:
        source += foreign.within([layer[0], "try:"], other) + ["finally:", "    " + layer[1]]
    else:
        source += foreign.within(["with %s:" % mode], other) if mode else other
    source += [
        "wrong = bool((observed != observed).any()) and not bool((expected != expected).any())",
        "return wrong, str(observed), str(expected)",
    ]
    # Runs the call once more in that precision and is its own judge.
    text = call.source(foreign.imports(call.library) + source)
    call.announce("NaN", text)
    wrong, observed, expected = call.verify(text)
    if wrong:
        yield Report("NaN", observed, expected, text)


def nan_path(result):
    for path, leaf in compare.leaves(result):
        if compare.is_numpy(leaf) and leaf.dtype.kind in "fc" and bool((leaf != leaf).any()):
            return path
    return None


def is_ordinary(array):
    """Finite, with a square and a reciprocal that do not overflow; and at least one number."""
    if array.dtype.kind not in "fiu":
        return True
    if not array.size:
        return False
    largest = dtypes.INEXACT.get(array.dtype.name, dtypes.INEXACT["float32"]).largest
    size = abs(array.astype("float64"))
    odd = ~(size <= largest**0.5) | ((size > 0.0) & (size < 1.0 / largest))
    return not bool(odd.any())
