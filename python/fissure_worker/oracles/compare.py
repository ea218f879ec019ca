"""Are two results the same, and if not, in what do they differ?

Shape and type first, then where NaN and the infinities are (exactly), then values within the
tolerance of the element type. The first difference found is the answer, together with the lines
of ordinary library code that show it again.
"""

from fissure_worker import dtypes

#: Results are searched to this depth.
DEPTH = 4


def is_torch(value):
    """A tensor of PyTorch, told without importing it."""
    return hasattr(value, "data_ptr") and hasattr(value, "is_floating_point")


def is_numpy(value):
    """An array or a scalar of NumPy, told without importing it."""
    return type(value).__module__ == "numpy" and hasattr(value, "dtype") and hasattr(value, "shape")


def is_tensor(value):
    return is_torch(value) or is_numpy(value)


def dtype_name(value):
    """`float32`, for tensors of every kind."""
    return str(value.dtype).rpartition(".")[2]


def is_inexact(value):
    """Floating point or complex."""
    name = dtype_name(value)
    return name.startswith(("float", "bfloat", "complex"))


def is_complex(value):
    return dtype_name(value).startswith("complex")


def tolerance(*values):
    """(relative, absolute) of the least precise of some tensors."""
    names = [dtype_name(value) for value in values if is_tensor(value) and is_inexact(value)]
    return (dtypes.least_precise(names) or dtypes.INEXACT["float64"]).tolerance


def plain(value):
    """The elements of a tensor as an ordinary dense one, apart from any graph; and the source
    suffix that does the same."""
    if is_numpy(value):
        # A scalar of NumPy cannot be indexed by a mask, an array of one element can.
        return (value, "") if value.shape else (value.reshape(1), ".reshape(1)")
    suffix = ""
    if value.requires_grad:
        value = value.detach()
        suffix += ".detach()"
    if value.is_quantized:
        return value.dequantize(), suffix + ".dequantize()"
    if str(value.layout) == "torch.jagged":
        return value.values(), suffix + ".values()"
    if str(value.layout) != "torch.strided":
        return value.to_dense(), suffix + ".to_dense()"
    if hasattr(value, "resolve_neg"):
        # Lazy conjugation and negation, which versions before 1.10 do not have.
        value = value.resolve_conj().resolve_neg()
    return value, suffix


def wide(value):
    """The same numbers in the widest type of their kind, and the source suffix that does it."""
    name = "complex128" if is_complex(value) else "float64"
    if is_numpy(value):
        return value.astype(name), ".astype(%r)" % name
    import torch

    return value.to(getattr(torch, name)), ".to(torch.%s)" % name


class Difference:
    """In what two results differ."""

    def __init__(self, kind, path, observed, expected, lines):
        #: `structure`, `type`, `shape`, `dtype`, `nan placement`, `inf placement`, `values`.
        self.kind = kind
        #: Source suffix from the result to the part that differs: `[1]`.
        self.path = path
        self.observed = observed
        self.expected = expected
        #: Statements that follow `observed = …` and `expected = …` in a check source.
        self.lines = lines

    def __repr__(self):
        return "%s%s: %s, not %s" % (
            self.kind,
            " of result" + self.path if self.path else "",
            short(self.observed),
            short(self.expected),
        )


def short(value, limit=300):
    try:
        text = str(value)
    except Exception as error:
        text = "<no text: %s>" % type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"


def difference(observed, expected, rtol=None, atol=None, exact=False, check_dtype=True):
    """The first difference between two results, or None."""
    return next(differences(observed, expected, rtol, atol, exact, check_dtype), None)


def differences(observed, expected, rtol=None, atol=None, exact=False, check_dtype=True):
    """One difference for each part of a result that differs."""
    return structure(observed, expected, "", (rtol, atol, exact, check_dtype), DEPTH)


