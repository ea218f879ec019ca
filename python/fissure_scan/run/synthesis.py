"""Argument values for a target function: from documentation, type hints, defaults and names.

A few complete sets are tried, the most ordinary first; the first one the function accepts is used.
"""

import inspect
import re
import sys

from . import docstrings
from ..backends import library as backends
from .arguments import Arguments

_LABELS = ("label", "labels", "y", "target", "targets", "y_true", "classes", "index", "indices",
           "actions", "action")
PROBABILITIES = ("p", "prob", "probs", "probability", "probabilities", "y_pred", "pred_prob",
                 "mask", "weight", "weights")
_SMALL = ("eps", "epsilon", "alpha", "beta", "gamma", "temperature", "tau", "margin", "lr", "rate",
          "scale", "sigma", "delta", "reg", "regularisation", "regularization")
_COUNTS = ("n", "k", "size", "steps", "iterations", "num", "dim", "axis", "iters", "classes")
_SIZES = ("_size", "_dim", "_features", "_channels", "_classes", "_inputs", "_outputs", "hidden",
          "_units", "_actions")
_ROWS = ("n", "b", "batch", "batch_size", "m", "bs", "samples", "n_samples", "num_samples")
_HINTED_SHAPE = re.compile(r"(?:Tensor|ndarray|Array),\s*['\"]([^'\"]*)['\"]")

SHAPES = ((4, 3), (4,), (3, 3), (2, 3, 4), (2, 3, 8, 8), ())


def plans(size):
    """(shape, labels) pairs in the order they are tried; `size` is the configured tensor_size."""
    first = ((size, size), (size,)) if size else ()
    for labels in ("integers", "binary", "none"):
        for shape in first + SHAPES:
            yield shape, labels


def arguments_for(function, shape, labels, documented):
    """One set of arguments; `documented` are the facts of its docstring."""
    generator = _Generator(_library(), shape, labels)
    values, positional = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name == "self":
            continue
        if parameter.kind == parameter.POSITIONAL_ONLY:
            positional.append(name)
        if parameter.default is not inspect.Parameter.empty:
            values[name] = parameter.default
        else:
            values[name] = generator.value(name, parameter.annotation,
                                           documented.get(name) or docstrings.Facts())
    return Arguments(values, documented, positional=positional)


def _library():
    """The library of the arrays: the one that the program has imported."""
    for library in ("torch", "jax"):
        if library in sys.modules:
            return library
    tensorflow = sys.modules.get("tensorflow")
    # Functions of TensorFlow 1 build graphs from NumPy arrays.
    return "tensorflow" if tensorflow is not None and tensorflow.executing_eagerly() else "numpy"


def documentation(function, owner=None):
    """The facts of a function's docstring, or of its class's."""
    facts = {}
    for holder in (owner, function):
        facts.update(docstrings.parse(inspect.getdoc(holder) if holder is not None else None))
    return facts


