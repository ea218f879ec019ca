"""Values for parameters, as plain descriptions that can be compared, changed and written down.

A `Spec` says what an argument is; `build` makes the value and, for objects that are no plain data,
the source text that makes it again in a reproducer.
"""

import collections
import sys

from ..backends import library as backends

# kind: see `_MAKERS`; shape and dtype of arrays; library of arrays; container: None, "list" or
# "tuple" with `count` parts; extra: what the kind needs more.
Spec = collections.namedtuple("Spec", "kind shape dtype library container count extra")

ARRAYS = (
    "float",
    "unit",
    "signed unit",
    "positive",
    "binary",
    "labels",
    "bool",
    "psd",
    "simplex",
    "onehot",
    "direction",
    "sorted",
)


def array(kind, shape, library, dtype=None, container=None, count=0, extra=None):
    return Spec(kind, tuple(shape), dtype, library, container, count, extra)


def plain(kind, extra=None):
    return Spec(kind, (), None, None, None, 0, extra)


def constant(value):
    return plain("constant", value)


def is_array(spec):
    return spec.kind in ARRAYS


def is_number(spec):
    return spec.kind == "constant" and type(spec.extra) in (int, float)


def build(spec, seed):
    """(value, source text or None when the value is plain data)."""
    if spec.kind in ARRAYS:
        if spec.container is None:
            return _array(spec, seed), None
        parts = [_array(spec, seed + 100 * index) for index in range(spec.count)]
        return (parts if spec.container == "list" else tuple(parts)), None
    if spec.kind == "constant":
        return spec.extra, None
    value, source = _MAKERS[spec.kind](spec)
    if spec.container is not None:
        return [value] * spec.count, "[%s]" % ", ".join([source] * spec.count)
    return value, source


# Arrays ------------------------------------------------------------------------------------------


def _array(spec, seed):
    import numpy

    state = numpy.random.RandomState(seed)
    shape = spec.shape
    low, high = (spec.extra or (None, None))[:2]
    if spec.kind == "labels":
        top = max(1, int(spec.extra[1])) if spec.extra and spec.extra[1] is not None else 3
        top = 256 if spec.dtype == "uint8" else top
        count = int(numpy.prod(shape)) if shape else 1
        values = (numpy.arange(count) % top).reshape(shape).astype(spec.dtype or "int64")
        return of_library(values, spec.library, str(values.dtype))
    if spec.kind == "bool":
        values = state.random_sample(shape) > 0.5
        return of_library(numpy.array(values), spec.library, "bool")
    if spec.kind == "float":
        values = state.standard_normal(shape)
    elif spec.kind == "unit":
        values = state.random_sample(shape)
    elif spec.kind == "signed unit":
        values = 1.8 * state.random_sample(shape) - 0.9
    elif spec.kind == "positive":
        values = 0.1 + state.random_sample(shape)
    elif spec.kind == "binary":
        values = (state.random_sample(shape) > 0.5) * 1.0
    elif spec.kind == "onehot":
        values = numpy.zeros(shape)
        if values.ndim:
            rows = values.reshape(-1, shape[-1])
            rows[numpy.arange(len(rows)), numpy.arange(len(rows)) % shape[-1]] = 1.0
    elif spec.kind == "sorted":
        values = numpy.sort(state.standard_normal(shape), axis=-1) if shape else 1.0
    elif spec.kind == "direction":
        values = of_unit_length(state.standard_normal(shape))
    elif spec.kind == "simplex":
        values = 0.1 + state.random_sample(shape)
        values = values / values.sum(axis=-1, keepdims=True) if numpy.ndim(values) else values
    else:
        values = state.standard_normal(shape)
        if len(shape) >= 2 and shape[-1] == shape[-2]:
            values = values @ numpy.swapaxes(values, -1, -2) + numpy.eye(shape[-1])
    if spec.kind == "float" and (low is not None or high is not None):
        values = _inside(state.random_sample(shape), low, high)
    return of_library(numpy.array(values), spec.library, spec.dtype)


def without_negative_eigenvalues(values):
    """The nearest symmetric matrices that a covariance can be."""
    import numpy

    if numpy.ndim(values) < 2 or values.shape[-1] != values.shape[-2] or not values.size:
        return values
    even = 0.5 * values + 0.5 * numpy.swapaxes(values, -1, -2)
    try:
        eigenvalues, vectors = numpy.linalg.eigh(even)
    except numpy.linalg.LinAlgError:
        return even
    # Rounding makes eigenvalues of -1e-16: what is one already stays to the bit.
    if bool((eigenvalues >= -1e-12 * numpy.abs(eigenvalues).max(axis=-1, keepdims=True)).all()):
        return even
    kept = numpy.maximum(eigenvalues, 0.0)
    made = (vectors * kept[..., None, :]) @ numpy.swapaxes(vectors, -1, -2)
    return 0.5 * made + 0.5 * numpy.swapaxes(made, -1, -2)


