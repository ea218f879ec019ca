"""What Fissure needs to know of a library, as one small interface, and the choice of its adapter.

A new library is one file with a subclass of `Adapter` and one line in `CHOICES`.
"""

import importlib
import sys


class Dtypes(dict):
    """From dtype code to something; a code that the library lacks is a readable error."""

    def __init__(self, library, names):
        dict.__init__(self)
        self.library = library
        self.names = names

    def __missing__(self, code):
        raise TypeError("%s has no tensors of dtype %s" % (self.library, self.names[code]))


class Adapter:
    """The default answers: a library without tensors of its own."""

    #: The batches of an API's first inputs, so many in all, each get a worker that has run nothing.
    fresh_inputs = 0

    def __init__(self, package, dtype_names):
        self.package = package
        #: Position in this list = dtype code in the arena.
        self.dtype_names = dtype_names
        self.library = None
        self.arena = None

    def load(self):
        """In the zygote: imports the library, pins its threads, runs nothing else."""
        self.library = importlib.import_module(self.package)

    def version(self):
        package = sys.modules.get(self.package, self.library)
        return str(getattr(package, "__version__", "unknown"))

    def tensors(self):
        """Import name of the library whose tensors are made."""
        return self.library.__name__

    def supported(self):
        """Names of the dtypes that tensors can have."""
        return []

    def attach(self, arena):
        """In a worker: `arena` is a read-only memoryview of the inputs."""
        self.arena = arena

    def reset(self):
        """In a worker before each batch: undoes settings that an API may have changed."""

    def target(self, found):
        """What is called for the object of an API: the object itself, unless the library wants
        something between construction and call."""
        return found

    def compiled(self, target):
        """The target as the library's compiler runs it."""
        raise TypeError("%s has no compiler that Fissure knows" % self.tensors())

    def traced(self, target):
        """The target as far as the compiler looks at it before anything is computed."""
        raise TypeError("%s has no compiler that Fissure knows" % self.tensors())

    def dense(self, code, shape, strides, offset):
        """A tensor that owns its memory, copied from the arena; `offset` counts elements."""
        raise TypeError("%s has no tensors" % self.package)

    def repeated(self, code, shape, offset, pattern, elements):
        """A tensor of `elements` elements from `pattern` elements at `offset`, over and over."""
        raise TypeError("%s has no tensors" % self.package)

    def sparse(self, tensor):
        """The same elements as a sparse tensor."""
        raise TypeError("%s has no sparse tensors" % self.package)

    def ndarray(self, code, shape, offset, pattern, elements):
        """A NumPy array that owns its memory."""
        raise TypeError("%s is tested without NumPy" % self.package)

    def dtype(self, code):
        """The dtype object."""
        raise TypeError("%s has no dtype objects" % self.package)

    def has_nan(self, result):
        """Is there a NaN anywhere in a result?"""
        return contains_nan(result, self.leaf_has_nan, 4)

    def leaf_has_nan(self, value):
        return isinstance(value, (float, complex)) and value != value

    def by_name_only(self, path):
        """Does the object refuse arguments by position, whatever its signature says?"""
        return False

    def has_state(self, path):
        """Does the library say that calls of this path have a state that outlives them?"""
        return False

    def signature(self, target):
        """An `inspect.Signature` for an object that Python itself knows none of, or None."""
        return None

    def declared(self, target):
        """The parameters that the library declares for a built-in function, as `documented.parameters`, or None."""
        return None


def contains_nan(value, leaf_has_nan, depth):
    """Searches lists, tuples and dictionaries to a small depth."""
    if depth and isinstance(value, (list, tuple)):
        return any(contains_nan(item, leaf_has_nan, depth - 1) for item in value)
    if depth and isinstance(value, dict):
        return any(contains_nan(item, leaf_has_nan, depth - 1) for item in value.values())
    return leaf_has_nan(value)


#: Import name of a library → (module, class) of its adapter.
CHOICES = {
    "torch": ("adapter_torch", "TorchAdapter"),
    "tensorflow": ("adapter_tensorflow", "TensorflowAdapter"),
    "jax": ("adapter_jax", "JaxAdapter"),
    "mxnet": ("adapter_mxnet", "MxnetAdapter"),
}
#: For every other library: NumPy arrays where NumPy is there, plain values otherwise.
FALLBACK = ("adapter_numpy", "NumpyAdapter")


def choose(package, dtype_names):
    """The adapter for a library, or for the library that a package is built on."""
    root = package.split(".")[0]
    if root not in CHOICES:
        try:
            importlib.import_module(package)
        except Exception:
            # `load` will meet it again, where it is reported.
            pass
        root = next((name for name in CHOICES if name in sys.modules), root)
    module, name = CHOICES.get(root, FALLBACK)
    chosen = getattr(importlib.import_module("fissure_worker." + module), name)
    return chosen(package, dtype_names)
