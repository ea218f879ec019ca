"""PyTorch, from 1.0 on."""

import inspect
import warnings

from fissure_worker.adapter import contains_nan
from fissure_worker.adapter import Dtypes
from fissure_worker.adapter_numpy import NumpyAdapter

#: Quantized types are made from the plain tensor of their stored integers.
STORED_AS = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
ABSENT = ("qint16", "quint16", "string", "resource", "variant")


class TorchAdapter(NumpyAdapter):
    def load(self):
        import torch

        # One thread per worker: several workers share the machine, and forking a process that
        # already runs a thread pool hangs the child.
        torch.set_num_threads(1)
        if hasattr(torch, "set_num_interop_threads"):
            # From 1.2 on.
            torch.set_num_interop_threads(1)
        self.library = torch
        self.load_numpy()
        self.dtypes = Dtypes("torch", self.dtype_names)
        for code, name in enumerate(self.dtype_names):
            found = getattr(torch, name, None)
            if name.startswith("complex") and not hasattr(torch, "view_as_complex"):
                # 1.5 has the names, and refuses to make a tensor of them.
                continue
            if name not in ABSENT and isinstance(found, torch.dtype):
                self.dtypes[code] = found
        self.codes = {name: code for code, name in enumerate(self.dtype_names)}
        self.whole = Dtypes("torch", self.dtype_names)
        # One operation instead of two, where it exists (2.0).
        self.copy = getattr(torch, "as_strided_copy", None)
        self.overrides = self.stand_ins()

    def stand_ins(self):
        """PyTorch's table for overriding its functions: here, once, because each worker would make it again."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.library.overrides.get_testing_overrides()
        except (AttributeError, ImportError):
            return {}

    def supported(self):
        return [self.dtype_names[code] for code in self.dtypes]

    def attach(self, arena):
        """One flat tensor of each dtype over the whole arena; inputs are copies out of it.

        Copies, although a view would save a microsecond: an input that owns its memory can be
        resized and written to like any tensor of a user, and an API that writes out of bounds
        hits the allocator's memory, not the inputs that follow.
        """
        NumpyAdapter.attach(self, arena)
        torch = self.library
        with warnings.catch_warnings():
            # That the arena is read-only is on purpose.
            warnings.simplefilter("ignore")
            for code, dtype in self.dtypes.items():
                if self.dtype_names[code] in STORED_AS:
                    continue
                try:
                    self.whole[code] = torch.frombuffer(arena, dtype=dtype)
                except (AttributeError, TypeError, ValueError, RuntimeError):
                    flat = self.through_numpy(torch, code, dtype)
                    if flat is not None:
                        self.whole[code] = flat
        whole = self.whole
        copy = self.copy
        if copy is not None:

            def dense(code, shape, strides, offset):
                return copy(whole[code], shape, strides, offset)

            # The hot path: a closure spares three attribute lookups per tensor.
            self.dense = dense

    def through_numpy(self, torch, code, dtype):
        """The same for versions before 1.10, which have no `frombuffer`."""
        if self.numpy is None or code not in self.numpy_dtypes:
            return None
        try:
            return torch.from_numpy(self.numpy.frombuffer(self.arena, self.numpy_dtypes[code]))
        except TypeError:
            return None

    def reset(self):
        torch = self.library
        if torch.get_num_threads() != 1:
            torch.set_num_threads(1)
        if not torch.is_grad_enabled():
            torch.set_grad_enabled(True)
        if torch.get_default_dtype() != torch.float32:
            torch.set_default_dtype(torch.float32)
        if hasattr(torch, "_GLOBAL_DEVICE_CONTEXT") and hasattr(torch, "set_default_device"):
            if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not None:
                torch.set_default_device(None)

    def dense(self, code, shape, strides, offset):
        if code not in self.whole and code in self.dtypes:
            elements = 1
            for size in shape:
                elements *= size
            return self.widened(code, offset, elements).view(shape)
        return self.library.as_strided(self.whole[code], shape, strides, offset).clone()

    def widened(self, code, offset, count):
        """bfloat16 for versions that cannot take its bytes: each is the upper half of a float32."""
        numpy = self.numpy
        if numpy is None or self.dtype_names[code] != "bfloat16":
            raise TypeError("torch takes no bytes of dtype %s" % self.dtype_names[code])
        halves = numpy.frombuffer(self.arena, numpy.uint16, count=count, offset=2 * offset)
        wide = (halves.astype(numpy.uint32) << 16).view(numpy.float32)
        return self.library.from_numpy(wide).to(self.dtypes[code])

    def repeated(self, code, shape, offset, pattern, elements):
        torch = self.library
        name = self.dtype_names[code]
        if name in STORED_AS and code in self.dtypes:
            stored = self.repeated(self.codes[STORED_AS[name]], shape, offset, pattern, elements)
            return torch._make_per_tensor_quantized_tensor(stored, 1.0, 0)
        if pattern == 0:
            return torch.empty(shape, dtype=self.dtypes[code])
        if code not in self.whole and code in self.dtypes:
            start = self.widened(code, offset, pattern)
        else:
            start = self.whole[code].narrow(0, offset, pattern)
        if pattern == elements:
            return start.clone().view(shape)
        if pattern == 1:
            return start.expand(elements).clone().view(shape)
        times = -(-elements // pattern)
        flat = start.repeat(times)
        if elements != times * pattern:
            flat = flat.narrow(0, 0, elements).clone()
        return flat.view(shape)

    def sparse(self, tensor):
        return tensor.to_sparse()

    def dtype(self, code):
        return self.dtypes[code]

    def has_nan(self, result):
        return contains_nan(result, self.leaf_has_nan, 4)

    def leaf_has_nan(self, value):
        torch = self.library
        if not isinstance(value, torch.Tensor):
            return NumpyAdapter.leaf_has_nan(self, value)
        if not (value.is_floating_point() or value.is_complex()) or value.is_quantized:
            return False
        value = value.detach()
        if value.layout is not torch.strided:
            value = value.to_dense()
        # A NaN survives the sum, and the sum is five times cheaper than looking at each element;
        # infinities of both signs make one too, so the exact look follows.
        try:
            total = value.sum().item()
        except RuntimeError:
            value = value.to(torch.float32)
            total = value.sum().item()
        if total == total:
            return False
        return bool((value != value).any().item())

    def signature(self, target):
        """Built-in functions carry no signature; PyTorch's own table for overriding them does."""
        try:
            stand_in = self.overrides.get(target)
            return None if stand_in is None else inspect.signature(stand_in)
        except (TypeError, ValueError):
            return None

    def declared(self, target):
        from fissure_worker.discover import torch_schemas

        if not torch_schemas.is_builtin(target):
            return None
        try:
            found = self.library._C._jit_get_schemas_for_operator("aten::" + target.__name__)
        except (AttributeError, RuntimeError):
            return None
        is_method = type(target).__name__ == "method_descriptor"
        return torch_schemas.declared([str(schema) for schema in found], is_method)