def structure(observed, expected, path, options, depth):
    if is_tensor(observed) and is_tensor(expected):
        found = tensors(observed, expected, path, options)
        if found is not None:
            yield found
    elif depth and isinstance(expected, (list, tuple)) and isinstance(observed, (list, tuple)):
        if len(observed) != len(expected):
            lines = ["return len(observed) != len(expected), str(observed), str(expected)"]
            yield Difference("structure", path, observed, expected, lines)
            return
        for index in range(len(expected)):
            inner = "%s[%d]" % (path, index)
            pair = observed[index], expected[index]
            for found in structure(pair[0], pair[1], inner, options, depth - 1):
                yield found
    elif depth and isinstance(expected, dict) and isinstance(observed, dict):
        if list(observed) != list(expected):
            lines = ["return list(observed) != list(expected), str(observed), str(expected)"]
            yield Difference("structure", path, observed, expected, lines)
            return
        for key in expected:
            inner = "%s[%r]" % (path, key)
            for found in structure(observed[key], expected[key], inner, options, depth - 1):
                yield found
    elif type(observed) is not type(expected):
        lines = ["return type(observed) is not type(expected), repr(observed), repr(expected)"]
        yield Difference("type", path, observed, expected, lines)
    else:
        found = scalars(observed, expected, path, options)
        if found is not None:
            yield found


def scalars(observed, expected, path, options):
    """Plain Python values; objects that are not values say nothing."""
    if not isinstance(expected, (bool, int, float, complex, str, bytes)):
        return None
    lines = ["return observed != expected, repr(observed), repr(expected)"]
    if isinstance(expected, (float, complex)):
        rtol, atol = bounds(options, ())
        if observed != observed or expected != expected:
            if (observed != observed) == (expected != expected):
                return None
            lines = [
                "wrong = (observed != observed) != (expected != expected)",
                "return wrong, repr(observed), repr(expected)",
            ]
            return Difference("nan placement", path, observed, expected, lines)
        if observed == expected or abs(observed - expected) <= atol + rtol * abs(expected):
            return None
        lines = [
            "wrong = abs(observed - expected) > %r + %r * abs(expected)" % (atol, rtol),
            "return wrong, repr(observed), repr(expected)",
        ]
        return Difference("values", path, observed, expected, lines)
    return Difference("values", path, observed, expected, lines) if observed != expected else None


def bounds(options, values):
    rtol, atol, exact, _ = options
    if exact:
        return 0.0, 0.0
    usual = tolerance(*values)
    return usual[0] if rtol is None else rtol, usual[1] if atol is None else atol


def known_shape(value):
    """The shape; of a size that is only a symbol (the ragged one of a nested tensor, another symbol for each
    tensor) that it is one."""
    return tuple(size if isinstance(size, int) else None for size in value.shape)


def tensors(observed, expected, path, options):
    for kind, read in (("shape", known_shape), ("dtype", dtype_name)):
        if kind == "dtype" and not options[3]:
            continue
        if read(observed) != read(expected):
            lines = [
                "return observed.%s != expected.%s, str(observed.%s), str(expected.%s)"
                % (kind, kind, kind, kind)
            ]
            return Difference(kind, path, read(observed), read(expected), lines)
    if identical(observed, expected):
        return None
    observed, suffix = plain(observed)
    expected, other = plain(expected)
    prepare = []
    if suffix or other:
        prepare.append("observed, expected = observed%s, expected%s" % (suffix, other))
    if is_inexact(observed) or is_inexact(expected):
        return inexact(observed, expected, path, bounds(options, (observed, expected)), prepare)
    wrong = observed != expected
    if not wrong.any():
        return None
    lines = prepare + ["wrong = observed != expected"] + SHOW
    return Difference("values", path, some(observed, wrong), some(expected, wrong), lines)


def identical(observed, expected):
    """The same in every element: most often so, and told fifty times faster than anything else.
    False where this cannot be told at once (a NaN, another type, a sparse layout)."""
    try:
        if is_torch(observed) and is_torch(expected):
            return observed.dtype is expected.dtype and observed.equal(expected)
    except (NotImplementedError, RuntimeError, TypeError):
        # A kind of tensor that has no such operation.
        pass
    return False


#: The end of a check source that has `wrong`, the mask of wrong elements.
SHOW = [
    "if not wrong.any():",
    "    return False, str(observed), str(expected)",
    "return True, str(observed[wrong][:8].tolist()), str(expected[wrong][:8].tolist())",
]


def some(value, wrong):
    """The first wrong elements, with all their digits."""
    return value[wrong][:8].tolist()


