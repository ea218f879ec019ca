"""NumPy, given the same numbers, computes something else.

# What it does

Knows more than 150 functions of PyTorch, TensorFlow and JAX that can be written in NumPy
(`data/functions/twins.toml`), computes them there with the same values, and compares results.

# Why it matters

The two were written by different people. A mistake in the mathematics, which every layout, dtype
and device of one library repeats, is only seen from outside.

# When it stays silent

Where the table notes a known difference, for functions or parameters that it does not name, for
dtypes that NumPy lacks (`bfloat16`), where tensors of different dtype are combined with one that has
no dimensions (the libraries choose the result's type by different rules), for complex numbers
outside linear functions (branch cuts), for integers beyond 2^24, and when NumPy refuses the call. The result's dtype is not
compared, and the usual rules hold: rounding, overflow, and what the input's last digits decide
are no differences. For TensorFlow and JAX only where all numbers and results are finite and of
ordinary size.

# Example

```
torch.some_function(x)
observed  1.0 (PyTorch)
expected  2.0 (numpy.some_function)
```
"""

import warnings

from fissure_worker import functions
from fissure_worker.oracles import compare, equivalents, foreign
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.tracing import is_moderate

PRICE = 3

OTHER = "numpy"
#: By the library of the call.
TABLES = {}
KINDS = {"f": "floating", "i": "integer", "u": "integer", "b": "bool", "c": "complex"}
#: Times the usual tolerance for libraries whose rounding nobody can ask about.
SLACK = 20.0
#: The largest integers that are compared.
EXACT = 1 << 24
#: By the size of an element: numbers whose squares can be added up by the thousand.
SQUARES = {2: 8.0, 4: 1e16, 8: 1e150, 16: 1e150}


def check(call):
    path = call.path.replace("torch.Tensor.", "torch.", 1)
    root = path.split(".")[0]
    if root not in TABLES:
        TABLES[root] = equivalents.index(functions.table().twins, root)
    forms = TABLES[root].get(path)
    if not forms or call.random or call.mutates or call.is_layer:
        return
    if path != call.path and call.has("other receiver"):
        return
    try:
        import numpy
    except ImportError:
        return
    for form, row in forms:
        bound = form.bind(call) if OTHER in row else None
        if bound is not None:
            yield from compared(call, form, row, bound, numpy)
            return


def is_narrow(array):
    """An integer for which NumPy computes in `float16`: PyTorch takes its default type."""
    return array.dtype.kind in "biu" and array.dtype.itemsize < 4


def compared(call, form, row, bound, numpy):
    values, lines = {}, []
    arguments = call.build()
    for name, place in bound.items():
        if not hasattr(place, "expression"):
            values[name] = place
            lines.append("%s = %r" % (name, place))
            continue
        value, suffix = converted(arguments.get(place))
        if value is None and suffix is None:
            return
        if (
            row.get("wide")
            and getattr(value, "dtype", None) is not None
            and value.dtype.kind == "f"
        ):
            value, suffix = value.astype("float64"), suffix + ".astype('float64')"
        values[name] = value
        lines.append("%s = %s" % (name, suffix % place.expression))
    arrays = [value for value in values.values() if isinstance(value, numpy.ndarray)]
    if not suitable(call, arrays, row):
        return
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scope = dict(values, numpy=numpy, tuple=tuple)
            expected = numpy.asarray(eval(row[OTHER], scope))
        if not call.is_foreign:
            expected = call.library.from_numpy(expected.copy())
    except Exception:
        # Refused, or of a type that only NumPy has: nothing to compare with.
        return
    if call.is_foreign:
        yield from compared_arrays(call, row, lines, expected)
        return
    observed = call.baseline
    if form.suffix:
        observed = observed[int(form.suffix[1:-1])]
    if not compare.is_torch(observed) or str(observed.layout) != "torch.strided":
        return
    if compare.is_inexact(observed) and any(is_narrow(array) for array in arrays):
        return
    like = ""
    if not compare.is_inexact(observed) and not compare.is_inexact(expected):
        # Whether a sum of small integers is signed is a matter of type, which is not compared.
        expected, like = expected.to(observed.dtype), ".to(observed.dtype)"
    options = {"check_dtype": False}
    if "rtol" in row:
        options["rtol"] = max(row["rtol"], compare.tolerance(observed, expected)[0])
    found = call.disagreement(observed, expected, **options)
    if found is None or found.kind == "type":
        return
    source = ["import numpy", "{build}"] + lines
    source.append("observed = {call}" + form.suffix)
    source.append("expected = torch.from_numpy(numpy.array(%s))%s" % (row[OTHER], like))
    yield Report(
        "numpy: %s" % found.kind,
        compare.short(found.observed),
        compare.short(found.expected),
        call.source(source + found.lines),
    )


