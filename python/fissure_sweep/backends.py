"""Tensors of each library from NumPy arrays and back, for the element types that a sweep knows."""

import importlib
import re
import sys

import numpy

#: Types of 16 bits are made from their bits, because NumPy has no `bfloat16`.
BITS = {
    "float16": numpy.uint16,
    "bfloat16": numpy.uint16,
    "float32": numpy.uint32,
    "float64": numpy.uint64,
}


class Backend:
    """One library. `values` are arrays of float64, in which every narrower number is exact."""

    name = ""
    dtypes = ("float16", "bfloat16", "float32", "float64")

    def __init__(self):
        self.library = importlib.import_module(self.name)

    def tensor(self, bits, dtype):
        """A tensor with these bit patterns."""
        raise NotImplementedError

    def values(self, tensor):
        """Its elements in float64."""
        return numpy.asarray(tensor).astype("float64")

    def wide(self, values):
        """A tensor of float64."""
        return self.tensor(values.astype("float64").view("uint64"), "float64")

    def strided(self, tensor):
        """The same elements with gaps between them, or None where the library has no such thing."""
        return None

    def in_place(self, path):
        """The form of a function that writes its result over the argument and returns it, or None: by the usual name
        beside it."""
        module, _, name = path.rpartition(".")
        return getattr(sys.modules.get(module), name + "_", None)

    def threaded(self, function):
        """The function with the work shared out to two threads, or None where that cannot be asked for."""
        return None

    def gradient(self, function):
        """The derivative of each element of the result by the element at its place, or None."""
        return None

    def cast(self, array, dtype):
        """A tensor of these numbers, which are exact in the type."""
        raise NotImplementedError

    def plain(self, tensor):
        """Its elements in an array of the type, those of 16 bits in float64."""
        found = numpy.asarray(tensor)
        return (
            found.astype("float64")
            if found.dtype.itemsize == 2 and found.dtype.kind in "fV"
            else found
        )

    #: Statement that makes `x` of one number, often enough for any vector register.
    make = ""
    #: What is done to `x` by the other side of a comparison.
    others = {}

    def script(self, path, dtype, value, other):
        """A line that shows one element, and what it is compared with."""
        make = self.make % {"value": literal(value), "dtype": dtype}
        return "%s; print(%s(x)[0], %s(%s)[0])" % (make, path, path, self.others[other])

    #: Makes the derivative of a function, `%s`, as a function.
    derivative = ""

    def gradient_script(self, path, dtype, value):
        """A line that shows the derivative at one number, and in the wider type."""
        make = self.make % {"value": literal(value), "dtype": dtype}
        wide = self.others["wide"].replace("x.double()", "x.detach().double()")
        return "%s; g = %s; print(g(x)[0], g(%s)[0])" % (make, self.derivative % path, wide)

    def grid_script(self, path, dtype, given, other, wide):
        """The same for several arguments, in the library's own words for a cast."""
        names = ["x", "y"][: len(given)]
        makes = [self.make % {"value": literal(value), "dtype": dtype} for value in given]
        makes = [make.replace("x = ", name + " = ") for name, make in zip(names, makes)]
        if other == "wide":
            changed = [self.widened % {"name": name, "wide": wide} for name in names]
        else:
            # The name alone, not the letter inside a word.
            changed = [re.sub(r"\bx\b", name, self.others[other]) for name in names]
        call = "%s(%s)[0]"
        first, second = call % (path, ", ".join(names)), call % (path, ", ".join(changed))
        return "%s; print(%s, %s)" % ("; ".join(makes), first, second)


class Torch(Backend):
    name = "torch"
    make = "import torch; x = torch.full((64,), %(value)s, dtype=torch.%(dtype)s)"
    others = {
        "wide": "x.double()",
        "strided": "torch.stack([x, x], -1)[:, 0]",
        "alone": "x[:1]",
        "negative": "-x",
    }
    derivative = "lambda x: torch.autograd.grad(%s(x.requires_grad_()).sum(), x)[0]"

    def script(self, path, dtype, value, other):
        make = self.make % {"value": literal(value), "dtype": dtype}
        if other == "in place":
            return "%s; print(%s(x)[0], %s_(x)[0])" % (make, path, path)
        if other == "threads":
            make = make.replace("(64,)", "(1 << 20,)")
            threads = "torch.set_num_threads(%d)"
            return "%s; %s; y = %s(x); %s; print((y != %s(x)).sum())" % (
                make, threads % 1, path, threads % 2, path,
            )  # fmt: skip
        return Backend.script(self, path, dtype, value, other)

    def __init__(self):
        Backend.__init__(self)
        self.library.set_num_threads(1)

    def threaded(self, function):
        def run(tensor):
            self.library.set_num_threads(2)
            try:
                return function(tensor)
            finally:
                self.library.set_num_threads(1)

        return run

    def gradient(self, function):
        def derivative(tensor):
            tensor = tensor.detach().clone().requires_grad_()
            result = function(tensor)
            (found,) = self.library.autograd.grad(result.sum(), tensor)
            return found

        return derivative

    def tensor(self, bits, dtype):
        torch = self.library
        signed = {2: "int16", 4: "int32", 8: "int64"}[bits.dtype.itemsize]
        made = torch.from_numpy(bits.view(signed).copy())
        return made.view(getattr(torch, dtype))

    def values(self, tensor):
        return tensor.detach().to(self.library.float64).numpy()

    widened = "%(name)s.to(torch.%(wide)s)"

    def cast(self, array, dtype):
        return self.library.from_numpy(array.copy()).to(getattr(self.library, dtype))

    def plain(self, tensor):
        narrow = (self.library.float16, self.library.bfloat16)
        tensor = tensor.detach()
        return (tensor.double() if tensor.dtype in narrow else tensor).numpy()

    def strided(self, tensor):
        return self.library.stack([tensor, tensor], -1)[..., 0]


