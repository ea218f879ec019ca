"""Shadow execution: every operation once more in another precision, beside the real one.

The shadow of a tensor is what it would be if the whole computation before it had been done in the
other precision. A shadow that went stale (the tensor was changed in place through a view) is taken
anew from the tensor: it then only misses earlier errors, it never invents one.
"""

import torch

from ..watch import operations


class Shadow:
    def __init__(self, dtype):
        self.dtype = dtype
        self._values = {}  # id -> (shadow, version)
        self.errors = []  # (node, worst relative error of inputs, of output, its size)
        self.nonfinite = []  # nodes finite in the program, not finite in the shadow
        self.operands = {}  # id of such a node -> its arguments and keywords in the shadow
        self.outputs = {}  # id of output -> relative error

    def of(self, tensor):
        if not isinstance(tensor, torch.Tensor) or not tensor.dtype.is_floating_point:
            # A mask that a NaN or Inf made is another one beside it.
            held = self._values.get(id(tensor))
            return held[0] if held is not None and held[1] == tensor._version else tensor
        held = self._values.get(id(tensor))
        if held is not None and held[1] == tensor._version:
            return held[0]
        fresh = tensor.detach().to(self.dtype)
        self._values[id(tensor)] = (fresh, tensor._version)
        return fresh

    def numbers(self, tensor):
        """The shadow of a tensor as a NumPy array of doubles."""
        return self.of(tensor).detach().double().cpu().numpy()

    def _map(self, value):
        if isinstance(value, torch.Tensor):
            return self.of(value)
        if type(value) in (list, tuple):
            return type(value)(self._map(item) for item in value)
        return value

    def before(self, backend, arguments, keywords):
        if backend.library != "torch":
            return None
        prepared = []
        for value in arguments:
            mapped = self._map(value)
            prepared.append(mapped)
        return prepared, dict((key, self._map(value)) for key, value in keywords.items())

    def after(self, backend, node, outputs, prepared):
        if prepared is None or backend.library != "torch":
            return
        floats = [value for value in outputs if value.dtype.is_floating_point]
        if not floats:
            if outputs and any(self._spoiled(value) for value in node.inputs):
                self._decided(node, prepared, outputs[0])
            return
        shadows = self._run(backend, node, prepared, floats)
        for value, shadow in zip(floats, shadows):
            self._values[id(value)] = (shadow, value._version)
        if node.inputs_bad or node.output_bad or not all(map(_dense, floats)):
            return
        if not bool(torch.isfinite(shadows[0]).all()):
            self.nonfinite.append(node)
            self.operands[id(node)] = prepared
            return
        error, size = _relative_error(floats[0], shadows[0])
        self.outputs[id(floats[0])] = error
        worst_input = 0.0
        for value in node.inputs:
            worst_input = max(worst_input, self.outputs.get(id(value), 0.0))
        self.errors.append((node, worst_input, error, size))

    def _spoiled(self, value):
        if value.dtype.is_floating_point and _dense(value):
            return not bool(torch.isfinite(value.detach()).all())
        return id(value) in self._values

    def _decided(self, node, prepared, output):
        arguments, keywords = prepared
        try:
            with torch.no_grad():
                result = node.function(*arguments, **keywords)
        except Exception:
            return
        if (
            isinstance(result, torch.Tensor)
            and result.dtype == output.dtype
            and result.shape == output.shape
        ):
            self._values[id(output)] = (result, output._version)

    def _run(self, backend, node, prepared, floats):
        arguments, keywords = prepared
        fallback = [value.detach().to(self.dtype) for value in floats]
        if operations.has(node.name, "fresh"):
            return fallback
        if node.name == "cast":
            if isinstance(arguments[0], torch.Tensor) and arguments[0].dtype.is_floating_point:
                return [arguments[0]]
            return fallback
        keywords = dict(
            (key, value) for key, value in keywords.items() if key not in ("dtype", "out")
        )
        if backend.is_in_place(node.function):
            arguments = [
                value.clone() if position == 0 and isinstance(value, torch.Tensor) else value
                for position, value in enumerate(arguments)
            ]
        try:
            with torch.no_grad():
                result = node.function(*arguments, **keywords)
        except Exception:
            return fallback
        if result is None and arguments:
            result = arguments[0]
        results = result if isinstance(result, (tuple, list)) else (result,)
        shadows = [
            value.to(self.dtype)
            for value in results
            if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        ]
        if len(shadows) != len(floats) or any(
            tuple(a.shape) != tuple(b.shape) for a, b in zip(shadows, floats)
        ):
            return fallback
        return shadows


def _dense(value):
    """Sparse tensors have no elements that could be compared one by one."""
    return value.layout is torch.strided


def _relative_error(value, shadow):
    """Worst error of a tensor relative to its own largest element, and that element's size."""
    with torch.no_grad():
        if value.numel() == 0:
            return 0.0, 0.0
        wide = shadow.double()
        scale = float(wide.abs().max())
        held = float(value.detach().double().abs().max())
        if scale == 0.0:
            return (0.0, 0.0) if held == 0.0 else (1.0, held)
        return float((value.detach().double() - wide).abs().max()) / scale, scale