def of_sum_one(values):
    """The same rows as probabilities: none below 0, and each row sums to 1; a row of zeros becomes even."""
    import numpy

    if not numpy.ndim(values) or not values.shape[-1]:
        return values
    kept = numpy.clip(values, 0.0, None)
    largest = kept.max(axis=-1, keepdims=True)
    kept = numpy.where(largest == 0.0, 1.0, kept / numpy.where(largest == 0.0, 1.0, largest))
    return kept / kept.sum(axis=-1, keepdims=True)


def of_unit_length(values):
    """The same rows, each of length 1; a row of zeros points along the first axis."""
    import numpy

    if not numpy.ndim(values) or not values.shape[-1]:
        return values
    largest = numpy.abs(values).max(axis=-1, keepdims=True)
    scaled = values / numpy.where(largest == 0.0, 1.0, largest)
    scaled[..., 0] = numpy.where(largest[..., 0] == 0.0, 1.0, scaled[..., 0])
    return scaled / numpy.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))


def _inside(draws, low, high):
    """Draws from [0, 1) moved into a documented range, away from its ends."""
    draws = 0.05 + 0.9 * draws
    if low is None:
        return high - draws
    if high is None:
        return low + draws
    return low + (high - low) * draws


def of_library(values, library, dtype):
    if library == "torch":
        torch = sys.modules["torch"]
        if dtype is None:
            dtype = "float32" if values.dtype.kind == "f" else str(values.dtype)
        return torch.from_numpy(values).to(getattr(torch, dtype)).clone()
    if backends.numpy_based(library):
        if dtype is None:
            dtype = "float32"
        # What both have without asking for 64 bits.
        return backends.of(library).from_numpy(values, "int32" if dtype == "int64" else dtype)
    return values.astype(dtype) if dtype not in (None, "bfloat16") else values


# Objects -----------------------------------------------------------------------------------------


class Stub(object):
    """Settings that a function reads as attributes."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self):
        return "Stub(%s)" % ", ".join("%s=%r" % pair for pair in sorted(self.__dict__.items()))


def identity(value=None, *arguments, **keywords):
    """A function where one is wanted."""
    return value


def _module(spec):
    torch = sys.modules["torch"]
    size = spec.extra or 3
    torch.manual_seed(0)
    return torch.nn.Linear(size, size), "torch.nn.Linear(%d, %d)" % (size, size)


def _optimizer(spec):
    torch = sys.modules["torch"]
    weight = torch.nn.Parameter(torch.zeros(3))
    weight.grad = torch.ones(3)
    return torch.optim.SGD(
        [weight], lr=0.1
    ), "torch.optim.SGD([torch.nn.Parameter(torch.zeros(3))], lr=0.1)"


def _distribution(spec):
    torch = sys.modules["torch"]
    return torch.distributions.Normal(
        torch.zeros(4, 3), torch.ones(4, 3)
    ), "torch.distributions.Normal(torch.zeros(4, 3), torch.ones(4, 3))"


def _stub(spec):
    stub = Stub(**dict(spec.extra or ()))
    return stub, "__import__('types').SimpleNamespace(**%r)" % (dict(spec.extra or ()),)


def _callable(spec):
    return identity, "(lambda value=None, *arguments, **keywords: value)"


def _generator(spec):
    import numpy

    if spec.extra == "generator":
        return numpy.random.default_rng(0), "numpy.random.default_rng(0)"
    return numpy.random.RandomState(0), "numpy.random.RandomState(0)"


def _dtype(spec):
    if "torch" in sys.modules:
        return sys.modules["torch"].float32, "torch.float32"
    return "float32", "'float32'"


def _device(spec):
    if "torch" in sys.modules:
        return sys.modules["torch"].device("cpu"), "torch.device('cpu')"
    return None, "None"


def _frame(spec):
    import pandas

    numbers = _array(array("float", (6, 3), "numpy"), 1)
    return pandas.DataFrame(
        numbers, columns=["a", "b", "c"]
    ), "__import__('pandas').DataFrame(%r, columns=['a', 'b', 'c'])" % (numbers.tolist(),)


def _series(spec):
    import pandas

    numbers = _array(array("float", (6,), "numpy"), 1)
    return pandas.Series(numbers), "__import__('pandas').Series(%r)" % (numbers.tolist(),)


def _object(spec):
    """An object of a class, made with the arguments that `extra` names."""
    owner, arguments = spec.extra
    value = owner(**dict((name, build(inner, 7)[0]) for name, inner in arguments))
    written = ", ".join(
        "%s=%s" % (name, build(inner, 7)[1] or repr(build(inner, 7)[0]))
        for name, inner in arguments
    )
    return value, "__import__('importlib').import_module(%r).%s(%s)" % (
        owner.__module__,
        owner.__qualname__,
        written,
    )


_MAKERS = {
    "module": _module,
    "optimizer": _optimizer,
    "distribution": _distribution,
    "stub": _stub,
    "callable": _callable,
    "generator": _generator,
    "dtype": _dtype,
    "device": _device,
    "frame": _frame,
    "series": _series,
    "object": _object,
}