class Numpy(Backend):
    name = "numpy"
    make = "import numpy; x = numpy.full(64, %(value)s, '%(dtype)s')"
    others = {
        "wide": "x.astype('longdouble')",
        "strided": "numpy.repeat(x, 2)[::2]",
        "alone": "x[:1]",
        "negative": "-x",
    }
    dtypes = ("float16", "float32", "float64")
    widened = "%(name)s.astype('%(wide)s')"

    def cast(self, array, dtype):
        with numpy.errstate(all="ignore"):
            return array.astype(dtype)

    def tensor(self, bits, dtype):
        return bits.view(dtype)

    def strided(self, tensor):
        return numpy.repeat(tensor, 2)[::2]

    def wide(self, values):
        """The extended type of the processor is the reference of float64 too."""
        return values.astype("longdouble")


class Narrow(Backend):
    """Libraries that bring NumPy types of 16 bits along."""

    def array(self, bits, dtype):
        if dtype == "bfloat16":
            return bits.view(importlib.import_module("ml_dtypes").bfloat16)
        return bits.view(dtype)


class Jax(Narrow):
    name = "jax"
    make = (
        "import jax; jax.config.update('jax_enable_x64', True); import jax.numpy; "
        "x = jax.numpy.full(64, %(value)s, '%(dtype)s')"
    )
    others = {"wide": "x.astype('float64')", "alone": "x[:1]", "negative": "-x"}

    derivative = "lambda x: jax.vjp(%s, x)[1](jax.numpy.ones_like(x))[0]"

    def __init__(self):
        Backend.__init__(self)
        self.library.config.update("jax_enable_x64", True)

    def tensor(self, bits, dtype):
        return importlib.import_module("jax.numpy").asarray(self.array(bits, dtype))

    def gradient(self, function):
        def derivative(tensor):
            result, pull = self.library.vjp(function, tensor)
            return pull(importlib.import_module("jax.numpy").ones_like(result))[0]

        return derivative

    widened = "%(name)s.astype('%(wide)s')"

    def cast(self, array, dtype):
        return importlib.import_module("jax.numpy").asarray(array).astype(dtype)


class Tensorflow(Narrow):
    name = "tensorflow"
    make = (
        "import tensorflow; x = tensorflow.fill([64], tensorflow.constant(%(value)s, '%(dtype)s'))"
    )
    others = {"wide": "tensorflow.cast(x, 'float64')", "alone": "x[:1]", "negative": "-x"}

    derivative = "lambda x: tensorflow.gradients(%s(x), x)[0]"

    def gradient_script(self, path, dtype, value):
        make = self.make % {"value": literal(value), "dtype": dtype}
        line = "%s; g = tensorflow.function(%s); print(g(x)[0], g(%s)[0])"
        return line % (make, self.derivative % path, self.others["wide"])

    def tensor(self, bits, dtype):
        return self.library.constant(self.array(bits, dtype))

    def gradient(self, function):
        def derivative(tensor):
            with self.library.GradientTape() as tape:
                tape.watch(tensor)
                result = function(tensor)
            return tape.gradient(result, tensor)

        return derivative

    widened = "tensorflow.cast(%(name)s, '%(wide)s')"

    def cast(self, array, dtype):
        return self.library.cast(self.library.constant(array), dtype)


BACKENDS = {backend.name: backend for backend in (Torch, Numpy, Jax, Tensorflow)}


def literal(value):
    """A number as Python reads it back."""
    if isinstance(value, complex):
        return "complex(%s, %s)" % (literal(value.real), literal(value.imag))
    if isinstance(value, int):
        return repr(value)
    value = float(value)
    return "float(%r)" % str(value) if value != value or abs(value) == float("inf") else repr(value)
