"""Interception of JAX: `jax.numpy`, `jax.nn`, `jax.lax`, `jax.random`, `jax.scipy` and operators.

The program runs with `jit` switched off, so that its functions compute with values; the library's own
functions stay compiled. Inside `grad` and `vmap` the values are those behind the tracers.
"""

import functools
import importlib

import jax
import jax.numpy as jnp
import jax.scipy.special
import jax.scipy.stats
import numpy as np
from jax._src import core
from jax._src.array import ArrayImpl

from ..watch import operations
from . import wrapping
from ..steer import steering
from .arrays import ArrayBackend
from ..watch.monitor_tools import flatten
from .numpy_backend import ordinary_asarray, plain

_WEIGHTS = ("w", "theta", "param", "bias", "kernel", "coef", "beta", "embedding")
_OUT = ("item", "tolist", "__float__", "__format__")


def peel(value):
    """The array behind tracers: what `grad` and `vmap` hand to the program."""
    for _ in range(8):
        if isinstance(value, core.Tracer):
            value = (
                getattr(value, "primal", None)
                if hasattr(value, "primal")
                else getattr(value, "val", None)
            )
        else:
            break
    return value


class JaxBackend(ArrayBackend):
    library = "jax"

    def modules(self):
        """Module -> the functions of it that are watched, None for all."""
        return {
            "jax.numpy": None,
            "jax.nn": None,
            "jax.numpy.linalg": None,
            "jax.scipy.special": None,
            "jax.random": operations.watched("jax.random"),
            "jax.lax": operations.watched("jax.lax"),
        }

    def skipped(self):
        return operations.TABLE.unwatched[self.library]

    def methods(self):
        return operations.watched("jax.Array") + ["__getitem__"]

    def is_array(self, value):
        return (
            isinstance(value, jax.Array)
            and not isinstance(value, core.Tracer)
            and not jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
        )

    def is_symbolic(self, value):
        # Tracers that hold no values: a graph is being built (`make_jaxpr`, `eval_shape`).
        return isinstance(value, core.Tracer) and peel(value) is None

    def to_numpy(self, value):
        return np.asarray(plain(value)) if isinstance(value, np.ndarray) else value.__array__()

    def from_numpy(self, array, dtype_name):
        dtype = jnp.bfloat16 if dtype_name == "bfloat16" else dtype_name
        return self._quietly(jnp.asarray, ordinary_asarray(array).astype(dtype))

    def _quietly(self, function, *arguments, **keywords):
        before, self.inside = self.inside, True
        try:
            with jax.disable_jit(False):
                return function(*arguments, **keywords)
        finally:
            self.inside = before

    def values(self, value):
        if isinstance(value, core.Tracer):
            return peel(value)
        if isinstance(value, (list, tuple)):
            parts = [self.values(item) for item in value]
            return tuple(parts) if isinstance(value, tuple) else parts
        if type(value) is dict:
            return dict((key, self.values(item)) for key, item in value.items())
        return value

    def enters(self, value):
        return isinstance(value, jax.Array) and not isinstance(value, core.Tracer)

    def execute(self, function, arguments, keywords):
        traced = any(
            isinstance(value, core.Tracer)
            for value in flatten(arguments + list(keywords.values()), [])
        )
        with jax.disable_jit(traced):
            return function(*arguments, **keywords)

    def replayable(self, function, arguments):
        """The function for the values behind the tracers: under `vmap` they have one axis more."""
        axes = [getattr(value, "batch_dim", None) for value in arguments]
        if all(axis is None for axis in axes):
            return function

        def mapped(*values, **keywords):
            return jax.vmap(lambda *parts: function(*parts, **keywords), in_axes=tuple(axes))(
                *values
            )

        mapped.__name__ = getattr(function, "__name__", "mapped")
        return mapped

    def source_facts(self, name, arguments, keywords):
        """(name of the source, bounds of a uniform draw)."""
        if name == "uniform":
            low = arguments[3] if len(arguments) > 3 else keywords.get("minval", 0.0)
            high = arguments[4] if len(arguments) > 4 else keywords.get("maxval", 1.0)
            return name, _number(low), _number(high)
        if name == "truncated_normal":
            low = arguments[1] if len(arguments) > 1 else keywords.get("lower")
            high = arguments[2] if len(arguments) > 2 else keywords.get("upper")
            return "uniform", _number(low), _number(high)
        return name, None, None

    def weights_of(self, arguments, settings, named):
        """The arguments that a program differentiates by are weights if they are a structure of
        arrays or called like weights; a lone array may as well be data."""
        if self.monitor is None or not self.monitor.active:
            return
        numbers = settings[0] if settings else named.get("argnums", 0)
        for number in numbers if isinstance(numbers, (tuple, list)) else (numbers,):
            if not isinstance(number, int) or number >= len(arguments):
                continue
            leaves = jax.tree_util.tree_leaves(arguments[number])
            for leaf in leaves:
                value = peel(leaf)
                if value is not None and (leaf is not arguments[number] or self._named(value)):
                    self.becomes_weight(value)

    def _named(self, value):
        trace = self.monitor.trace
        held, steps = value, 0
        while steps < 8:
            info = trace.inputs.get(self.monitor.known.get(id(held)))
            if info is not None:
                return info.name.lower().startswith(_WEIGHTS)
            producer = trace.producer(held)
            if producer is None or not producer.inputs:
                return False
            held, steps = producer.inputs[-1], steps + 1
        return False

    # Wider and derivatives ---------------------------------------------------------------------

    def wide(self, value):
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else _x64():
            return self._quietly(jnp.asarray, self.numbers(value).astype(np.float64))

    def in_wide(self, function, arguments, keywords):
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else _x64():
            return self._quietly(function, *arguments, **keywords)

    def vjp(self, node, cotangents):
        places, values = [], []

        def collect(value, path):
            if self.is_float(value):
                places.append(path)
                values.append(value)
            elif type(value) in (list, tuple):
                for position, item in enumerate(value):
                    collect(item, path + (position,))

        for position, value in enumerate(node.arguments):
            collect(value, (position,))
        if node.name == "convert":
            return [(values[0], cotangents[0].reshape(values[0].shape))] if values else []
        wanted = [
            position for position, cotangent in enumerate(cotangents) if cotangent is not None
        ]

        def function(*chosen):
            arguments = [
                _put(value, (position,), places, chosen)
                for position, value in enumerate(node.arguments)
            ]
            result = node.function(*arguments, **node.keywords)
            results = result if isinstance(result, (tuple, list)) else (result,)
            return [results[position] for position in wanted]

        try:
            outputs, pull = self._quietly(
                jax.vjp, function, *[jnp_asarray(plain(value)) for value in values]
            )
            pulled = self._quietly(
                pull,
                [
                    jnp_asarray(ordinary_asarray(cotangents[position]).astype(output.dtype))
                    for position, output in zip(wanted, outputs)
                ],
            )
        except Exception:
            # No derivative of it: the way back ends here.
            return []
        return [
            (value, np.asarray(cotangent.__array__(), dtype=np.float64))
            for value, cotangent in zip(values, pulled)
        ]


