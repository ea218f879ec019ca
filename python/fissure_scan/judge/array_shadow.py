"""Shadow execution of JAX and TensorFlow programs: every operation once more in float64.

As shadow.py does for torch. Arrays here never change, so a shadow does not go stale; a variable's
shadow is taken anew each time.
"""

import numpy as np

from ..backends.numpy_backend import plain
from ..watch import operations
from .numpy_shadow import relative_error


class ArrayShadow:
    def __init__(self, backend):
        self.backend = backend
        self._values = {}  # id -> shadow
        self.errors = []  # (node, worst relative error of inputs, of output, its size)
        self.nonfinite = []
        self.outputs = {}  # id of output -> relative error

    def of(self, value):
        held = self._values.get(id(value))
        if held is not None:
            return held
        if not self.backend.is_float(value):
            return plain(value)
        return self.backend.wide(value)

    def numbers(self, value):
        """The shadow of a value as a NumPy array of doubles."""
        return self.backend.numbers(self.of(value))

    def _map(self, value):
        if type(value) in (list, tuple):
            return type(value)(self._map(item) for item in value)
        return self.of(value)

    def before(self, backend, arguments, keywords):
        if backend is not self.backend:
            return None
        return (
            [self._map(value) for value in arguments],
            dict((key, self._map(value)) for key, value in keywords.items() if key != "dtype"),
        )

    def after(self, backend, node, outputs, prepared):
        if prepared is None:
            return
        floats = [value for value in outputs if backend.is_float(value)]
        if not floats:
            return
        for value, shadow in zip(floats, self._run(node, prepared, floats)):
            self._values[id(value)] = shadow
        if node.inputs_bad or node.output_bad:
            return
        shadow = backend.numbers(self.of(floats[0]))
        if not bool(np.isfinite(shadow).all()):
            self.nonfinite.append(node)
            return
        error, size = relative_error(backend.numbers(floats[0]), shadow.astype(np.longdouble))
        self.outputs[id(floats[0])] = error
        worst = max([self.outputs.get(id(value), 0.0) for value in node.inputs] or [0.0])
        self.errors.append((node, worst, error, size))

    def _run(self, node, prepared, floats):
        backend = self.backend
        fallback = [backend.wide(value) for value in floats]
        arguments, keywords = prepared
        if operations.has(node.name, "fresh"):
            return fallback
        if node.name in ("cast", "convert"):
            return (
                [arguments[0]]
                if backend.is_float(arguments[0])
                and backend.is_array(arguments[0])
                and len(floats) == 1
                else fallback
            )
        try:
            result = backend.in_wide(node.function, arguments, keywords)
        except Exception:
            # No float64 form of it: the shadow goes on from the ordinary result.
            return fallback
        results = result if isinstance(result, (tuple, list)) else (result,)
        shadows = [value for value in results if backend.is_float(value)]
        if len(shadows) != len(floats) or any(
            tuple(one.shape) != tuple(two.shape) for one, two in zip(shadows, floats)
        ):
            return fallback
        return shadows
