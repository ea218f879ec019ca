"""Interception of NumPy: arrays of a subclass that reports each operation they take part in.

The arrays made by source calls in the user's code (and by `np.array` there) are of this subclass;
results of operations on them are too, scalars included (as arrays without dimensions), so that
`np.log(np.sum(x))` is seen as well.
"""

import operator

import numpy as np

from ..steer import steering
from ..watch import operations
from . import meeting
from .base import Backend, fitted

_MONITOR = [None]
# The originals: while the program runs, NumPy's own names lead to the traced sources.
ordinary_array, ordinary_asarray = np.array, np.asarray
# Methods of ufuncs by the name of the operation, and the function of that name.
_REDUCTIONS = {
    ("add", "reduce"): ("sum", np.sum),
    ("multiply", "reduce"): ("prod", np.prod),
    ("maximum", "reduce"): ("max", np.max),
    ("minimum", "reduce"): ("min", np.min),
    ("add", "accumulate"): ("cumsum", np.cumsum),
}


def name_of(function):
    """The operation that a function of NumPy is."""
    if (getattr(function, "__module__", None) or "").startswith("numpy.linalg"):
        known = operations.TABLE.called("linalg_" + function.__name__)
        if known is not None:
            return known
    return operations.called(function.__name__)


def plain(value):
    """The ordinary array behind a traced one, inside lists and tuples too."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(plain(item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[plain(item) for item in value])
    if isinstance(value, dict):
        return dict((key, plain(item)) for key, item in value.items())
    return value


def traced(value):
    if isinstance(value, (np.ndarray, np.inexact)) and not isinstance(value, TracedArray):
        array = ordinary_asarray(value)
        if array.dtype.kind in "fciub":
            return array.view(TracedArray)
    if type(value) in (list, tuple):
        return type(value)(traced(item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        # `svd`, `eigh`, `unique_values` … give their parts by name.
        return type(value)(*[traced(item) for item in value])
    return value


def holds_traced(value):
    """Is it a list of arrays that are watched, or of lists of such?"""
    return type(value) in (list, tuple) and any(
        isinstance(item, TracedArray) or holds_traced(item) for item in value
    )


def joined(values, result):
    """The array `result` that `np.array` made of lists of computed numbers and arrays: no data from outside, but what
    is computed from them, so it is recorded as putting them one beside the other."""
    try:
        array = _stacked(values)
    except (TypeError, ValueError):
        # Of lists of different lengths: nothing that can be followed.
        return traced(result)
    if not isinstance(array, TracedArray) or array.shape != np.shape(result):
        return traced(result)
    return array if array.dtype == result.dtype else array.astype(result.dtype)


def _stacked(values):
    return np.stack([_stacked(item) if type(item) in (list, tuple) else item for item in values])


def copied(monitor, source, result, frame):
    """What `np.array` or `np.asarray` made of a watched array: the array itself where nothing was copied, else an
    operation on it, so that what it was made of stays the input."""
    if result.dtype == source.dtype and result.shape == source.shape and _same(source, result):
        return source
    name, function = ("copy", np.ndarray.copy)
    if result.dtype != source.dtype:
        name, function = "cast", np.ndarray.astype
    arguments = (source,) if name == "copy" else (source, result.dtype)
    made = traced(ordinary_asarray(result))
    return monitor.operation(BACKEND, name, function, arguments, {}, False, frame, lambda: made)


def _same(one, two):
    return (
        one.__array_interface__["data"] == two.__array_interface__["data"]
        and one.strides == two.strides
    )


def counted(value):
    """As `traced`, for sums of whole numbers too: what a program divides by."""
    if isinstance(value, np.integer):
        return ordinary_asarray(value).view(TracedArray)
    return traced(value)


class TracedArray(np.ndarray):
    fissure_traced = True

    def __hash__(self):
        # A number is a key of a dictionary, as NumPy's own scalars are.
        return hash(self.view(np.ndarray)[()])

    def __array_finalize__(self, source):
        # `np.uint8(x)` and other constructors of types convert without a method of the array.
        # Results of 64 bits are indices (`argsort`), not conversions.
        if (
            isinstance(source, TracedArray)
            and source.dtype.kind == "f"
            and self.dtype.kind in "iu"
            and self.dtype.itemsize < 8
            and self.shape == source.shape
        ):
            converted(source, self)

    def __setitem__(self, item, value):
        if isinstance(value, TracedArray) and value.dtype.kind == "f" and self.dtype.kind in "iu":
            converted(value, ordinary_asarray(plain(value).astype(self.dtype)))
        super().__setitem__(plain(item), plain(value))

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        name, function = ufunc.__name__, ufunc
        if method == "__call__":
            name = operations.called(name)
        else:
            name, function = _REDUCTIONS.get((name, method), (name, getattr(ufunc, method)))
        out = keywords.get("out")
        arguments = plain(inputs)
        clean = dict(keywords)
        if out is not None:
            clean["out"] = plain(out)

        def call():
            with np.errstate(all="ignore"):
                result = getattr(ufunc, method)(*arguments, **clean)
            if out is not None and len(out) == 1 and isinstance(out[0], TracedArray):
                return out[0]
            return counted(result) if (ufunc, method) == (np.add, "reduce") else traced(result)

        # The reductions name their defaults too, which not every function of that name takes.
        said = dict(
            (key, value)
            for key, value in keywords.items()
            if not (key == "dtype" and value is None or key == "where" and value is True)
        )
        return observe(name, function, inputs, said, call)

    def __array_function__(self, function, types, arguments, keywords):
        name = name_of(function)
        clean_arguments = plain(arguments)
        clean_keywords = plain(keywords)

        def call():
            with np.errstate(all="ignore"):
                result = function(*clean_arguments, **clean_keywords)
            return counted(result) if function in (np.sum, np.count_nonzero) else traced(result)

        return observe(name, function, arguments, keywords, call)

    def astype(self, dtype, *arguments, **keywords):
        def call():
            with np.errstate(all="ignore"):
                return traced(self.view(np.ndarray).astype(dtype, *arguments, **keywords))

        return observe("cast", np.ndarray.astype, (self, dtype), {}, call)

    def _method(self, name, function, arguments, keywords):
        def call():
            with np.errstate(all="ignore"):
                return traced(
                    getattr(self.view(np.ndarray), name)(*plain(arguments), **plain(keywords))
                )

        return observe(operations.called(name), function, (self,) + arguments, keywords, call)

    def mean(self, *arguments, **keywords):
        return self._method("mean", np.mean, arguments, keywords)

    def var(self, *arguments, **keywords):
        return self._method("var", np.var, arguments, keywords)

    def std(self, *arguments, **keywords):
        return self._method("std", np.std, arguments, keywords)

    def dot(self, *arguments, **keywords):
        return self._method("dot", np.dot, arguments, keywords)

    def __getitem__(self, item):
        def call():
            # An element of an array is a scalar in NumPy; here it stays traced.
            return traced(self.view(np.ndarray)[plain(item)])

        return observe("getitem", operator.getitem, (self, item), {}, call)

    def reshape(self, *arguments, **keywords):
        return self._method("reshape", np.ndarray.reshape, arguments, keywords)

    def transpose(self, *arguments, **keywords):
        return self._method("transpose", np.ndarray.transpose, arguments, keywords)

    def ravel(self, *arguments, **keywords):
        return self._method("ravel", np.ndarray.ravel, arguments, keywords)

    def flatten(self, *arguments, **keywords):
        return self._method("flatten", np.ndarray.flatten, arguments, keywords)

    def squeeze(self, *arguments, **keywords):
        return self._method("squeeze", np.ndarray.squeeze, arguments, keywords)

    def copy(self, *arguments, **keywords):
        return self._method("copy", np.ndarray.copy, arguments, keywords)

    @property
    def T(self):
        return self.transpose()

    # What leaves the arrays: numbers that the program prints, compares or returns.

    def item(self, *arguments):
        return self._taken(self.view(np.ndarray).item(*arguments))

    def tolist(self):
        return self._taken(self.view(np.ndarray).tolist())

    def __float__(self):
        return self._taken(float(self.view(np.ndarray)))

    def __str__(self):
        return str(self._taken(self.view(np.ndarray)))

    def __repr__(self):
        return repr(self._taken(self.view(np.ndarray)))

    def __format__(self, text):
        return format(self._taken(self.view(np.ndarray)[()]), text)

    def _taken(self, result):
        monitor = _MONITOR[0]
        if monitor is not None and monitor.active and self.dtype.kind == "f":
            producer = monitor.trace.producers.get(id(self))
            if producer is not None:
                producer.consumed = producer.taken = True
            if self.size <= 16:
                monitor.trace.observed.extend(float(value) for value in plain(self).ravel())
            elif not bool(np.isfinite(plain(self)).all()):
                monitor.trace.observed.append(float("nan"))
        return result

    def __reduce__(self):
        return self.view(np.ndarray).__reduce__()


meeting.install(TracedArray)


def converted(source, result):
    """Values were converted to another type by a spelling that is no operation of the array."""
    monitor = _MONITOR[0]
    if monitor is None or not monitor.active:
        return
    frame, _, optimizer = monitor.users.locate(2)
    if frame is None or optimizer:
        return
    held = (
        result.view(np.ndarray).view(TracedArray)
        if isinstance(result, TracedArray)
        else traced(result)
    )
    monitor.operation(
        BACKEND, "cast", np.ndarray.astype, (source, held.dtype), {}, False, frame, lambda: held
    )


def observe(name, function, arguments, keywords, call):
    monitor = _MONITOR[0]
    if monitor is None or not monitor.active:
        return call()
    frame, _, optimizer = monitor.users.locate(3)
    if frame is None or optimizer:
        return call()
    return monitor.operation(
        BACKEND, name, function, tuple(arguments), dict(keywords), False, frame, call
    )


class NumpyBackend(Backend):
    library = "numpy"
    has_gradients = False

    def from_numpy(self, array, dtype_name):
        return traced(ordinary_array(plain(array), dtype=dtype_name, copy=True))

    def numbers(self, value):
        return ordinary_asarray(plain(value))

    def is_array(self, value):
        return isinstance(value, np.ndarray)

    def is_float(self, value):
        return isinstance(value, (np.ndarray, np.floating)) and value.dtype.kind == "f"

    def steerable(self, value):
        # Nothing has to be differentiated: integers can be moved too.
        return isinstance(value, (np.ndarray, np.floating)) and value.dtype.kind in "fiu"

    def dtype_name(self, value):
        return str(value.dtype)

    def epsilon(self, value):
        # Long doubles too.
        return float(np.finfo(value.dtype).eps)

    def replace(self, value, chosen, monitor, key):
        chosen = fitted(chosen, value.shape, monitor)
        if chosen is None:
            return None
        return ordinary_array(chosen, dtype=value.dtype, copy=True).view(TracedArray)

    def assign(self, value, chosen):
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value.view(np.ndarray)[...] = chosen

    def call_wider(self, node):
        def wide(value):
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                target = np.float64 if value.dtype.itemsize < 8 else np.longdouble
                return ordinary_asarray(plain(value), dtype=target)
            return plain(value)

        with np.errstate(all="ignore"):
            result = node.function(
                *[wide(value) for value in node.arguments],
                **dict(
                    (key, wide(value))
                    for key, value in node.keywords.items()
                    if key not in ("dtype", "out")
                ),
            )
        return ordinary_asarray(result)

    def differentiate(self, node, trace):
        return steering.scaled_distances(self, node, trace)


BACKEND = NumpyBackend()


def install(monitor):
    """Starts tracing for a run; returns the function that ends it."""
    _MONITOR[0] = monitor

    def remove():
        _MONITOR[0] = None

    return remove
