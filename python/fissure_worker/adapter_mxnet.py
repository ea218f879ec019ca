"""MXNet 1.x: `nd` and `gluon`."""

import faulthandler
import os
import signal

from fissure_worker.adapter import Dtypes
from fissure_worker.adapter_numpy import NumpyAdapter

#: MXNet handles these itself, writes its own stack and exits with 255.
FAULTS = ("SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL", "SIGABRT")


class MxnetAdapter(NumpyAdapter):
    def load(self):
        # The default engine runs operations behind the caller's back, on threads that a fork does
        # not take along. This one runs each where it is called: a crash is that of its input.
        os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
        os.environ.setdefault("MXNET_CPU_WORKER_NTHREADS", "1")
        os.environ.setdefault("MXNET_MP_WORKER_NTHREADS", "1")
        import mxnet
        import mxnet.gluon

        self.library = mxnet
        self.load_numpy()
        self.take_back_signals()
        self.dtypes = Dtypes("MXNet", self.dtype_names)
        known = getattr(mxnet.ndarray.ndarray, "_DTYPE_NP_TO_MX", {})
        for code, name in enumerate(self.dtype_names):
            dtype = self.numpy_dtypes.get(code)
            if name == "bfloat16":
                # MXNet's own: a structure with one field of that name.
                dtype = self.numpy.dtype([(name, self.numpy.uint16)])
                if dtype in known:
                    self.numpy_dtypes[code] = self.dtypes[code] = dtype
            elif dtype is not None and dtype.type in known:
                self.dtypes[code] = dtype

    def take_back_signals(self):
        """A worker's end is told by its signal, and by Python's stack before it."""
        faulthandler.disable()
        for name in FAULTS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        faulthandler.enable(2)

    def supported(self):
        return [self.dtype_names[code] for code in self.dtypes]

    def reset(self):
        for name in ("set_np", "reset_np"):
            if not hasattr(self.library.util, name):
                return
        if self.library.util.is_np_shape() or self.library.util.is_np_array():
            self.library.util.reset_np()

    def tensor(self, code, array):
        # What `nd.array` ends in, five times faster without its way there.
        made = self.library.nd.empty(array.shape, dtype=self.dtypes[code])
        made._sync_copyfrom(array)
        return made

    def dense(self, code, shape, strides, offset):
        return self.tensor(code, NumpyAdapter.dense(self, code, shape, strides, offset))

    def repeated(self, code, shape, offset, pattern, elements):
        return self.tensor(code, self.ndarray(code, shape, offset, pattern, elements))

    def sparse(self, tensor):
        """A matrix in rows of indices, anything else as the rows that are not zero."""
        return tensor.tostype("csr" if len(tensor.shape) == 2 else "row_sparse")

    def dtype(self, code):
        # MXNet's dtype objects are NumPy's scalar types; bfloat16 has none.
        dtype = self.dtypes[code]
        return dtype if dtype.names else dtype.type

    def target(self, found):
        """A layer's parameters are initialised between its construction and its call; whatever
        engine the user chose, the operations of a call are over when it returns."""
        if not callable(found):
            return found
        block = self.library.gluon.Block
        wait = self.library.nd.waitall
        naive = os.environ["MXNET_ENGINE_TYPE"] == "NaiveEngine"
        if isinstance(found, type):
            if not issubclass(found, block):
                return found

            def construct(*arguments, **keywords):
                layer = found(*arguments, **keywords)
                layer.initialize()
                return layer

            return construct
        if naive:
            return found

        def call(*arguments, **keywords):
            result = found(*arguments, **keywords)
            wait()
            return result

        return call

    def compiled(self, target):
        """A layer that MXNet turns into a graph; functions have no other way to run."""

        def call(*arguments, **keywords):
            result = target(*arguments, **keywords)
            if isinstance(result, self.library.gluon.HybridBlock):
                result.hybridize()
            return result

        return call

    def leaf_has_nan(self, value):
        if isinstance(value, self.library.nd.NDArray):
            value = value.asnumpy()
            if value.dtype.names:
                # bfloat16: the upper half of a float32.
                halves = value.view(self.numpy.uint16).astype(self.numpy.uint32)
                value = (halves << 16).view(self.numpy.float32)
        return NumpyAdapter.leaf_has_nan(self, value)
