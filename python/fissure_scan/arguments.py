"""Arguments for a target function: from defaults, type hints, names and what the call accepts.

A few complete sets of arguments are tried, the most ordinary first; the first one the function
accepts is the program's "own data" of a function target.
"""

import inspect
import sys

_LABELS = ("label", "labels", "y", "target", "targets", "y_true", "classes", "index", "indices",
           "actions", "action")
_PROBABILITIES = ("p", "prob", "probs", "probability", "probabilities", "y_pred", "pred_prob",
                  "mask", "weight", "weights")
_SMALL = ("eps", "epsilon", "alpha", "beta", "gamma", "temperature", "tau", "margin", "lr", "rate",
          "scale", "sigma", "delta", "reg", "regularisation", "regularization")
_COUNTS = ("n", "k", "size", "steps", "iterations", "num", "dim", "axis", "iters", "classes")
_SIZES = ("_size", "_dim", "_features", "_channels", "_classes", "_inputs", "_outputs", "hidden",
          "_units", "_actions")

SHAPES = ((4, 3), (4,), (3, 3), (2, 3, 4), (2, 3, 8, 8), ())


class Arguments:
    """The arguments of the target function, arrays among them as inputs of the search."""

    def __init__(self, function, shape, labels, library):
        self.values = {}
        self.shape = shape
        self.labels = labels
        self.library = library
        signature = inspect.signature(function)
        generator = _Generator(library, shape, labels)
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if name == "self":
                continue
            if parameter.default is not inspect.Parameter.empty:
                self.values[name] = parameter.default
                continue
            self.values[name] = generator.value(name, parameter.annotation)

    def call(self, target, monitor):
        prepared = {}
        for position, (name, value) in enumerate(self.values.items()):
            if hasattr(value, "shape") and hasattr(value, "dtype"):
                value = self._enter(monitor, name, position, value)
            prepared[name] = value
        return target(**prepared)

    def _enter(self, monitor, name, position, value):
        from .trace import InputInfo
        backend = _backend(value)
        key = "parameter:%d" % position
        fresh = backend.copy(value)
        if backend.library == "numpy":
            from .numpy_backend import traced
            fresh = traced(fresh)
        info = InputInfo(key, "parameter", name, "parameter", monitor.program_file, 0,
                         backend.copy(value), None, None, "a parameter of the function")
        info.library = backend.library
        minimum, maximum, whole, count = backend.statistics(value) if backend.is_float(value) \
            else (0.0, 0.0, False, 0)
        if not backend.is_float(value):
            info.frozen = True
            info.why = "not a floating-point array"
        elif name in _PROBABILITIES:
            info.low, info.high, info.why = 0.0, 1.0, "named like a probability"
        monitor.trace.inputs[key] = info
        override = monitor.policy.overrides.get(key)
        if not info.frozen and (override is not None or monitor.policy.connect):
            replaced = backend.replace(fresh, fresh if override is None else override, monitor, key)
            fresh = fresh if replaced is None else replaced
        monitor.known[id(fresh)] = key
        monitor.derived.add(id(fresh))
        monitor.trace.keep.append(fresh)
        return fresh


def instance(owner):
    """An object of a class, made with default or ordinary arguments."""
    library = "torch" if "torch" in sys.modules else "numpy"
    if owner.__init__ is object.__init__:
        return owner()
    return owner(**Arguments(owner, SHAPES[0], "integers", library).values)


def _backend(value):
    if type(value).__module__.startswith("torch"):
        from .torch_backend import TorchBackend
        return TorchBackend()
    from .numpy_backend import BACKEND
    return BACKEND


class _Generator:
    def __init__(self, library, shape, labels):
        self.library = library
        self.shape = shape
        self.labels = labels
        self.drawn = 0

    def value(self, name, annotation):
        text = annotation if isinstance(annotation, str) else getattr(
            annotation, "__name__", str(annotation))
        short = name.lower()
        if text in ("int",) or short in _COUNTS or short.endswith(_SIZES) and "Tensor" not in text and text != "ndarray":
            return 0 if short in ("dim", "axis") else 3
        if text == "bool":
            return False
        if text == "str":
            return "mean"
        if text == "float" or (short in _SMALL and "Tensor" not in text and "ndarray" not in text):
            return 0.5
        library = "numpy" if "ndarray" in text else "torch" if "Tensor" in text else self.library
        if short in _LABELS:
            if self.labels == "integers":
                return self._integers(library)
            if self.labels == "binary":
                return self._array(library, self.shape, "binary")
        if short in _PROBABILITIES:
            return self._array(library, self.shape, "uniform")
        return self._array(library, self.shape, "normal")

    def _integers(self, library):
        count = self.shape[0] if self.shape else 1
        if library == "torch":
            torch = sys.modules["torch"]
            return torch.arange(count) % 3
        import numpy
        return numpy.arange(count) % 3

    def _array(self, library, shape, kind):
        import numpy
        self.drawn += 1
        state = numpy.random.RandomState(self.drawn)
        if kind == "normal":
            values = state.standard_normal(shape)
        elif kind == "uniform":
            values = state.random_sample(shape)
        else:
            values = (state.random_sample(shape) > 0.5) * 1.0
        values = numpy.array(values)
        if library == "torch":
            torch = sys.modules["torch"]
            return torch.from_numpy(values).float()
        return values


def plans(size):
    """(shape, labels) pairs in the order they are tried; `size` is the configured tensor_size."""
    first = ((size, size), (size,)) if size else ()
    for labels in ("integers", "binary", "none"):
        for shape in first + SHAPES:
            yield shape, labels
