"""What the backends of JAX and TensorFlow share: values are looked at as NumPy arrays.

These libraries have no hook that sees every operation, so their public functions and operators are
replaced by ones that report to the monitor (wrapping.py). Their arrays cannot be changed in place:
an input that the program did not make itself is replaced where it first meets an operation.
"""

import numpy as np

from ..steer import steering, tape
from ..watch import operations
from ..watch.monitor import StopRun
from ..watch.monitor_tools import flatten
from .base import Backend, fitted
from .numpy_backend import TracedArray, ordinary_array, ordinary_asarray, plain

# Why a NumPy array is no input of its own.
_IN_BATCHES = "searched in the batches that the library makes of it"


class ArrayBackend(Backend):
    """A library whose arrays become NumPy arrays at no great cost."""

    library = ""

    def __init__(self):
        self.monitor = None  # of the run that goes on
        self.inside = False  # a watched function runs: what it calls is part of it
        self.replaced = {}  # id of an array that entered -> (array, what the program gets)

    # To be answered by each library -----------------------------------------------------------

    def is_symbolic(self, value):
        """Has a shape but no values: part of a graph that is being built."""
        raise NotImplementedError

    def to_numpy(self, value):
        raise NotImplementedError

    def enters(self, value):
        """Is it an array of the library that a program can hand to an operation?"""
        raise NotImplementedError

    def wide(self, value):
        """The same values in float64, as an array of the library."""
        raise NotImplementedError

    def in_wide(self, function, arguments, keywords):
        """Calls a function on wide operands."""
        raise NotImplementedError

    def vjp(self, node, cotangents):
        """(operand, cotangent) pairs of a node, from one cotangent (or None) per output."""
        raise NotImplementedError

    def modules(self):
        """Module -> the functions of it that are watched, None for all."""
        raise NotImplementedError

    # The same for all, unless a library knows better -------------------------------------------

    def skipped(self):
        """Functions of those modules that compute nothing."""
        return operations.TABLE.unwatched.get(self.library, ())

    def methods(self):
        """Methods of its arrays that are watched, besides operators."""
        return ()

    def values(self, value):
        """What the monitor sees of a result: the arrays behind what only stands for them."""
        return value

    def execute(self, function, arguments, keywords):
        """The call itself."""
        return function(*arguments, **keywords)

    def replayable(self, function, arguments):
        """The function as it can be called again with the values that the monitor saw."""
        return function

    def source_facts(self, name, arguments, keywords):
        """(name of the source, bounds of a uniform draw)."""
        return name, None, None

    # The same for all --------------------------------------------------------------------------

    def begin(self, monitor):
        self.monitor = monitor
        self.replaced = {}
        self.inside = False

    def end(self):
        self.monitor = None
        self.replaced = {}

    def numbers(self, value):
        """A NumPy array that NumPy can compute with; float16 and bfloat16 become float32."""
        array = plain(value) if isinstance(value, np.ndarray) else self.to_numpy(value)
        if array.dtype.kind == "V" or array.dtype.itemsize == 2 and array.dtype.kind == "f":
            array = array.astype(np.float32)
        return array

    def dtype_name(self, value):
        dtype = value.dtype
        return str(getattr(dtype, "name", dtype)).replace("_ref", "")

    def is_float(self, value):
        if not (self.is_array(value) or isinstance(value, (np.ndarray, np.floating))):
            return False
        return "float" in self.dtype_name(value)

    def is_state(self, value):
        return False

    def native(self, value):
        return value

    def copy(self, value):
        return ordinary_array(self.to_numpy(value), copy=True)

    def snapshot(self, value):
        """Arrays as NumPy arrays; they outlive the run."""
        if self.is_array(value) or isinstance(value, np.ndarray):
            return ordinary_array(
                plain(value) if isinstance(value, np.ndarray) else self.to_numpy(value), copy=True
            )
        if type(value) in (list, tuple):
            return type(value)(self.snapshot(item) for item in value)
        return value

    def replace(self, value, chosen, monitor, key):
        """What the program gets for an input that it makes; gradients come from the tape."""
        if monitor.policy.overrides.get(key) is None:
            return None
        chosen = fitted(chosen, value.shape, monitor)
        if chosen is None:
            return None
        return self.from_numpy(ordinary_asarray(chosen), self.dtype_name(value))

    def assign(self, value, chosen):
        self.replaced[id(value)] = (
            value,
            self.from_numpy(ordinary_asarray(chosen), self.dtype_name(value)),
        )

    def exchanged(self, value, frame):
        """The arguments of an operation, with what the search chose instead of some."""
        value = self.native(value)
        ordinary = isinstance(value, np.ndarray) and not isinstance(value, TracedArray)
        if ordinary or self.enters(value):
            return self.entered(value, frame)
        if type(value) in (list, tuple):
            return type(value)(self.exchanged(item, frame) for item in value)
        return value

    def entered(self, value, frame):
        """What an operation gets for an array: itself, or what the search chose instead of it."""
        monitor = self.monitor
        held = self.replaced.get(id(value))
        if held is None:
            if id(value) not in monitor.derived and id(value) not in monitor.known:
                if self.is_state(value):
                    self.mark(value)
                    return value
                batch = self._batch(value, frame)
                if batch is not value:
                    return batch
            monitor.met(self, value, frame)
            held = self.replaced.get(id(value))
            if held is None:
                return value
            monitor.known[id(held[1])] = monitor.known[id(value)]
            monitor.derived.add(id(held[1]))
            monitor.trace.keep.append(held[1])
        return held[1]

    def _batch(self, value, frame):
        """Data that comes back from the library in batches (Keras, `tf.data`) is the NumPy input it
        was made from, if its rows are there; other data made from such inputs is no input."""
        monitor = self.monitor
        if (
            not self.is_array(value)
            or self.is_weight(value)
            or not self.is_float(value)
            or monitor.users.locate(4)[1]
        ):
            return value
        inputs = [
            info
            for info in monitor.trace.inputs.values()
            if info.library == "numpy"
            and info.kind == "source"
            and (not info.frozen or info.why == _IN_BATCHES)
        ]
        if not inputs:
            return value
        rows = self.numbers(value)
        for position, info in enumerate(inputs):
            if _has_row(info.value, rows):
                made = monitor.batch(self, value, position, frame)
                held = monitor.trace.inputs[monitor.known[id(made)]]
                if not info.frozen:
                    held.name, held.low, held.high, held.why = (
                        info.name,
                        info.low,
                        info.high,
                        info.why,
                    )
                    info.frozen, info.why = True, _IN_BATCHES
                return made
        self.mark(value)
        return value

    def mark(self, result):
        """Results of calls that are not recorded are no inputs either."""
        monitor = self.monitor
        for value in flatten(result if isinstance(result, (tuple, list)) else (result,), []):
            if id(value) not in monitor.derived:
                monitor.derived.add(id(value))
                monitor.trace.keep.append(value)

    def call_wider(self, node):
        arguments = [self._widened(value) for value in node.arguments]
        keywords = dict(
            (key, self._widened(value)) for key, value in node.keywords.items() if key != "dtype"
        )
        result = self.in_wide(node.function, arguments, keywords)
        return result[0] if isinstance(result, (tuple, list)) else result

    def _widened(self, value):
        if type(value) in (list, tuple):
            return type(value)(self._widened(item) for item in value)
        return self.wide(value) if self.is_float(value) else plain(value)

    # What the program does with arrays --------------------------------------------------------

    def taken_out(self, value):
        """The program took the numbers out: it prints, compares or returns them."""
        trace = self.monitor.trace
        producer = trace.producer(value)
        if producer is not None:
            producer.consumed = producer.taken = True
        if self.is_float(value):
            if self.count(value) <= 16:
                trace.observed.extend(float(item) for item in self.numbers(value).ravel())
            elif not self.finite(value):
                trace.observed.append(float("nan"))

    def differentiated(self, loss, gradients):
        """A backward pass ended; its gradients may be spoiled where the loss is not."""
        monitor, trace = self.monitor, self.monitor.trace
        if self.is_float(loss):
            self.taken_out(loss)
        trace.passed_backward()
        if monitor.policy.watch_gradients and any(not self.finite(value) for value in gradients):
            trace.gradient_bad = True
            # Where the forward pass failed first, the gradient only passes it on.
            node = None if trace.failures or loss is None else tape.first_bad(trace, [loss])
            if node is not None:
                monitor.fail(
                    self,
                    "gradient_nonfinite",
                    node,
                    "the value of %s is finite, its gradient is not" % node.name,
                )
        limit = monitor.policy.backward_limit
        if limit is not None and trace.backward_calls >= limit:
            trace.stopped = "training steps"
            raise StopRun()

    def behind(self, value):
        """The inputs that a value was made from, a few operations back."""
        trace, level, seen = self.monitor.trace, [value], set()
        while level and len(seen) < 50:
            held = level.pop()
            if id(held) in seen:
                continue
            seen.add(id(held))
            info = trace.inputs.get(self.monitor.known.get(id(held)))
            if info is not None:
                yield info
            producer = trace.producer(held)
            if producer is not None:
                level.extend(producer.inputs)

    def becomes_weight(self, value):
        """The inputs that a parameter of the model was made from are weights."""
        for info in self.behind(value):
            if info.kind != "weight":
                info.kind, info.frozen, info.low, info.high = "weight", False, None, None
                info.why = "a parameter of the model"

    def differentiate(self, node, trace):
        found = []
        for label, distance, seeds in steering.distances(self, node, trace):
            found.append((label, distance, tape.gradients(trace, self.monitor.known, seeds)))
        return found


def _has_row(array, rows):
    """Is the first row of a batch one of the array's rows?"""
    if (
        rows.ndim == 0
        or array.ndim != rows.ndim
        or rows.shape[1:] != array.shape[1:]
        or rows.size == 0
    ):
        return False
    same = ordinary_asarray(array).astype(rows.dtype) == rows[:1]
    return bool(same.reshape(array.shape[0], -1).all(axis=1).any())


def unwatched(value):
    """Arguments for the library itself: traced NumPy arrays as ordinary ones."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(unwatched(item) for item in value)
    if type(value) is dict:
        return dict((key, unwatched(item)) for key, item in value.items())
    return value
