"""Results of TensorFlow, JAX and MXNet as NumPy arrays, which is how oracles see them."""

from fissure_worker.oracles import compare

LIBRARIES = ("tensorflow", "jax", "mxnet")

#: The same as `native`, as a check source writes it.
SOURCE = [
    "import numpy",
    "def native(value):",
    "    if isinstance(value, (list, tuple)):",
    "        return [native(item) for item in value]",
    "    if isinstance(value, dict):",
    "        return {key: native(item) for key, item in value.items()}",
    "    if hasattr(value, 'asnumpy'):",
    "        return value.asnumpy()",
    "    if hasattr(value, 'numpy') or hasattr(value, 'block_until_ready'):",
    "        value = numpy.asarray(value)",
    "        return value if value.dtype.kind in 'biufc' else value.astype('float32')",
    "    return value",
]

#: By library: the expression that gives a tensor in another type.
CASTS = {
    "tensorflow": "tensorflow.cast(%s, %r)",
    "jax": "jax.numpy.asarray(%s, %r)",
    "mxnet": "%s.astype(%r)",
}
#: How JAX is asked to compute in float64 at all: newer releases have it in another place.
ENABLE_X64 = [
    "enable_x64 = getattr(jax, 'enable_x64', None)",
    "if not callable(enable_x64):",
    "    from jax.experimental import enable_x64",
]


def is_foreign(library):
    return getattr(library, "__name__", None) in LIBRARIES


def unread(library):
    """Why an oracle that changes or reads tensors of the arguments cannot run, or None."""
    if is_foreign(library):
        return "it does not read tensors of %s" % library.__name__
    return None


def wide_mode(library):
    """What a block in which the library computes in float64 begins with, as text; None where it needs none."""
    return "enable_x64(True)" if library.__name__ == "jax" else None


def imports(library):
    """What a script begins with that casts tensors to float64."""
    wanted = ["import jax.numpy"] if wide_mode(library) else ["import %s" % library.__name__]
    return wanted + (ENABLE_X64 if wide_mode(library) else [])


def within(head, lines):
    """Lines of a block that begins with `head`."""
    return head + ["    " + line for line in lines]


def native(value, depth=compare.DEPTH):
    """The same result with arrays for tensors. What has no array (strings, ragged and sparse tensors,
    keys of random generators) stays what it is, and is not compared."""
    if depth and isinstance(value, (list, tuple)):
        return [native(item, depth - 1) for item in value]
    if depth and isinstance(value, dict):
        return {key: native(item, depth - 1) for key, item in value.items()}
    found = array(value)
    return value if found is None else found


def array(value):
    """The elements of one tensor, or None."""
    try:
        import numpy

        if hasattr(value, "asnumpy"):
            return value.asnumpy()
        if not hasattr(value, "numpy") and not hasattr(value, "block_until_ready"):
            return None
        found = numpy.asarray(value)
        # `bfloat16` and `float8` are types of a package that NumPy computes with only in part.
        return found if found.dtype.kind in "biufc" else found.astype("float32")
    except Exception:
        # Whatever it is, it has no numbers to compare.
        return None


def seed(library):
    """Random functions begin anew."""
    if library.__name__ == "tensorflow":
        library.random.set_seed(0)
    elif library.__name__ == "mxnet":
        library.random.seed(0)


def is_tensor(value):
    """One of a library other than PyTorch and NumPy, told without importing it."""
    return type(value).__module__.split(".")[0] in ("tensorflow", "jax", "jaxlib", "mxnet")


def disagreement(observed, expected, slack, check_dtype=True):
    """The first difference that is more than rounding, or None."""
    for found in compare.differences(observed, expected, check_dtype=check_dtype):
        if found.kind != "values" or not compare.is_numpy(part(expected, found.path)):
            return found
        wanted = part(expected, found.path)
        got = part(observed, found.path)
        rtol, atol = bounds(got, wanted, slack)
        wider = compare.difference(got, wanted, rtol, atol, check_dtype=check_dtype)
        if wider is not None:
            wider.path = found.path
            return wider
    return None


def bounds(observed, expected, slack):
    rtol, atol = compare.tolerance(observed, expected)
    if not compare.is_inexact(expected):
        return 0.0, 0.0
    return rtol * slack, atol * slack + rtol * slack * compare.largest(expected)


def part(result, path):
    return eval("result" + path, {"result": result})
