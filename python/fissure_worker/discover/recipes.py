"""Values as plain data (`fissure_model::Value`), and how objects that are none were made."""

import enum
import inspect
import sys

#: Elements that are written down; of larger tensors the first ones, repeated.
PATTERN = 256
#: Larger tensors are another example.
ELEMENTS = 1 << 21
DEPTH = 6
#: Number of parameters → functions of a library that stand for one written in an example.
STAND_INS = {
    "jax": {1: "jax.numpy.sin", 2: "jax.numpy.add", 3: "jax.numpy.where"},
    "torch": {1: "torch.sin", 2: "torch.add", 3: "torch.where"},
    "tensorflow": {1: "tensorflow.math.sin", 2: "tensorflow.math.add", 3: "tensorflow.where"},
    "numpy": {1: "numpy.sin", 2: "numpy.add", 3: "numpy.where"},
}
SIMPLE = "torch.strided torch.sparse_coo torch.sparse_csr".split()


class NotPlain(Exception):
    """A value that cannot be written as plain data."""


class Recipes:
    """Remembers which call made an object."""

    def __init__(self):
        #: Identity → (object, path of what was called, arguments); the object is kept alive, so that
        #: its identity stays its own.
        self.known = {}

    def note(self, result, function, arguments, keywords):
        """An object came out of a call."""
        if (
            result is None
            or isinstance(result, (bool, int, float, str))
            or id(result) in self.known
        ):
            return
        try:
            self.known[id(result)] = (result, self.made(function, arguments, keywords))
        except (NotPlain, RecursionError):
            pass

    def made(self, function, arguments, keywords):
        """The call as a value."""
        path, first = callable_path(function)
        given = list(arguments)
        if keywords:
            given = positional(function, given, keywords)
        given = ([] if first is None else [first]) + given
        return {"call": {"path": path, "arguments": [self.value(one) for one in given]}}

    def call(self, arguments, keywords):
        """The arguments of a call, or None."""
        try:
            return {
                "arguments": [self.value(one) for one in arguments],
                "keywords": {name: self.value(one) for name, one in keywords.items()},
            }
        except (NotPlain, RecursionError):
            return None

    def value(self, value, depth=0):
        if depth > DEPTH:
            raise NotPlain("nested too deeply")
        plain = simple(value)
        if plain is not None:
            return plain
        inner = depth + 1
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            entries = [self.value(one, inner) for one in value]
            return {"call": {"path": path_of(type(value)), "arguments": entries}}
        if isinstance(value, (tuple, range)):
            return {"tuple": [self.value(one, inner) for one in list(value)[:64]]}
        if isinstance(value, list):
            return {"list": [self.value(one, inner) for one in value[:64]]}
        if type(value).__name__ in ("dict", "OrderedDict"):
            pairs = list(value.items())[:32]
            return {"dict": [[self.value(k, inner), self.value(v, inner)] for k, v in pairs]}
        if isinstance(value, slice):
            parts = [self.value(one, inner) for one in (value.start, value.stop, value.step)]
            return {"call": {"path": "builtins.slice", "arguments": parts}}
        array = array_of(value)
        if array is not None:
            return array
        if id(value) in self.known and self.known[id(value)][0] is value:
            return self.known[id(value)][1]
        if isinstance(value, enum.Enum):
            return {"object": "%s.%s" % (path_of(type(value)), value.name)}
        if callable(value):
            return {"object": function_path(value)}
        raise NotPlain(type(value).__name__)