def _x64():
    from jax.experimental import enable_x64

    return enable_x64(True)


jnp_asarray = jnp.asarray


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _put(value, path, places, chosen):
    if path in places:
        return chosen[places.index(path)]
    if type(value) in (list, tuple):
        return type(value)(
            _put(item, path + (position,), places, chosen) for position, item in enumerate(value)
        )
    return plain(value)


BACKEND = JaxBackend()


def install():
    """Replaces the functions of JAX, once per process."""
    for path, only in BACKEND.modules().items():
        wrapping.watch_module(BACKEND, importlib.import_module(path), only)
    for attribute in ("PRNGKey", "key", "split", "fold_in", "categorical", "shuffle"):
        # Compiled as ever; there is nothing to see in them.
        original = getattr(jax.random, attribute, None)
        if original is not None:
            setattr(
                jax.random, attribute, wrapping.Watched(BACKEND, original, attribute, "passed on")
            )
    wrapping.watch_operators(BACKEND, ArrayImpl)
    wrapping.watch_operators(BACKEND, core.ShapedArray, "_%s")
    for attribute in operations.watched("jax.Array"):
        name = operations.called(attribute, BACKEND.library)
        wrapping.replace_method(BACKEND, ArrayImpl, attribute, name)
    for attribute in _OUT:
        setattr(ArrayImpl, attribute, _taken(getattr(ArrayImpl, attribute)))
    for owner, attribute in ((ArrayImpl, "__getitem__"), (core.ShapedArray, "_getitem")):
        wrapping.replace_method(BACKEND, owner, attribute, "getitem")


