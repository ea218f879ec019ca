"""NumPy arrays: on their own for libraries that take them, and as the second kind of array beside
a library's own tensors. Works without NumPy for everything that is not an array.
"""

from fissure_worker.adapter import Adapter, Dtypes

#: Types that NumPy knows only when the package `ml_dtypes` is there.
FOREIGN = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def import_numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


class NumpyAdapter(Adapter):
    def __init__(self, package, dtype_names):
        Adapter.__init__(self, package, dtype_names)
        self.numpy = None
        self.numpy_dtypes = Dtypes("NumPy", dtype_names)

    def load(self):
        Adapter.load(self)
        self.load_numpy()

    def load_numpy(self):
        self.numpy = import_numpy()
        if self.numpy is None:
            return
        for code, name in enumerate(self.dtype_names):
            if name in FOREIGN:
                try:
                    import ml_dtypes
                except ImportError:
                    continue
                self.numpy_dtypes[code] = self.numpy.dtype(getattr(ml_dtypes, name))
            elif name.startswith("q") or name in ("string", "resource", "variant"):
                continue
            else:
                self.numpy_dtypes[code] = self.numpy.dtype(name)

    def supported(self):
        return [self.dtype_names[code] for code in self.numpy_dtypes]

    def ndarray(self, code, shape, offset, pattern, elements):
        if self.numpy is None:
            raise TypeError("NumPy is not installed")
        dtype = self.numpy_dtypes[code]
        if pattern == 0:
            return self.numpy.empty(shape, dtype)
        start = self.numpy.frombuffer(
            self.arena, dtype, count=pattern, offset=offset * dtype.itemsize
        )
        if pattern == elements:
            return start.reshape(shape).copy()
        return self.numpy.resize(start, elements).reshape(shape)

    def dense(self, code, shape, strides, offset):
        elements = 1
        for size in shape:
            elements *= size
        return self.ndarray(code, shape, offset, elements, elements)

    def repeated(self, code, shape, offset, pattern, elements):
        return self.ndarray(code, shape, offset, pattern, elements)

    def dtype(self, code):
        if self.numpy is None:
            raise TypeError("NumPy is not installed")
        return self.numpy_dtypes[code]

    def leaf_has_nan(self, value):
        if self.numpy is not None and isinstance(value, (self.numpy.ndarray, self.numpy.generic)):
            if value.dtype.kind not in "fc":
                return False
            return bool(self.numpy.isnan(value).any())
        return Adapter.leaf_has_nan(self, value)
