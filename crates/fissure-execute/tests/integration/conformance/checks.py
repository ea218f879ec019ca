"""Looks at what arrived in a worker, whichever library it is of. Runs beside the library."""

import sys

import numpy


def library():
    for name in ("torch", "tensorflow", "jax", "mxnet"):
        if name in sys.modules:
            return sys.modules[name]
    return numpy


def is_tensor(value):
    kinds = {
        "torch": "Tensor",
        "tensorflow": "Tensor",
        "jax": "Array",
        "mxnet": "nd.NDArray",
        "numpy": "ndarray",
    }
    found = library()
    for part in kinds[found.__name__].split("."):
        found = getattr(found, part)
    return isinstance(value, found)


def dtype_name(dtype):
    if getattr(dtype, "names", None):
        return dtype.names[0]
    if isinstance(dtype, type):
        dtype = numpy.dtype(dtype)
    text = getattr(dtype, "name", None) or str(dtype)
    return text.split(".")[-1]


def array_of(tensor):
    """The elements as a NumPy array."""
    name = library().__name__
    if name == "torch":
        torch = library()
        if tensor.layout is not torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_quantized:
            tensor = tensor.int_repr()
        if dtype_name(tensor.dtype).startswith("float8"):
            tensor = tensor.view(torch.uint8)
        elif dtype_name(tensor.dtype) == "bfloat16":
            wide = tensor.to(torch.float32).contiguous().numpy()
            halves = (wide.reshape(-1).view(numpy.uint32) >> 16).astype(numpy.uint16)
            return halves.reshape(wide.shape)
        return tensor.numpy()
    if name == "tensorflow":
        if type(tensor).__name__ == "SparseTensor":
            tensor = library().sparse.to_dense(tensor)
        return tensor.numpy()
    if name == "mxnet":
        return tensor.asnumpy()
    if name == "jax" and hasattr(tensor, "todense"):
        tensor = tensor.todense()
    return numpy.asarray(tensor)


def elements(array):
    if isinstance(array, bytes):
        return array
    if array.dtype == object:
        return b"".join(array.ravel().tolist())
    return array.tobytes()


def same(tensor, dtype, shape, data, sparse=False):
    assert sparse or is_tensor(tensor), type(tensor)
    found = dtype_name(tensor.dtype)
    assert found == dtype, found
    assert tuple(tensor.shape) == tuple(shape), tensor.shape
    given = elements(array_of(tensor))
    expected = (data * (1 + len(given) // max(1, len(data))))[: len(given)]
    assert given == expected, (given[:64], expected[:64])
    if data:
        assert given, "no elements"
    return tensor


def same_sparse(tensor, dtype, shape, data):
    assert not is_tensor(tensor) or library().__name__ in ("torch", "mxnet"), type(tensor)
    if library().__name__ == "mxnet":
        assert tensor.stype in ("csr", "row_sparse"), tensor.stype
    same(tensor, dtype, shape, data, sparse=True)


def same_inside(holder, dtype, shape, data):
    same(holder["list"][0], dtype, shape, data)
    same(holder["tuple"][1][0], dtype, shape, data)
    assert holder["tuple"][0] is None and isinstance(holder["tuple"], tuple)


def same_array(array, dtype, shape, data):
    assert isinstance(array, numpy.ndarray), type(array)
    assert array.dtype.name == dtype and array.shape == tuple(shape)
    assert array.flags.writeable
    assert array.tobytes() == data
    array[...] = 0


def is_dtype(value, text):
    assert not isinstance(value, str)
    assert dtype_name(value) == text, value


def identity(value):
    """Results of every shape that an API may have."""
    return [value, {"k": (value, 1)}]


def work(value):
    """An operation large enough for a thread pool."""
    name = library().__name__
    array = numpy.ones((700, 700), "float32")
    if name == "torch":
        return library().matmul(library().from_numpy(array), library().from_numpy(array))
    if name == "tensorflow":
        return library().matmul(array, array)
    if name == "jax":
        return library().numpy.matmul(array, array).block_until_ready()
    if name == "mxnet":
        return library().nd.dot(library().nd.array(array), library().nd.array(array)).asnumpy()
    return array.dot(array)


def crash(value):
    import ctypes

    if value == 7:
        ctypes.string_at(0)
    return work(value)


def leave(value):
    import os

    if value == 7:
        os._exit(255)


def inside_the_compiler(value, holder, text, number):
    """Arrays are symbols here, everything else is what was passed."""
    assert isinstance(text, str) and isinstance(number, int) and holder[0] is None
    name = library().__name__
    if name == "tensorflow":
        inside = not library().executing_eagerly()
    else:
        inside = name == "jax" and all(
            isinstance(item, library().core.Tracer) for item in (value, holder[1])
        )
    if not inside:
        raise RuntimeError("not compiled")
    if number == 7:
        raise ValueError("seven is refused")
    return value + holder[1]


class Layer:
    """For the libraries that have no layers."""

    def __init__(self, units):
        if units < 0:
            raise ValueError("no negative units")
        self.units = units

    def __call__(self, x):
        return library().concatenate([x] * self.units) if library() is numpy else x