def _taken(original):
    """What leaves the arrays: numbers that the program prints, compares or returns."""

    def call(self, *arguments):
        monitor = BACKEND.monitor
        if monitor is not None and monitor.active and not BACKEND.inside:
            BACKEND.taken_out(self)
        return original(self, *arguments)

    return call


class Run:
    """JAX as it is during one run of the program."""

    def __init__(self, monitor, patches):
        self.monitor = monitor
        self.depth = 0  # of gradients inside each other
        BACKEND.begin(monitor)
        self._jit = jax.disable_jit(True)
        self._jit.__enter__()
        for name in ("grad", "value_and_grad"):
            patches.set(jax, name, self._differentiating(getattr(jax, name), name))

    def end(self):
        self._jit.__exit__(None, None, None)
        BACKEND.end()

    def _differentiating(self, original, name):
        def transform(function, *settings, **named):
            return _Differentiated(self, original, name, function, settings, named)

        return transform


class _Differentiated:
    """What `grad` or `value_and_grad` made of a function of the program."""

    def __init__(self, run, original, name, function, settings, named):
        functools.update_wrapper(self, function, updated=())
        self.run = run
        self.name = name
        self.function = function
        self.settings = settings
        self.named = named
        self.losses = []
        self.derivative = original(self._seen, *settings, **named)

    def _loss(self, result):
        return peel(result[0] if self.named.get("has_aux") else result)

    def _seen(self, *arguments, **keywords):
        result = self.function(*arguments, **keywords)
        self.losses.append(self._loss(result))
        return result

    def __call__(self, *arguments, **keywords):
        run, monitor = self.run, self.run.monitor
        if not monitor.active or BACKEND.inside or run.depth:
            # A gradient inside the function of another one is a part of that.
            return self.derivative(*arguments, **keywords)
        BACKEND.weights_of(arguments, self.settings, self.named)
        run.depth += 1
        try:
            limit = monitor.policy.backward_limit
            if limit is not None and monitor.trace.backward_calls + 1 >= limit:
                return self._last(arguments, keywords)
            result = self.derivative(*arguments, **keywords)
        finally:
            run.depth -= 1
        BACKEND.mark(jax.tree_util.tree_leaves(result))
        gradient = (
            result[1]
            if self.name == "value_and_grad"
            else result[0]
            if self.named.get("has_aux")
            else result
        )
        loss = self.losses[-1] if self.losses else None
        self.losses.clear()
        BACKEND.differentiated(loss, jax.tree_util.tree_leaves(gradient))
        return result

    def _last(self, arguments, keywords):
        """The run ends here: without tracers the function is ten times as fast, and the gradient is
        only asked for where an operation has operands that can spoil it."""
        loss = self._loss(self.function(*arguments, **keywords))
        gradient = []
        monitor = self.run.monitor
        if (
            monitor.policy.watch_gradients
            and not monitor.trace.failures
            and any(steering.slope_may_fail(BACKEND, node) for node in monitor.trace.nodes)
        ):
            BACKEND.inside = True
            try:
                gradient = jax.tree_util.tree_leaves(self.derivative(*arguments, **keywords))
            finally:
                BACKEND.inside = False
        BACKEND.differentiated(loss, gradient)
