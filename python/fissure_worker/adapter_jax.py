"""JAX from 0.4.31 on, eager on the processor."""

import os

from fissure_worker.adapter import Dtypes
from fissure_worker.adapter_numpy import NumpyAdapter

#: Without its 64-bit mode JAX turns these into their halves.
WIDE = ("uint64", "int64", "float64", "complex128")


class JaxAdapter(NumpyAdapter):
    def load(self):
        # The environment's say, unless the user has one: no search for accelerators.
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        # One thread per worker: several workers share the machine.
        flags = os.environ.get("XLA_FLAGS", "")
        if "intra_op_parallelism_threads" not in flags:
            one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
            os.environ["XLA_FLAGS"] = (flags + " " + one).strip()
        import jax
        import jax.numpy

        # Operations run where they are called, not behind the caller's back: a crash is that of
        # its input.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self.library = jax
        self.load_numpy()
        self.wide = bool(jax.config.jax_enable_x64)
        self.dtypes = Dtypes("JAX", self.dtype_names)
        for code, name in enumerate(self.dtype_names):
            if code not in self.numpy_dtypes or not hasattr(jax.numpy, name.rstrip("_")):
                continue
            if name in WIDE and not self.wide:
                continue
            self.dtypes[code] = self.numpy_dtypes[code]
        self.put = jax.device_put

    def supported(self):
        return [self.dtype_names[code] for code in self.dtypes]

    def attach(self, arena):
        """The first operation of the worker starts the runtime, before any input is under way."""
        NumpyAdapter.attach(self, arena)
        self.put(self.numpy.zeros(1, dtype="float32")).block_until_ready()

    def reset(self):
        config = self.library.config
        if bool(config.jax_enable_x64) != self.wide:
            config.update("jax_enable_x64", self.wide)
        for switch in ("jax_debug_nans", "jax_debug_infs", "jax_disable_jit"):
            if getattr(config, switch, False):
                config.update(switch, False)

    def compiled(self, target):
        return self.by(lambda function, arrays: self.library.jit(function)(*arrays), target)

    def traced(self, target):
        """Where JAX rejects calls; computing takes a compilation for each new shape."""
        return self.by(lambda function, arrays: self.library.eval_shape(function, *arrays), target)

    def by(self, run, target):
        """Arrays are what the compiled function takes; everything else is part of it."""
        tree = self.library.tree_util

        def is_array(value):
            return isinstance(value, (self.library.Array, self.numpy.ndarray))

        def call(*arguments, **keywords):
            leaves, structure = tree.tree_flatten(
                (arguments, keywords), is_leaf=lambda value: value is None
            )
            arrays = [leaf for leaf in leaves if is_array(leaf)]

            def function(*given):
                given = iter(given)
                filled = [next(given) if is_array(leaf) else leaf for leaf in leaves]
                arguments, keywords = tree.tree_unflatten(structure, filled)
                return target(*arguments, **keywords)

            return run(function, arrays)

        return call

    def dense(self, code, shape, strides, offset):
        self.dtypes[code]
        return self.put(NumpyAdapter.dense(self, code, shape, strides, offset))

    def repeated(self, code, shape, offset, pattern, elements):
        self.dtypes[code]
        return self.put(self.ndarray(code, shape, offset, pattern, elements))

    def sparse(self, tensor):
        from jax.experimental import sparse

        return sparse.BCOO.fromdense(tensor)

    def dtype(self, code):
        return self.dtypes[code]

    def leaf_has_nan(self, value):
        if isinstance(value, self.library.Array):
            if self.library.dtypes.issubdtype(value.dtype, self.library.dtypes.prng_key):
                return False
            value = self.numpy.asarray(value)
            if value.dtype.kind == "V" or value.dtype.name in ("bfloat16",):
                value = value.astype("float32")
        elif hasattr(value, "todense") and hasattr(value, "nse"):
            value = self.numpy.asarray(value.data)
        return NumpyAdapter.leaf_has_nan(self, value)
