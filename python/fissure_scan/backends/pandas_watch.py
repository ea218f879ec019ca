"""What pandas computes in frames and series: operations like those of NumPy.

pandas keeps plain arrays inside. Its operators, its reductions and NumPy's functions on its objects report
what they did with the arrays behind them; frames that a reader of pandas makes are inputs.
"""

import sys

import numpy as np

from ..watch import operations
from . import numpy_backend


class _Probe:
    """Says which of NumPy's functions an operator of an array calls."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc


def _operators():
    """Arithmetic operators by their names (`truediv`), each with the same mathematics in NumPy."""
    for name in operations.with_property("arithmetic"):
        for told in operations.names(name):
            if told.startswith("__") and hasattr(np.ndarray, told):
                yield told.strip("_"), getattr(np.ndarray, told)(np.ones(1), _Probe())


def _reductions():
    """Reductions that lose digits and that NumPy has for data with gaps, as pandas does."""
    for name in operations.with_property("loses digits"):
        function = getattr(np, "nan" + name, None)
        if function is not None and np.ndim(function(np.ones(2))) == 0:
            yield name, function


# Asked before anything of NumPy is replaced.
_OPERATORS = dict(_operators())
_REDUCTIONS = dict(_reductions())


def install(applied, monitor):
    """For one run; nothing where the program has not imported pandas."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "DataFrame"):
        return
    watch = _Watch(pandas, monitor)
    for kind in (pandas.DataFrame, pandas.Series):
        for name, function in _OPERATORS.items():
            for method in ("__%s__" % name, "__r%s__" % name, name, "r" + name):
                watch.binary(applied, kind, method, function)
        watch.binary(applied, kind, "div", np.true_divide)
        for name, function in _REDUCTIONS.items():
            watch.reduction(applied, kind, name, function)
        watch.ufuncs(applied, kind)
    readers = sys.modules.get("pandas.io.api")
    for name, reader in sorted(vars(readers).items()) if readers is not None else ():
        if callable(reader) and getattr(pandas, name, None) is reader:
            watch.reader(applied, name, reader)