def simple(value):
    """None, numbers, texts, dtypes and the few objects that libraries have by name."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return {"bool": value}
    if type(value) is int:
        return {"int": value if -(2**63) <= value < 2**63 else str(value)}
    if type(value) is float:
        return {"float": value if value - value == 0 else str(value)}
    if type(value) is complex:
        return {"complex": {"re": value.real, "im": value.imag}}
    if type(value) is str:
        return {"text": value}
    if isinstance(value, bytes):
        return {"bytes": list(value[:4096])}
    if value is Ellipsis:
        return {"object": "builtins.Ellipsis"}
    name = dtype_name(value)
    if name is not None:
        return {"dtype": name}
    torch = sys.modules.get("torch")
    if torch is not None:
        if isinstance(value, torch.device):
            return {"call": {"path": "torch.device", "arguments": [{"text": str(value)}]}}
        if isinstance(value, (torch.layout, torch.memory_format)):
            return {"object": str(value)}
    return None


def dtype_name(value):
    """The name of a dtype object of any library."""
    kind = type(value).__name__
    if kind == "dtype" and type(value).__module__ in ("torch", "builtins"):
        return str(value).replace("torch.", "")
    if kind == "DType" and hasattr(value, "as_numpy_dtype"):
        return value.name
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(value, numpy.dtype):
        return value.name if value.names is None and value.kind not in "OSUVmM" else None
    if kind == "_ScalarMeta" and hasattr(value, "dtype"):
        return value.dtype.name
    if isinstance(value, type) and issubclass(value, numpy.generic):
        try:
            return numpy.dtype(value).name
        except TypeError:
            return None
    return None


def array_of(value):
    """A tensor of any library, or None."""
    torch = sys.modules.get("torch")
    numpy = sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return torch_tensor(torch, value)
    if numpy is None:
        return None
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(value)
        if array.dtype.kind in "SU":
            return texts(array.tolist())
        return {"nd_array": numpy_data(array)}
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        if not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            return {"tensor": numpy_data(numpy.asarray(value))}
        return {"call": {"path": "jax.random.key", "arguments": [{"int": 0}]}}
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None:
        return tensorflow_tensor(tensorflow, numpy, value)
    return None


def torch_tensor(torch, value):
    if value.device.type != "cpu" or value.is_quantized or value.is_nested:
        return None
    if value.layout is torch.sparse_coo:
        return {"sparse_tensor": torch_data(torch, value.detach().to_dense())}
    if value.layout is not torch.strided:
        return None
    return {"tensor": torch_data(torch, value)}


def torch_data(torch, value):
    if value.numel() > ELEMENTS:
        raise NotPlain("a large tensor")
    flat = value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)[:PATTERN]
    data = bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""
    name = str(value.dtype).replace("torch.", "")
    return {"dtype": name, "shape": list(value.shape), "data": {"pattern": data.hex()}}


def numpy_data(array):
    if array.size > ELEMENTS or array.dtype.kind in "OVSUmM" and array.dtype.names:
        raise NotPlain("a large or structured array")
    if array.dtype.kind in "OSUmM":
        raise NotPlain("an array of objects")
    flat = array.reshape(-1)[:PATTERN]
    data = {"pattern": flat.tobytes().hex()}
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def tensorflow_tensor(tensorflow, numpy, value):
    if isinstance(value, tensorflow.Variable):
        inner = tensorflow_tensor(tensorflow, numpy, value.read_value())
        return {"call": {"path": "tensorflow.Variable", "arguments": [inner]}}
    if isinstance(value, tensorflow.SparseTensor):
        try:
            dense = tensorflow.sparse.to_dense(tensorflow.sparse.reorder(value))
            return {"sparse_tensor": numpy_data(dense.numpy())}
        except Exception:
            return None
    if isinstance(value, tensorflow.Tensor) and hasattr(value, "numpy"):
        if value.dtype == tensorflow.string:
            return texts(value.numpy().tolist() if value.shape.rank else value.numpy())
        if value.dtype in (tensorflow.resource, tensorflow.variant):
            return None
        array = value.numpy()
        if value.dtype.name.startswith("q"):
            return None
        return {"tensor": numpy_data(numpy.asarray(array))}
    if isinstance(value, tensorflow.TensorShape) and value.rank is not None:
        return {"list": ["none" if one is None else {"int": one} for one in value.as_list()]}
    return None


def texts(value):
    if isinstance(value, list):
        return {"list": [texts(one) for one in value]}
    if isinstance(value, bytes):
        try:
            return {"text": value.decode("utf-8")}
        except UnicodeDecodeError:
            return {"bytes": list(value)}
    return {"text": str(value)}


def path_of(value):
    """The dotted path of a function or class that can be found again by it."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str) or "<" in name:
        raise NotPlain("a local function")
    for place in (module, "builtins", "torch", "torch.nn.functional", "numpy", "jax.numpy"):
        if not isinstance(place, str) or place not in sys.modules or place == "__main__":
            continue
        found = sys.modules[place]
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value or (found is not None and found == value):
            return "%s.%s" % (place, name)
    raise NotPlain("%s cannot be found again" % name)


def function_path(value):
    """The path of a function; one of an example has a stand-in of as many parameters."""
    try:
        return path_of(value)
    except NotPlain:
        if not (inspect.isfunction(value) or callable(value)):
            raise
    library = next(
        (name for name in ("jax", "torch", "tensorflow") if name in sys.modules), "numpy"
    )
    try:
        count = sum(
            one.default is inspect.Parameter.empty and one.kind.name != "VAR_KEYWORD"
            for one in inspect.signature(value).parameters.values()
        )
    except (TypeError, ValueError):
        count = 1
    found = STAND_INS[library].get(count)
    if found is None:
        raise NotPlain("a function of %d parameters" % count)
    return found


def callable_path(function):
    """(path, the object that a bound method belongs to)."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", None)
    if owner is None or inspect.ismodule(owner) or isinstance(owner, type) or not name:
        if isinstance(owner, type) and name:
            return "%s.%s" % (path_of(owner), name), None
        return path_of(function), None
    for base in inspect.getmro(type(owner)):
        if name in vars(base):
            return "%s.%s" % (path_of(base), name), owner
    raise NotPlain("a method of an unknown class")


def positional(function, given, keywords):
    """Arguments by name at their positions, with the defaults between them."""
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*given, **keywords)
    except (TypeError, ValueError):
        raise NotPlain("arguments by name") from None
    found = []
    gap = None
    for name, one in signature.parameters.items():
        kind = one.kind.name
        if kind in ("KEYWORD_ONLY", "VAR_KEYWORD"):
            if name in bound.arguments:
                raise NotPlain("an argument that goes by name only")
            continue
        if kind == "VAR_POSITIONAL":
            found.extend(bound.arguments.get(name, ()))
        elif name in bound.arguments:
            found.append(bound.arguments[name])
            gap = len(found)
        else:
            found.append(one.default)
    return found if gap is None or "VAR_POSITIONAL" in str(signature) else found[:gap]