def compared_arrays(call, row, lines, expected):
    """For libraries whose results come as arrays."""
    observed = call.baseline
    if not compare.is_numpy(observed) or not is_moderate(call):
        return
    if not compare.is_inexact(observed) and not compare.is_inexact(expected):
        expected = expected.astype(observed.dtype)
    elif not compare.is_inexact(observed) or compare.is_complex(observed) != compare.is_complex(
        expected
    ):
        return
    slack = max(SLACK, row.get("rtol", 0.0) / compare.tolerance(observed)[0])
    found = foreign.disagreement(observed, expected, slack, check_dtype=False)
    if found is None:
        return
    source = ["{build}"] + lines + ["observed = {call}"]
    source.append("expected = numpy.asarray(%s).astype(observed.dtype)" % row[OTHER])
    yield Report(
        "numpy: %s" % found.kind,
        compare.short(found.observed),
        compare.short(found.expected),
        call.source(source + found.lines),
    )


def converted(value):
    """A value as NumPy takes it, and how a script writes that; (None, None) if there is no way."""
    found = foreign.array(value) if foreign.is_tensor(value) else None
    if found is not None:
        return found.copy(), "native(%s)"
    if compare.is_torch(value):
        if str(value.layout) != "torch.strided" or value.is_quantized or str(value.device) != "cpu":
            return None, None
        try:
            # A copy: the call may write to its arguments, and the check source runs it later.
            return value.detach().numpy().copy(), "%s.detach().numpy().copy()"
        except (TypeError, RuntimeError):
            return None, None
    if isinstance(value, list):
        return (tuple(value), "tuple(%s)") if value else (None, None)
    if value is None or isinstance(value, (bool, int, float)) or isinstance(value, tuple) and value:
        return value, "%s"
    return None, None


def suitable(call, arrays, row):
    kinds = [KINDS.get(array.dtype.kind) for array in arrays]
    if not arrays or None in kinds:
        return False
    if "dtypes" in row and any(kind not in row["dtypes"] for kind in kinds):
        return False
    if "complex" in kinds and not call.has("linear complex"):
        return False
    if any(array.ndim < row.get("dimensions", 0) for array in arrays):
        return False
    different = len({array.dtype for array in arrays}) > 1
    if different and (row.get("same_dtype") or any(array.ndim == 0 for array in arrays)):
        return False
    if row.get("nonempty") and not all(array.size for array in arrays):
        return False
    return all(moderate(array, row) for array in arrays)


def moderate(array, row):
    """Integers that float32 holds exactly (PyTorch converts to it, NumPy to float64), and finite
    numbers where the row asks for them."""
    if array.dtype.kind in "iu":
        return not array.size or -EXACT <= int(array.min()) <= int(array.max()) <= EXACT
    if not row.get("moderate") or array.dtype.kind == "b" or not array.size:
        return True
    largest = float(abs(array).max())
    return largest < SQUARES[array.dtype.itemsize if array.dtype.kind == "f" else 4]
