"""What a parameter may be: from documentation, type hints, defaults and names, the likeliest first.

A guess is only a beginning: trial.py changes it by what the function says when it is called.
"""

import contextlib
import inspect
import re
import sys

from . import docstrings, signatures, specs
from .arguments import spread

_LABELS = (
    "label",
    "labels",
    "y",
    "target",
    "targets",
    "y_true",
    "classes",
    "index",
    "indices",
    "actions",
    "action",
    "idx",
    "ids",
    "labels_true",
    "class_labels",
    "input_ids",
    "tokens",
)
PROBABILITIES = (
    "p",
    "prob",
    "probs",
    "probability",
    "probabilities",
    "y_pred",
    "pred_prob",
    "mask",
    "weight",
    "weights",
    "y_prob",
    "y_score",
    "confidence",
    "keep_prob",
)
_SMALL = (
    "eps",
    "epsilon",
    "alpha",
    "beta",
    "gamma",
    "temperature",
    "tau",
    "margin",
    "lr",
    "rate",
    "scale",
    "sigma",
    "delta",
    "reg",
    "regularisation",
    "regularization",
    "dropout",
    "smoothing",
    "lam",
    "lambda_",
    "threshold",
    "momentum",
    "discount",
    "ratio",
    "bandwidth",
    "length_scale",
    "lengthscale",
    "noise",
    "clip",
    "rho",
    "nu",
    "kappa",
    "lmbda",
    "power",
)
_COUNTS = (
    "n",
    "k",
    "size",
    "steps",
    "iterations",
    "num",
    "dim",
    "axis",
    "iters",
    "classes",
    "order",
    "degree",
    "window",
    "bins",
    "nbins",
    "heads",
    "depth",
    "levels",
    "rank",
    "width",
    "height",
    "length",
    "channels",
    "features",
    "groups",
    "stride",
    "step",
    "seed",
    "layers",
    "num_classes",
    "embed_dim",
    "d_model",
    "hidden",
    "lag",
    "lags",
    "period",
)
_SIZES = (
    "_size",
    "_dim",
    "_features",
    "_channels",
    "_classes",
    "_inputs",
    "_outputs",
    "hidden",
    "_units",
    "_actions",
    "_heads",
    "_layers",
    "_dims",
    "_bins",
    "_steps",
    "_length",
    "_width",
    "_groups",
    "_components",
    "_samples",
    "_neighbors",
    "_points",
)
_PREFIXES = ("n_", "num_", "in_", "out_", "max_", "min_")
_ROWS = ("n", "b", "batch", "batch_size", "m", "bs", "samples", "n_samples", "num_samples")
_CALLABLES = (
    "fn",
    "func",
    "function",
    "callback",
    "activation",
    "loss_fn",
    "criterion",
    "kernel",
    "distance_fn",
    "reducer",
    "transform",
    "act",
    "norm_layer",
    "act_layer",
)
_FLAGS = (
    "bias",
    "training",
    "inplace",
    "keepdim",
    "keepdims",
    "verbose",
    "normalize",
    "reduce",
    "return_",
    "use_",
    "is_",
    "with_",
    "include_",
    "log_",
)
_HINTED_SHAPE = re.compile(r"(?:Tensor|ndarray|Array),\s*['\"]([^'\"]*)['\"]")
_ARRAY_WORDS = ("Tensor", "ndarray", "jax.Array", "ArrayLike", "Array[", "array", "NDArray")

SHAPES = ((4, 3), (4,), (3, 3), (2, 3, 4), (2, 3, 8, 8), ())
EMPTY = inspect.Parameter.empty


def plans(size):
    """(shape, labels) pairs in the order they are tried; `size` is the configured tensor_size."""
    first = ((size, size), (size,)) if size else ()
    for labels in ("integers", "binary", "none"):
        for shape in first + SHAPES:
            yield shape, labels


def library(function=None):
    """The library of the arrays: the one that the function's module has names of, else the one that
    the program has imported."""
    own = set()
    for value in list(getattr(function, "__globals__", {}).values()):
        name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        own.add(str(name).split(".")[0])
    for name in ("torch", "jax", "tensorflow", "numpy"):
        if (
            name in own
            and name in sys.modules
            and (name != "tensorflow" or sys.modules[name].executing_eagerly())
        ):
            return name
    for name in ("torch", "jax"):
        if name in sys.modules:
            return name
    tensorflow = sys.modules.get("tensorflow")
    # Functions of TensorFlow 1 build graphs from NumPy arrays.
    return "tensorflow" if tensorflow is not None and tensorflow.executing_eagerly() else "numpy"