class _Watch:
    def __init__(self, pandas, monitor):
        self.pandas = pandas
        self.monitor = monitor
        self.arrays = {}  # id of a frame or series -> (it, the array that stands for it)

    def frame(self, depth):
        if not self.monitor.active:
            return None
        frame, direct, optimizer = self.monitor.users.locate(depth + 1)
        return frame if direct and not optimizer else None

    def array(self, value):
        """The numbers of a frame or series as a watched array; None where there are others."""
        if isinstance(value, (int, float, np.ndarray, np.number)):
            return value
        if not isinstance(value, (self.pandas.DataFrame, self.pandas.Series)):
            return None
        try:
            numbers = value.to_numpy()
        except (TypeError, ValueError):
            return None
        if getattr(numbers, "dtype", np.dtype(object)).kind not in "fiub":
            return None
        held = self.arrays.get(id(value))
        if held is not None and np.array_equal(numbers, numpy_backend.plain(held[1]), True):
            return held[1]
        array = numpy_backend.traced(numpy_backend.ordinary_array(numbers))
        if isinstance(value, self.pandas.Series) and array.dtype.kind in "iu":
            self.link(array)
        return self.remember(value, array)

    def link(self, array):
        """A column of whole numbers is the array of the program that it was made of."""
        numbers = numpy_backend.plain(array)
        for source in self.monitor.trace.keep:
            key = self.monitor.whole.get(id(source))
            if key is None or not isinstance(source, np.ndarray):
                continue
            if source.shape == numbers.shape and np.array_equal(
                numpy_backend.plain(source), numbers
            ):
                self.monitor.whole[id(array)] = key
                return

    def remember(self, value, array):
        self.arrays[id(value)] = (value, array)
        self.monitor.derived.add(id(array))
        self.monitor.trace.keep.append(array)
        return array

    def aligned(self, one, two):
        """Do the labels agree? Where they do not, pandas fills the gaps with NaN on purpose."""
        frame, series = self.pandas.DataFrame, self.pandas.Series
        if isinstance(one, frame) and isinstance(two, frame):
            return one.index.equals(two.index) and one.columns.equals(two.columns)
        if isinstance(one, series) and isinstance(two, series):
            return one.index.equals(two.index)
        if isinstance(one, frame) and isinstance(two, series):
            return one.columns.equals(two.index)
        return not isinstance(two, (frame, series))

    def observe(self, name, function, operands, keywords, frame, call):
        """Reports one operation on arrays; returns what pandas gives."""
        given = []

        def computed():
            with np.errstate(all="ignore"):
                given.append(call())
            made = given[0]
            if isinstance(made, (self.pandas.DataFrame, self.pandas.Series)):
                array = self.array(made)
                return made if array is None else array
            return numpy_backend.traced(np.float64(made)) if isinstance(made, float) else made

        output = self.monitor.operation(
            numpy_backend.BACKEND, name, function, tuple(operands), keywords, False, frame, computed
        )
        made = given[0]
        # A number stays watched, as an element of an array does.
        return output if isinstance(made, float) else made

    def binary(self, applied, kind, method, function):
        original = getattr(kind, method, None)
        if original is None:
            return
        watch, reflected = self, method.lstrip("_").startswith("r")
        name = operations.called(function.__name__)

        def replaced(one, other, *arguments, **keywords):
            frame = None if arguments or keywords else watch.frame(2)
            other = numpy_backend.plain(other)
            if frame is None or not watch.aligned(one, other):
                return original(one, other, *arguments, **keywords)
            operands = [watch.array(one), watch.array(other)]
            if any(value is None for value in operands):
                return original(one, other)
            if reflected:
                operands.reverse()
            return watch.observe(name, function, operands, {}, frame, lambda: original(one, other))

        applied.set(kind, method, replaced)

    def reduction(self, applied, kind, name, function):
        original, watch = getattr(kind, name), self

        def replaced(one, *arguments, **keywords):
            frame = None if arguments or keywords else watch.frame(2)
            array = watch.array(one) if frame is not None else None
            if array is None or array.dtype.kind != "f":
                return original(one, *arguments, **keywords)
            said = {"axis": 0}
            if operations.has(name, "squares inside"):
                # Those of pandas divide by one less.
                said["ddof"] = 1
            return watch.observe(name, function, [array], said, frame, lambda: original(one))

        applied.set(kind, name, replaced)

    def ufuncs(self, applied, kind):
        original, watch = kind.__array_ufunc__, self

        def replaced(one, ufunc, method, *inputs, **keywords):
            inputs = numpy_backend.plain(inputs)
            frame = watch.frame(2) if method == "__call__" and not keywords else None
            operands = [watch.array(value) for value in inputs] if frame is not None else [None]
            if any(value is None for value in operands) or len(operands) > 1:
                return original(one, ufunc, method, *inputs, **keywords)
            return watch.observe(
                numpy_backend.name_of(ufunc),
                ufunc,
                operands,
                {},
                frame,
                lambda: original(one, ufunc, method, *inputs),
            )

        applied.set(kind, "__array_ufunc__", replaced)

    def reader(self, applied, name, original):
        watch = self

        def replaced(*arguments, **keywords):
            made = original(*arguments, **keywords)
            frame = watch.frame(2)
            if frame is None or not isinstance(made, watch.pandas.DataFrame):
                return made
            columns = [label for label in made.columns if made[label].dtype.kind == "f"]
            if not columns:
                return made
            own = numpy_backend.traced(made[columns].to_numpy())
            got = watch.monitor.created(numpy_backend.BACKEND, name, (), {}, own, frame)
            if got is not own:
                for position, label in enumerate(columns):
                    made[label] = numpy_backend.plain(got)[:, position]
            return made

        applied.set(self.pandas, name, replaced)
