"""TensorFlow 2, eager."""

import os

from fissure_worker.adapter import contains_nan
from fissure_worker.adapter import Dtypes
from fissure_worker.adapter_numpy import NumpyAdapter

#: Quantized types are made from the plain tensor of their stored integers.
STORED_AS = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
#: Handles of objects inside the runtime: no bytes make one.
HANDLES = ("resource", "variant")


class TensorflowAdapter(NumpyAdapter):
    # Its Python layer initialises on first use, error paths included: some crash only there.
    fresh_inputs = 192

    def load(self):
        # Errors and last words stay, chatter about the processor goes.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        import tensorflow

        # Said before the runtime starts, which the first operation does: that is in the worker.
        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        self.library = tensorflow
        self.load_numpy()
        self.codes = {name: code for code, name in enumerate(self.dtype_names)}
        self.dtypes = Dtypes("TensorFlow", self.dtype_names)
        for code, name in enumerate(self.dtype_names):
            try:
                self.dtypes[code] = tensorflow.dtypes.as_dtype(name)
            except (TypeError, KeyError):
                # Newer than this version of the library.
                continue
            if name == "bfloat16" or name.startswith("float8"):
                # Old versions bring a NumPy type of their own.
                own = self.numpy.dtype(self.dtypes[code].as_numpy_dtype)
                self.numpy_dtypes[code] = own
        self.quick = None

    def supported(self):
        return [
            self.dtype_names[code] for code in self.dtypes if self.dtype_names[code] not in HANDLES
        ]

    def attach(self, arena):
        """The first operation of the worker starts the runtime, before any input is under way."""
        NumpyAdapter.attach(self, arena)
        probe = self.numpy.arange(6, dtype="float32").reshape(2, 3)
        expected = self.library.constant(probe)
        try:
            # What `constant` ends in. Five times faster without the layers above it, and
            # without its second copy.
            from tensorflow.python.eager import context
            from tensorflow.python.framework import ops

            self.quick = ops.EagerTensor
            self.place = context.context().device_name or expected.device
            made = self.quick(probe, self.place, None)
            if made.dtype != expected.dtype or not (made.numpy() == probe).all():
                self.quick = None
        except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
            self.quick = None

    def reset(self):
        tensorflow = self.library
        # These exist from 2.5, 2.4 and 2.13 on.
        if hasattr(tensorflow.config, "functions_run_eagerly"):
            if tensorflow.config.functions_run_eagerly():
                tensorflow.config.run_functions_eagerly(False)
        backend = tensorflow.keras.backend
        if backend.floatx() != "float32":
            backend.set_floatx("float32")
        if backend.image_data_format() != "channels_last":
            backend.set_image_data_format("channels_last")

    def compiled(self, target):
        """A new graph for each call: what an earlier one was traced with is no part of this one."""
        function = self.library.function
        if isinstance(target, type):
            return lambda *arguments, **keywords: function(target(*arguments, **keywords))
        return lambda *arguments, **keywords: function(target)(*arguments, **keywords)

    def traced(self, target):
        function = self.library.function
        if isinstance(target, type):
            return lambda *arguments, **keywords: (
                function(target(*arguments, **keywords)).get_concrete_function
            )
        return lambda *arguments, **keywords: function(target).get_concrete_function(
            *arguments, **keywords
        )

    def by_name_only(self, path):
        return path.startswith("tensorflow.raw_ops.")

    def tensor(self, array):
        if self.quick is not None:
            return self.quick(array, self.place, None)
        return self.library.constant(array)

    def dense(self, code, shape, strides, offset):
        return self.tensor(NumpyAdapter.dense(self, code, shape, strides, offset))

    def repeated(self, code, shape, offset, pattern, elements):
        name = self.dtype_names[code]
        if name in STORED_AS and code in self.dtypes:
            stored = self.repeated(self.codes[STORED_AS[name]], shape, offset, pattern, elements)
            return self.library.bitcast(stored, self.dtypes[code])
        if name == "string":
            return self.strings(shape, offset, pattern, elements)
        return self.tensor(self.ndarray(code, shape, offset, pattern, elements))

    def strings(self, shape, offset, pattern, elements):
        """Each byte is one string of one byte."""
        letters = [bytes([byte]) for byte in self.arena[offset : offset + pattern]]
        array = self.numpy.empty(elements, dtype=object)
        for at in range(elements):
            array[at] = letters[at % pattern]
        return self.library.constant(array.reshape(shape), dtype=self.library.string)

    def sparse(self, tensor):
        tensorflow = self.library
        if hasattr(tensorflow.sparse, "from_dense"):
            return tensorflow.sparse.from_dense(tensor)
        array = tensor.numpy()
        where = self.numpy.argwhere(array)
        return tensorflow.SparseTensor(where, array[tuple(where.T)], array.shape)

    def dtype(self, code):
        return self.dtypes[code]

    def leaf_has_nan(self, value):
        tensorflow = self.library
        if isinstance(value, (tensorflow.SparseTensor, tensorflow.IndexedSlices)):
            value = value.values
        elif isinstance(value, tensorflow.RaggedTensor):
            value = value.flat_values
        elif isinstance(value, tensorflow.Variable):
            value = value.value()
        if isinstance(value, tensorflow.Tensor) and hasattr(value, "numpy"):
            if not (value.dtype.is_floating or value.dtype.is_complex):
                return False
            value = value.numpy()
            if value.dtype.kind not in "fc":
                # `isnan` knows bfloat16 and float8 only through the package that brought them.
                value = value.astype("float32")
        return NumpyAdapter.leaf_has_nan(self, value)

    def has_state(self, path):
        from tensorflow.python.framework import op_def_registry

        if ".raw_ops." not in path:
            return False
        definition = op_def_registry.get(path.rsplit(".", 1)[1])
        return definition is not None and definition.is_stateful

    def has_nan(self, result):
        return contains_nan(result, self.leaf_has_nan, 4)