def inexact(observed, expected, path, bound, prepare):
    """Numbers with rounding: NaN, infinities, then values."""
    numpy = "numpy." if is_numpy(observed) else "torch."
    imports = ["import numpy"] if is_numpy(observed) else []
    observed, first = wide(observed)
    expected, second = wide(expected)
    if is_numpy(observed):
        import numpy as library
    else:
        import torch as library
    prepare.append("observed, expected = observed%s, expected%s" % (first, second))
    isnan, isinf = library.isnan, library.isinf
    names = {"isnan": numpy + "isnan", "isinf": numpy + "isinf"}
    if is_complex(observed) and is_complex(expected):
        # As C has it: a number with an infinite part is infinite, whatever the other part is, and it is
        # nobody's promise in which direction.
        def isnan(it):
            return library.isnan(it) & ~library.isinf(it)

        prepare.append("isnan = lambda it: %(isnan)s(it) & ~%(isinf)s(it)" % names)
        names["isnan"] = "isnan"
    nan = isnan(observed)
    wrong = nan != isnan(expected)
    if wrong.any():
        lines = imports + prepare
        lines.append("wrong = %(isnan)s(observed) != %(isnan)s(expected)" % names)
        return Difference(
            "nan placement", path, some(observed, wrong), some(expected, wrong), lines + SHOW
        )
    infinite = isinf(observed) | isinf(expected)
    if infinite.any():
        if is_complex(observed) and is_complex(expected):
            wrong = isinf(observed) != isinf(expected)
            condition = "wrong = %(isinf)s(observed) != %(isinf)s(expected)" % names
        else:
            wrong = infinite & (observed != expected) & ~nan
            condition = (
                "wrong = (%(isinf)s(observed) | %(isinf)s(expected)) & (observed != expected)"
            )
            condition = condition % names
        if wrong.any():
            lines = imports + prepare + [condition]
            return Difference(
                "inf placement", path, some(observed, wrong), some(expected, wrong), lines + SHOW
            )
    rtol, atol = bound
    wrong = abs(observed - expected) > atol + rtol * abs(expected)
    if is_complex(observed):
        # Of two infinities nothing more is compared.
        wrong = wrong & ~infinite
        prepare.append("infinite = %(isinf)s(observed) | %(isinf)s(expected)" % names)
    if not wrong.any():
        return None
    lines = (
        imports
        + prepare
        + ["wrong = abs(observed - expected) > %r + %r * abs(expected)" % (atol, rtol)]
    )
    if is_complex(observed):
        lines.append("wrong = wrong & ~infinite")
    return Difference("values", path, some(observed, wrong), some(expected, wrong), lines + SHOW)


def leaves(value, path="", depth=DEPTH):
    """Every value of a result with its path."""
    if depth and isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            for found in leaves(item, "%s[%d]" % (path, index), depth - 1):
                yield found
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            for found in leaves(item, "%s[%r]" % (path, key), depth - 1):
                yield found
    else:
        yield path, value


def root_mean_square(reference, value):
    """RMSE over the elements that are finite in both, as a Python number."""
    reference, value = wide(plain(reference)[0])[0], wide(plain(value)[0])[0]
    error = abs(reference - value)
    error = error[error == error]
    error = error[error < float("inf")]
    count = error.numel() if is_torch(error) else error.size
    if not count:
        return 0.0
    # Scaled, because the square of a large number overflows.
    largest = float(error.max())
    if largest == 0.0:
        return 0.0
    return largest * float(((error / largest) ** 2).mean()) ** 0.5


def count(value):
    """How many elements."""
    return value.numel() if is_torch(value) else value.size


def largest(value):
    """The largest finite magnitude, 0.0 without any."""
    size = abs(wide(plain(value)[0])[0])
    size = size[size < float("inf")]
    return float(size.max()) if count(size) else 0.0


def maximum(first, second):
    """Element by element."""
    if is_torch(first):
        import torch

        return torch.max(first, second)
    import numpy

    return numpy.maximum(first, second)


#: Words of messages that say "this is not offered", which is no disagreement.
UNSUPPORTED = (
    "not implemented",
    "not supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "only support",
    "not yet",
    "could not run",
    "isn't implemented",
    "expected scalar type",
)


def is_unsupported(error):
    """The library says that it does not offer a variant, or has no memory for it."""
    if isinstance(error, (NotImplementedError, MemoryError)):
        return True
    text = str(error).lower()
    return any(words in text for words in UNSUPPORTED)
