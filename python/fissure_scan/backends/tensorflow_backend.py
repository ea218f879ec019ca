"""Interception of TensorFlow 2: `tf`, `tf.math`, `tf.nn`, `tf.linalg`, `tf.random` and operators.

`tf.function` bodies run as ordinary Python, so that they compute with values; Keras calls the same
public functions, so its layers, losses and training loops are seen too, at the user's line.
Graph programs (TensorFlow 1) are graph_backend.py's.
"""

import functools
import sys

import numpy as np
import tensorflow as tf

from ..watch import operations
from . import graph_backend, wrapping
from .arrays import ArrayBackend, unwatched
from ..watch.monitor_tools import flatten
from .numpy_backend import ordinary_asarray, plain

_OUT = ("numpy", "__float__", "__format__")


class TensorflowBackend(ArrayBackend):
    library = "tensorflow"

    def modules(self):
        """Module -> the functions of it that are watched, None for all."""
        return dict(
            (path, None)
            for path in (
                "tensorflow",
                "tensorflow.math",
                "tensorflow.nn",
                "tensorflow.linalg",
                "tensorflow.random",
                # What libraries on top of TensorFlow import.
                "tensorflow.compat.v2",
                "tensorflow.compat.v2.math",
                "tensorflow.compat.v2.nn",
                "tensorflow.compat.v2.linalg",
            )
        )

    def skipped(self):
        return operations.TABLE.unwatched[self.library]

    def methods(self):
        return ["__getitem__"]

    def is_array(self, value):
        return isinstance(value, (tf.Tensor, tf.Variable)) and not self.is_symbolic(value)

    def is_symbolic(self, value):
        if isinstance(value, tf.Variable):
            return not tf.executing_eagerly()
        if isinstance(value, tf.Tensor):
            return not hasattr(value, "_numpy")
        # A tensor of Keras while a model is put together.
        return type(value).__name__ == "KerasTensor"

    def is_weight(self, value):
        return isinstance(value, tf.Variable)

    def is_state(self, value):
        """Counters, statistics and the like, which no gradient moves."""
        return isinstance(value, tf.Variable) and not value.trainable

    def given_name(self, value):
        return value.name.split(":")[0] if isinstance(value, tf.Variable) else None

    def to_numpy(self, value):
        return plain(value) if isinstance(value, np.ndarray) else _numpy(value)

    def from_numpy(self, array, dtype_name):
        before, self.inside = self.inside, True
        try:
            return _cast(
                _constant(
                    ordinary_asarray(array, dtype=np.float64)
                    if "float" in dtype_name
                    else ordinary_asarray(array)
                ),
                dtype_name,
            )
        finally:
            self.inside = before

    def assign(self, value, chosen):
        if isinstance(value, tf.Variable):
            value.assign(self.from_numpy(chosen, self.dtype_name(value)))
        elif isinstance(value, np.ndarray):
            value[...] = chosen
        else:
            super().assign(value, chosen)

    def values(self, value):
        return value

    def native(self, value):
        """The variable inside a variable of Keras."""
        held = getattr(value, "_value", None)
        return held if isinstance(held, tf.Variable) else value

    def enters(self, value):
        return isinstance(value, (tf.Tensor, tf.Variable))

    def execute(self, function, arguments, keywords):
        return function(*arguments, **keywords)

    def replayable(self, function, arguments):
        return function

    def source_facts(self, name, arguments, keywords):
        if name in ("uniform", "truncated_normal"):
            first, second = ("minval", "maxval") if name == "uniform" else ("mean", "stddev")
            low = arguments[1] if len(arguments) > 1 else keywords.get(first, 0.0)
            high = arguments[2] if len(arguments) > 2 else keywords.get(second, 1.0)
            try:
                low, high = float(low), float(high)
            except (TypeError, ValueError):
                return "uniform", None, None
            return (
                ("uniform", low, high)
                if name == "uniform"
                else ("uniform", low - 2.0 * high, low + 2.0 * high)
            )
        return {"constant": "tensor", "convert_to_tensor": "tensor"}.get(name, name), None, None

    # Wider and derivatives ---------------------------------------------------------------------

    def wide(self, value):
        before, self.inside = self.inside, True
        try:
            return _constant(self.numbers(value).astype(np.float64))
        finally:
            self.inside = before

    def in_wide(self, function, arguments, keywords):
        before, self.inside = self.inside, True
        try:
            return function(*unwatched(list(arguments)), **unwatched(keywords))
        finally:
            self.inside = before

    def vjp(self, node, cotangents):
        floats = []
        for value in node.inputs:
            if self.is_float(value) and all(value is not other for other in floats):
                floats.append(value)
        if node.name == "convert":
            return [(floats[0], cotangents[0].reshape(tuple(floats[0].shape)))] if floats else []
        before, self.inside = self.inside, True
        try:
            # Copies: the operation may have the same tensor twice, and NumPy arrays.
            copies = dict((id(value), _constant(self.to_numpy(value))) for value in floats)

            def copied(value):
                if type(value) in (list, tuple):
                    return type(value)(copied(item) for item in value)
                return copies.get(id(value), plain(value))

            with tf.GradientTape() as tape:
                for copy in copies.values():
                    tape.watch(copy)
                result = node.function(
                    *[copied(value) for value in node.arguments],
                    **dict((key, copied(value)) for key, value in node.keywords.items()),
                )
            results = flatten(result if isinstance(result, (tuple, list)) else (result,), [])
            wanted = [
                (results[position], cotangent)
                for position, cotangent in enumerate(cotangents)
                if cotangent is not None
            ]
            pulled = _gradient(
                tape,
                [output for output, _ in wanted],
                list(copies.values()),
                [_cast(_constant(cotangent), output.dtype) for output, cotangent in wanted],
            )
        except Exception:
            # No derivative of it: the way back ends here.
            return []
        finally:
            self.inside = before
        pairs = []
        for value, cotangent in zip(floats, pulled):
            if cotangent is not None:
                dense = tf_original_convert(cotangent)
                pairs.append((value, self.numbers(dense).astype(np.float64)))
        return pairs