class _Generator:
    def __init__(self, library, shape, labels):
        self.library = library
        self.shape = shape
        self.labels = labels
        self.drawn = 0
        self.symbols = {}           # names of sizes in docstrings and hints

    def value(self, name, annotation, facts):
        hint = annotation if isinstance(annotation, str) else getattr(
            annotation, "__name__", None) or str(annotation)
        full = str(annotation)
        if annotation is inspect.Parameter.empty:
            hint = full = facts.type
        if facts.choices:
            return facts.choices[0]
        choices = getattr(annotation, "__args__", None)
        if "Literal" in full and choices:
            return choices[0]
        shape = self._shape(facts, full)
        is_array = shape is not None or facts.array() or any(
            word in full for word in ("Tensor", "ndarray", "jax.Array", "ArrayLike"))
        if not is_array:
            number = self._number(name.lower(), hint, full, facts)
            if number is not None:
                return number
            if self.labels == "numbers" and not full:
                return 3
        return self._array_value(name.lower(), full, facts, shape)

    def _number(self, short, hint, full, facts):
        first = hint.strip().split(",")[0].split(" ")[0].lower()
        if first in ("int", "integer") or short in _COUNTS or short.endswith(_SIZES):
            if short in ("dim", "axis") and self.labels != "numbers":
                return 0
            return max(3, int(facts.low or 0)) if facts.high is None else int(facts.high)
        if first in ("bool", "boolean"):
            return False
        if first in ("str", "string"):
            return "mean"
        if first == "float" or first == "" and short in _SMALL or short in _SMALL:
            if facts.low is not None and facts.high is not None:
                return (facts.low + facts.high) / 2.0
            return 0.5 if facts.low is None else facts.low + 0.5
        if "int" in full and ("List" in full or "Tuple" in full or "list[" in full
                              or "tuple[" in full):
            count = full.count("int") if "uple" in full else 2
            return [3] * count if "ist" in full else (3,) * count
        return None

    def _shape(self, facts, hint):
        if facts.shape is not None:
            return tuple(self._size(part) for part in facts.shape)
        match = _HINTED_SHAPE.search(hint)
        if match:
            return tuple(self._size(part) for part in match.group(1).split() if part != "...")
        return None

    def _size(self, part):
        if isinstance(part, int) or part.isdigit():
            return int(part)
        if part not in self.symbols:
            rows = part.lower() in _ROWS and not any(
                name.lower() in _ROWS for name in self.symbols)
            used = set(self.symbols.values())
            free = [size for size in (3, 5, 6, 7, 8) if size not in used]
            self.symbols[part] = 4 if rows else free[0] if free else 3
        return self.symbols[part]

    def _array_value(self, short, hint, facts, shape):
        library = "numpy" if "ndarray" in hint else self.library
        wanted = self.shape if shape is None else shape
        if "List[" in hint and ("Tensor" in hint or "ndarray" in hint):
            return [self._array(library, wanted, "normal", facts) for _ in range(2)]
        if facts.whole or facts.dtype in ("int64", "int32", "uint8"):
            return self._integers(library, wanted if shape is not None else wanted[:1], facts)
        if facts.dtype == "bool":
            return self._array(library, wanted, "binary", facts) > 0.5
        if facts.bounded():
            return self._array(library, wanted, "documented", facts)
        described = facts.type + facts.text
        if short in _LABELS and shape is None and (
                not described or re.search("label|class|ind[ei]|target", described, re.I)):
            if self.labels == "integers":
                return self._integers(library, wanted[:1], facts)
            if self.labels == "binary":
                return self._array(library, wanted, "binary", facts)
        return self._array(library, wanted, "uniform" if short in PROBABILITIES else "normal",
                           facts)

    def _integers(self, library, shape, facts):
        import numpy
        count = int(numpy.prod(shape)) if shape else 1
        top = 3 if facts.high is None else max(1, int(facts.high))
        top = 256 if facts.dtype == "uint8" else top
        values = (numpy.arange(count) % top).reshape(shape or (1,))
        values = values.astype(facts.dtype or "int64")
        if library == "torch":
            return sys.modules["torch"].from_numpy(values)
        if backends.numpy_based(library):
            # What both have without asking for 64 bits.
            return backends.of(library).from_numpy(values, facts.dtype or "int32")
        return values

    def _array(self, library, shape, kind, facts):
        import numpy
        self.drawn += 1
        state = numpy.random.RandomState(self.drawn)
        if kind == "normal":
            values = state.standard_normal(shape)
        elif kind == "uniform":
            values = state.random_sample(shape)
        elif kind == "documented":
            values = _inside(state.random_sample(shape), facts)
        else:
            values = (state.random_sample(shape) > 0.5) * 1.0
        values = numpy.array(values)
        if library == "torch":
            torch = sys.modules["torch"]
            dtype = getattr(torch, facts.dtype) if facts.dtype and "float" in facts.dtype \
                else torch.float32
            return torch.from_numpy(values).to(dtype)
        if backends.numpy_based(library):
            name = facts.dtype if facts.dtype and "float" in facts.dtype else "float32"
            return backends.of(library).from_numpy(values, name)
        return values.astype(facts.dtype) if facts.dtype in ("float32", "float16") else values


def _inside(draws, facts):
    """Draws from [0, 1) moved into a documented range, away from its ends."""
    draws = 0.05 + 0.9 * draws
    if facts.low is None:
        return facts.high - draws
    if facts.high is None:
        return facts.low + draws
    return facts.low + (facts.high - facts.low) * draws
