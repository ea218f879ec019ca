"""What the search for seeds needs to know of each library."""

import contextlib
import fnmatch
import importlib
import os

#: Tried with these weights.
DTYPES = (
    ("float32", 12),
    ("int32", 3),
    ("float64", 2),
    ("int64", 2),
    ("bool", 1),
    ("complex64", 1),
    ("float16", 1),
    ("bfloat16", 1),
    ("uint8", 1),
    ("int8", 1),
)
#: Dtypes of which a share of one is a value.
FRACTIONS = ("float16", "bfloat16", "float32", "float64", "complex64")


class NotPlain(Exception):
    """A value that cannot be written as plain data."""


class Library:
    """NumPy, and what the others share."""

    name = "numpy"
    short = "numpy"
    places = ("numpy", "numpy.linalg", "numpy.fft")
    dtypes = [pair for pair in DTYPES if pair[0] != "bfloat16"]

    def __init__(self):
        import numpy

        self.numpy = numpy
        self.library = importlib.import_module(self.name)
        self.prepare()
        self.parents = {}
        self.paths = []
        for place in self.places:
            try:
                module = self.resolve(place)
            except AttributeError:
                continue
            for name in sorted(dir(module)):
                found = getattr(module, name, None)
                if name.startswith("_") or not callable(found) or isinstance(found, type):
                    continue
                aliases = self.parents.setdefault(id(found), [])
                if not aliases:
                    self.paths.append(place + "." + name)
                aliases.append((module, name))

    def prepare(self):
        """After the import, before any call."""

    def apis(self, asked):
        """Paths of the named APIs; patterns stand for those that the library has. Without names,
        all that users call."""
        if asked is None:
            return [path for path in self.paths if ".raw_ops." not in path]
        found = []
        for pattern in asked:
            path = self.name + pattern[len(self.short) :]
            found.extend(fnmatch.filter(self.paths, path) if "*" in path else [path])
        return found

    def resolve(self, path):
        found = importlib.import_module(path.split(".")[0])
        for part in path.split(".")[1:]:
            found = getattr(found, part)
        return found

    def registry(self, path):
        """Sorts of the parameters that are known exactly."""
        return {}

    def namespace(self):
        return {"np": self.numpy, self.short: self.library, self.name: self.library}

    @contextlib.contextmanager
    def replaced(self, function, other):
        places = self.parents.get(id(function), [])
        for module, name in places:
            setattr(module, name, other)
        try:
            yield
        finally:
            for module, name in places:
                setattr(module, name, function)

    def some_dtype(self, random):
        names, weights = zip(*self.dtypes)
        return random.choices(names, weights)[0]

    def tensor(self, shape, dtype, random):
        count = 1
        for size in shape:
            count *= size
        if dtype == "bool":
            numbers = [random.random() < 0.5 for _ in range(count)]
        elif random.random() < 0.5:
            # Fine for a probability, a logarithm, an index.
            whole = 8 if dtype in FRACTIONS else 1
            numbers = [(1 + random.randrange(7)) / whole for _ in range(count)]
        else:
            numbers = [random.randrange(0 if dtype[0] == "u" else -3, 6) for _ in range(count)]
        return self.own(self.numpy.array(numbers).reshape(shape), dtype)

    def index(self, shape, random):
        count = 1
        for size in shape:
            count *= size
        numbers = sorted(random.randrange(3) for _ in range(count))
        array = self.numpy.array(numbers, dtype="int64").reshape(shape)
        return self.own(array, random.choice(("int32", "int64")))

    def own(self, array, dtype):
        return array.astype(dtype)

    def dtype(self, name):
        return self.numpy.dtype(name)

    def accepts(self, function, arguments, keywords):
        """Does the call give tensors? What gives none is no operation."""
        return self.holds_tensor(function(*arguments, **keywords), 4)

    def holds_tensor(self, value, depth):
        if depth and isinstance(value, dict):
            value = list(value.values())
        if depth and isinstance(value, (list, tuple)):
            return any(self.holds_tensor(item, depth - 1) for item in value)
        return self.is_tensor(value) or isinstance(value, self.numpy.generic)

    def as_tensors(self, parameters, tensors, arguments, keywords):
        """Lists and numbers of an example, where the parameter takes tensors."""

        def one(name, value):
            plain = isinstance(value, (list, tuple, int, float)) and not isinstance(value, bool)
            if name in tensors and (plain or isinstance(value, self.numpy.ndarray)):
                array = self.numpy.array(value)
                if array.dtype.kind in "biufc":
                    kind = {"float64": "float32", "int64": "int32", "complex128": "complex64"}
                    return self.own(array, kind.get(str(array.dtype), str(array.dtype)))
            return value

        names = [parameter.name for parameter in parameters] + [None] * len(arguments)
        arguments = [one(name, value) for name, value in zip(names, arguments)]
        return arguments, {name: one(name, value) for name, value in keywords.items()}

    def is_tensor(self, value):
        return isinstance(value, self.numpy.ndarray)

    def array(self, value):
        return value

    def value(self, value):
        """In the form of `fissure_model::Value`."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return {"bool": value}
        if isinstance(value, int):
            return {"int": value}
        if isinstance(value, float):
            return {"float": value if value - value == 0 else str(value)}
        if isinstance(value, str):
            return {"text": value}
        if self.is_tensor(value):
            array = self.numpy.ascontiguousarray(self.array(value)).reshape(value.shape)
            if array.size > 2048:
                raise NotPlain("a large tensor")
            data = {"pattern": array.tobytes().hex()}
            shape = list(array.shape)
            return {"tensor": {"dtype": str(array.dtype), "shape": shape, "data": data}}
        if isinstance(value, (list, tuple)):
            return {"list": [self.value(item) for item in value]}
        return {"dtype": self.dtype_name(value)}

    def dtype_name(self, value):
        if isinstance(value, self.numpy.dtype):
            return value.name
        raise NotPlain(type(value).__name__)

    def call(self, arguments, keywords):
        return {
            "arguments": [self.value(item) for item in arguments],
            "keywords": {name: self.value(item) for name, item in keywords.items()},
            "call": None,
        }


class Tensorflow(Library):
    name = "tensorflow"
    short = "tf"
    dtypes = DTYPES
    places = (
        "tensorflow.math",
        "tensorflow.linalg",
        "tensorflow.nn",
        "tensorflow.image",
        "tensorflow.signal",
        "tensorflow.bitwise",
        "tensorflow",
        "tensorflow.raw_ops",
    )

    def prepare(self):
        self.library.config.threading.set_intra_op_parallelism_threads(1)
        self.library.config.threading.set_inter_op_parallelism_threads(1)

    def own(self, array, dtype):
        return self.library.constant(array.astype(self.library.as_dtype(dtype).as_numpy_dtype))

    def dtype(self, name):
        return self.library.as_dtype(name)

    def dtype_name(self, value):
        if isinstance(value, self.library.DType):
            return value.name
        raise NotPlain(type(value).__name__)

    def is_tensor(self, value):
        tensorflow = self.library
        if not isinstance(value, tensorflow.Tensor) or not hasattr(value, "numpy"):
            return False
        return value.dtype != tensorflow.string

    def array(self, value):
        return value.numpy()

    def registry(self, path):
        if not path.startswith("tensorflow.raw_ops."):
            return {}
        import seeds_registry

        return seeds_registry.sorts(path.rsplit(".", 1)[1])


class Jax(Library):
    name = "jax"
    short = "jax"
    dtypes = [pair for pair in DTYPES if pair[0] not in ("int64", "float64")]
    places = (
        "jax.numpy",
        "jax.lax",
        "jax.nn",
        "jax.numpy.linalg",
        "jax.numpy.fft",
        "jax.scipy.special",
        "jax.scipy.linalg",
    )

    def prepare(self):
        for place in self.places:
            importlib.import_module(place)
        self.jnp = self.library.numpy

    def namespace(self):
        names = Library.namespace(self)
        names.update({"jnp": self.jnp, "lax": self.library.lax})
        return names

    def own(self, array, dtype):
        return self.jnp.asarray(array.astype(self.jnp.dtype(dtype)))

    def is_tensor(self, value):
        return isinstance(value, self.library.Array)

    def array(self, value):
        return self.numpy.asarray(value)

    def accepts(self, function, arguments, keywords):
        """Traced, which is where JAX rejects a call: computing takes a compilation for each shape."""
        leaves, tree = self.library.tree_util.tree_flatten((arguments, keywords))
        arrays = [leaf for leaf in leaves if self.is_tensor(leaf)]

        def apply(*given):
            given = iter(given)
            filled = [next(given) if self.is_tensor(leaf) else leaf for leaf in leaves]
            arguments, keywords = self.library.tree_util.tree_unflatten(tree, filled)
            return function(*arguments, **keywords)

        result = self.library.eval_shape(apply, *arrays)
        return bool(self.library.tree_util.tree_leaves(result))


def choose(package):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return {"tensorflow": Tensorflow, "jax": Jax}.get(package, Library)()