def documentation(function, owner=None):
    """The facts of a function's docstring, or of its class's."""
    facts = {}
    for holder in (owner, signatures.behind(function)):
        facts.update(docstrings.parse(inspect.getdoc(holder) if holder is not None else None))
    with contextlib.suppress(TypeError, ValueError):
        names = [it.name for it in signatures.parameters(function)]
        for name, said in docstrings.inline(inspect.getdoc(function), names).items():
            facts.setdefault(name, said)
        for name, said in docstrings.mentioned(inspect.getdoc(function), names).items():
            if name not in facts or not facts[name].bounded():
                facts[name] = said
        for it in signatures.parameters(function):
            said = docstrings.of_all(inspect.getdoc(function))
            if said is not None and it.default is EMPTY and it.name not in facts:
                facts[it.name] = said
    return facts


class Guesser:
    """First guesses for the parameters of one function under one plan."""

    def __init__(self, chosen, shape, labels, objects=None):
        self.library = chosen
        self.objects = objects  # of the program's own classes, see objects.py
        self.shape = shape
        self.labels = labels  # "integers", "binary", "none"; "numbers" for constructors
        self.symbols = {}  # names of sizes in docstrings and hints

    def spec(self, parameter, facts):
        name, annotation = parameter.name, parameter.annotation
        facts = facts or docstrings.Facts()
        hint = (
            annotation
            if isinstance(annotation, str)
            else getattr(annotation, "__name__", None) or str(annotation)
        )
        full = annotation if isinstance(annotation, str) else str(annotation)
        if annotation is EMPTY:
            hint = full = facts.type
        if facts.choices:
            return specs.constant(facts.choices[0])
        choices = getattr(annotation, "__args__", None)
        if "Literal" in full and choices:
            return specs.constant(choices[0])
        members = list(annotation) if _enumeration(annotation) else []
        if members:
            return specs.constant(members[0])
        if isinstance(annotation, type):
            made = self._object(annotation)
            if made is not None:
                return made
        if annotation is not EMPTY and self.objects is not None:
            made = self.objects.spec(annotation)
            if made is not None:
                return made
        shape = self._shape(facts, full)
        if shape is None and not facts.array() and not any(word in full for word in _ARRAY_WORDS):
            number = self._number(name.lower(), hint, full, facts)
            if number is not None:
                return number
            if self.labels == "numbers" and not full:
                return specs.constant(8)
        return self._array(name.lower(), full, facts, shape)

    def _object(self, annotation):
        """Objects that the annotation itself names."""
        root = annotation.__module__.split(".")[0]
        if root == "torch":
            torch = sys.modules["torch"]
            for base, kind in (
                (torch.nn.Module, "module"),
                (torch.optim.Optimizer, "optimizer"),
                (torch.distributions.Distribution, "distribution"),
                (torch.dtype, "dtype"),
                (torch.device, "device"),
            ):
                if issubclass(annotation, base):
                    return specs.plain(kind)
        if root == "pandas" and annotation.__name__ in ("DataFrame", "Series"):
            return specs.plain("frame" if annotation.__name__ == "DataFrame" else "series")
        return None

    def _number(self, short, hint, full, facts):
        first = re.split(r"[,\s\[\]|]+", hint.strip().replace("Optional[", ""))[0].lower()
        if "DataFrame" in full:
            return specs.plain("frame")
        if "Series" in full:
            return specs.plain("series")
        if (
            "Callable" in full
            or "callable" in full
            or "function" == first
            or not full
            and short in _CALLABLES
        ):
            return specs.plain("callable")
        if "dtype" in hint.lower() or not full and short == "dtype":
            return specs.plain("dtype")
        if "device" in hint.lower() or not full and short == "device":
            return specs.plain("device")
        if "RandomState" in full or short in ("rng", "random_state"):
            return specs.plain("generator")
        if "int" in full and ("ist" in full or "uple" in full or "equence" in full):
            count = max(1, full.count("int")) if "uple" in full and "..." not in full else 2
            return specs.constant((4,) * count if "ist" not in full else [4] * count)
        if (
            first in ("float",)
            or first == ""
            and short in _SMALL
            or short in _SMALL
            and first not in ("int", "bool", "str")
        ):
            if facts.low is not None and facts.high is not None:
                return specs.constant((facts.low + facts.high) / 2.0)
            return specs.constant(0.5 if facts.low is None else facts.low + 0.5)
        if (
            first in ("int", "integer")
            or not full
            and (short in _COUNTS or short.endswith(_SIZES) or short.startswith(_PREFIXES))
        ):
            if short in ("dim", "axis") and self.labels != "numbers":
                return specs.constant(0)
            if facts.high is not None and facts.high < 1e6:
                return specs.constant(int(facts.high))
            usual = 8 if self.labels == "numbers" and short not in ("n", "k") else 3
            if "head" in short or "layer" in short or "group" in short or "depth" in short:
                usual = 2
            return specs.constant(max(usual, int(facts.low or 0)))
        if (
            first in ("bool", "boolean")
            or not full
            and (
                short in _FLAGS
                or short.startswith(tuple(flag for flag in _FLAGS if flag.endswith("_")))
            )
        ):
            return specs.constant(False)
        if first in ("str", "string"):
            return specs.constant("mean")
        if first == "dict" or full.startswith(("Dict", "dict", "typing.Dict")):
            return specs.constant({})
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
            rows = part.lower() in _ROWS and not any(name.lower() in _ROWS for name in self.symbols)
            used = set(self.symbols.values())
            free = [size for size in (3, 5, 6, 7, 8) if size not in used]
            self.symbols[part] = 4 if rows else free[0] if free else 3
        return self.symbols[part]

    def _array(self, short, hint, facts, shape):
        chosen = "numpy" if "ndarray" in hint or "NDArray" in hint else self.library
        wanted = self.shape if shape is None else shape
        if re.search(
            r"(List|list|Sequence|Iterable|Tuple|tuple)\[[^\]]*(Tensor|ndarray|Array)", hint
        ):
            container = "tuple" if "uple[" in hint else "list"
            return specs.array("float", wanted, chosen, container=container, count=2)
        if facts.binary and facts.dtype in (None, "float32", "float64"):
            return specs.array("binary", wanted, chosen, facts.dtype)
        if facts.whole or facts.dtype in ("int64", "int32", "uint8"):
            return specs.array(
                "labels",
                wanted if shape is not None else wanted[:1],
                chosen,
                facts.dtype,
                extra=(None, facts.high),
            )
        if facts.dtype == "bool":
            return specs.array("bool", wanted, chosen)
        dtype = facts.dtype if facts.dtype and "float" in facts.dtype else None
        if facts.distribution:
            return specs.array("simplex", wanted, chosen, dtype)
        if facts.bounded():
            return specs.array("float", wanted, chosen, dtype, extra=(facts.low, facts.high))
        if facts.unit_length:
            return specs.array("direction", wanted, chosen, dtype)
        if covariance(short, facts) and (shape is None or shape[-2:-1] == shape[-1:]):
            size = (self.shape or (3,))[-1]
            return specs.array("psd", shape or (size, size), chosen, dtype)
        described = facts.type + facts.text
        if short in _LABELS and (
            re.search("label|class|ind[ei]", described, re.I)
            if shape is not None
            else not described or re.search("label|class|ind[ei]|target", described, re.I)
        ):
            if self.labels == "integers":
                return specs.array("labels", wanted[:1] if shape is None else wanted, chosen)
            if self.labels == "binary":
                return specs.array("binary", wanted, chosen)
        if short in PROBABILITIES and not facts.logits:
            return specs.array("unit", wanted, chosen, dtype)
        return specs.array("positive" if spread(short) else "float", wanted, chosen, dtype)


def covariance(name, facts):
    """Is a parameter a matrix without negative eigenvalues, by its documentation or its name?"""
    words = name.lower().split("_")
    return facts is not None and facts.covariance or "cov" in words or "covariance" in words


def _enumeration(annotation):
    import enum

    return isinstance(annotation, type) and issubclass(annotation, enum.Enum)