BACKEND = TensorflowBackend()
_constant, _cast, tf_original_convert = tf.constant, tf.cast, tf.convert_to_tensor
_gradient = tf.GradientTape.gradient


def _numpy(value):
    return (
        _TENSOR_NUMPY(value) if isinstance(value, tf.Tensor) else _TENSOR_NUMPY(value.read_value())
    )


_TENSOR_NUMPY = type(tf.constant(0.0)).numpy


def install():
    """Replaces the functions of TensorFlow, once per process."""
    for path in BACKEND.modules():
        module = functools.reduce(getattr, path.split(".")[1:], tf)
        wrapping.watch_module(BACKEND, module)
    wrapping.watch_operators(BACKEND, tf.Tensor)
    wrapping.watch_operators(BACKEND, tf.Variable)
    wrapping.replace_method(BACKEND, tf.Tensor, "__getitem__", "getitem")
    eager = type(_constant(0.0))
    for attribute in _OUT:
        if hasattr(eager, attribute):
            setattr(
                tf.Tensor if attribute != "numpy" else eager.__mro__[1],
                attribute,
                _taken(getattr(eager, attribute)),
            )


def _taken(original):
    """What leaves the tensors: numbers that the program prints, compares or returns."""

    def call(self, *arguments):
        monitor = BACKEND.monitor
        if (
            monitor is not None
            and monitor.active
            and not BACKEND.inside
            and not BACKEND.is_symbolic(self)
        ):
            BACKEND.taken_out(self)
        return original(self, *arguments)

    return call


class Run:
    """TensorFlow as it is during one run of the program."""

    def __init__(self, monitor, patches):
        BACKEND.begin(monitor)
        graph_backend.BACKEND.begin(monitor)
        graph_backend.BACKEND.recording = None
        run_eagerly(True)
        if not tf.executing_eagerly():
            tf.compat.v1.reset_default_graph()
        if monitor.settings.tf1:
            # The program's `import tensorflow` gets the names and the behaviour of version 1.
            tf.compat.v1.disable_v2_behavior()
            sys.modules["tensorflow"] = tf.compat.v1
        self._seed(patches)
        original = _SESSION.run
        graphs = graph_backend.Graphs(tf, monitor, original)

        def run(session, fetches, feed_dict=None, *more, **named):
            return graphs.run(session, fetches, feed_dict, *more, **named)

        patches.set(_SESSION, "run", run)

        def gradient(tape, target, *arguments, **keywords):
            before, BACKEND.inside = BACKEND.inside, True
            try:
                result = _gradient(tape, target, *arguments, **keywords)
            finally:
                BACKEND.inside = before
            if monitor.active and not BACKEND.inside:
                leaves = [value for value in tf.nest.flatten(result) if value is not None]
                BACKEND.mark(leaves)
                losses = [value for value in tf.nest.flatten(target)]
                BACKEND.differentiated(
                    losses[0] if len(losses) == 1 else None,
                    [getattr(leaf, "values", leaf) for leaf in leaves],
                )
            return result

        patches.set(tf.GradientTape, "gradient", gradient)
        self._variables(patches, monitor)

    def _seed(self, patches):
        """Graphs have a seed of their own each."""
        tf.random.set_seed(0)
        tf.compat.v1.get_default_graph().seed = 0
        original = tf.Graph.__init__

        def init(graph, *arguments, **keywords):
            original(graph, *arguments, **keywords)
            graph.seed = 0

        patches.set(tf.Graph, "__init__", init)

    def _variables(self, patches, monitor):
        """The initial value of a variable is no input of its own."""
        from tensorflow.python.ops.resource_variable_ops import ResourceVariable

        original = ResourceVariable.__init__

        def init(variable, initial_value=None, *arguments, **keywords):
            for info in BACKEND.behind(initial_value):
                info.frozen, info.why = True, "the initial value of a variable"
            original(variable, initial_value, *arguments, **keywords)

        patches.set(ResourceVariable, "__init__", init)

    def end(self):
        sys.modules["tensorflow"] = tf
        run_eagerly(False)
        BACKEND.end()
        graph_backend.BACKEND.end()


def run_eagerly(flag):
    set_flag = (
        getattr(tf.config, "run_functions_eagerly", None)
        or tf.config.experimental_run_functions_eagerly
    )
    set_flag(flag)


_SESSION = next(owner for owner in tf.compat.v1.Session.__mro__ if "run" in vars(owner))


def replay(recording, monitor):
    """The steps of a graph program again; see graph_backend.py."""
    graph_backend.BACKEND.begin(monitor)
    try:
        graph_backend.replay(recording, tf, monitor, _SESSION.run)
    finally:
        graph_backend.BACKEND.end()
