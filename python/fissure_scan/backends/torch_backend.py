"""Interception of torch: functions, methods, operators and what module classes call."""

import math

import torch
from torch.overrides import TorchFunctionMode

from ..steer import steering
from ..watch import names, operations
from ..watch.monitor import StopRun
from .base import Backend, fitted


# The original: while the program runs, this name leads to the traced source.
_from_numpy = torch.from_numpy


def _as_tensor(chosen, dtype):
    """A new tensor with these values; candidates are NumPy arrays of doubles."""
    if isinstance(chosen, torch.Tensor):
        return chosen.detach().to(dtype).clone()
    return _from_numpy(chosen).to(dtype).clone()


def _holds_computed(value):
    return type(value) in (list, tuple) and any(
        isinstance(item, torch.Tensor)
        or getattr(item, "fissure_traced", False)
        or _holds_computed(item)
        for item in value
    )


class TorchBackend(Backend):
    library = "torch"

    def from_numpy(self, array, dtype_name):
        return _as_tensor(array, getattr(torch, dtype_name))

    def numbers(self, value):
        wide = value.detach().cpu()
        return (
            wide.float().numpy() if wide.dtype in (torch.float16, torch.bfloat16) else wide.numpy()
        )

    def is_float(self, value):
        return isinstance(value, torch.Tensor) and value.dtype.is_floating_point

    def is_inexact(self, value):
        return isinstance(value, torch.Tensor) and (
            value.dtype.is_floating_point or value.dtype.is_complex
        )

    def is_weight(self, value):
        return value.requires_grad and value.is_leaf

    def finite(self, value):
        if not self.is_inexact(value):
            return True
        if value.dtype.is_complex:
            value = torch.view_as_real(value.detach().resolve_conj())
        if value.numel() == 0 or value.layout is not torch.strided:
            return True
        # One reduction instead of a mask: a sum of finite values can overflow, so only a finite
        # sum is an answer.
        detached = value.detach()
        if math.isfinite(detached.sum().item()):
            return True
        return bool(torch.isfinite(detached).all())

    def has_nan(self, value):
        return self.is_inexact(value) and bool(torch.isnan(value.detach()).any())

    def statistics(self, value):
        detached = value.detach()
        if detached.numel() == 0:
            return 0.0, 0.0, False, 0
        wide = detached.double()
        return (
            float(wide.min()),
            float(wide.max()),
            bool((wide == wide.round()).all()),
            detached.numel(),
        )

    def extremes(self, value):
        """Smallest and largest element of a tensor that is not empty."""
        detached = value.detach()
        return detached.min().item(), detached.max().item()

    def copy(self, value):
        return value.detach().clone()

    def is_array(self, value):
        return isinstance(value, torch.Tensor)

    def count(self, value):
        return value.numel()

    def epsilon(self, value):
        return torch.finfo(value.dtype).eps

    def dtype_name(self, value):
        return str(value.dtype).replace("torch.", "")

    def integer_limits(self, value):
        if (
            not isinstance(value, torch.Tensor)
            or value.dtype.is_floating_point
            or value.dtype.is_complex
            or value.dtype == torch.bool
        ):
            return None
        info = torch.iinfo(value.dtype)
        return info.min, info.max

    def describe_bad(self, value):
        flat = value.detach().flatten()
        nans, infinite = int(torch.isnan(flat).sum()), torch.isinf(flat)
        positive = int((infinite & (flat.real >= 0)).sum())
        negative = int(infinite.sum()) - positive
        parts = [
            text for count, text in ((nans, "NaN"), (positive, "inf"), (negative, "-inf")) if count
        ]
        return "/".join(parts) + " in %d of %d elements" % (
            nans + positive + negative,
            flat.numel(),
        )

    def call_wider(self, node):
        """The node's own function on double-precision operands."""

        def wide(value):
            if isinstance(value, torch.Tensor):
                value = value.detach()
                return value.double() if value.dtype.is_floating_point else value
            if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
                return type(value)(wide(item) for item in value)
            return value

        arguments = [wide(value) for value in node.arguments]
        keywords = dict(
            (key, wide(value)) for key, value in node.keywords.items() if key != "dtype"
        )
        with torch.no_grad():
            result = node.function(*arguments, **keywords)
        return result[0] if isinstance(result, (tuple, list)) else result

    def any_equal_nonzero_or_lost(self, total, array, constant):
        with torch.no_grad():
            lost = total.detach() == array.detach()
            if bool(lost.any()):
                return True
            held = torch.tensor(constant, dtype=total.dtype)
            return float(held) == 0.0

    def snapshot(self, value):
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, (list, tuple)):
            return (
                type(value)(self.snapshot(item) for item in value)
                if type(value) in (list, tuple)
                else value
            )
        return value

    def is_in_place(self, function):
        name = getattr(function, "__name__", "")
        return (
            (name.endswith("_") and not name.endswith("__"))
            or name == "__setitem__"
            or (name.startswith("__i") and name not in ("__invert__", "__index__", "__init__"))
        )

    def replace(self, value, chosen, monitor, key):
        """The tensor the program gets instead of `value`."""
        chosen = fitted(chosen, value.shape, monitor)
        if chosen is None:
            return None
        info = monitor.trace.inputs[key]
        fresh = _as_tensor(chosen, value.dtype)
        if not value.dtype.is_floating_point:
            return fresh
        if value.requires_grad or info.kind == "weight":
            if value.requires_grad:
                fresh.requires_grad_(True)
            if monitor.policy.connect:
                fresh.requires_grad_(True)
                monitor.trace.leaves[key] = fresh
            return fresh
        if not monitor.policy.connect or key in monitor.settings.leaf_sources:
            return fresh
        fresh.requires_grad_(True)
        monitor.trace.leaves[key] = fresh
        # A copy of the leaf, so that the program may change it in place.
        connected = fresh * 1.0
        monitor.trace.keep.append(fresh)
        return connected

    def assign(self, value, chosen):
        with torch.no_grad():
            value.data.copy_(_as_tensor(chosen, value.dtype))

    def can_connect(self, value):
        if value.requires_grad:
            return value.is_leaf
        return False

    def differentiate(self, node, trace):
        leaves = [(key, leaf) for key, leaf in trace.leaves.items() if leaf.requires_grad]
        return [
            (label, distance, self._pulled(seeds, leaves))
            for label, distance, seeds in steering.distances(self, node, trace)
        ]

    def _pulled(self, seeds, leaves):
        """input key -> gradient (float64) of what the seeds stand for."""
        seeds = [(value, seed) for value, seed in seeds if value.requires_grad]
        if not seeds or not leaves:
            return {}
        try:
            with torch.enable_grad():
                # One number to differentiate: with gradients of outputs given, torch first imports
                # its symbolic shapes, which takes seconds.
                number = sum((value * _from_numpy(seed).to(value)).sum() for value, seed in seeds)
                found = torch.autograd.grad(
                    number, [leaf for _, leaf in leaves], retain_graph=True, allow_unused=True
                )
        except RuntimeError:
            return {}
        gradients = {}
        for (key, _), gradient in zip(leaves, found):
            if gradient is not None:
                gradient = torch.nan_to_num(gradient.detach(), 0.0, 0.0, 0.0)
                if bool((gradient != 0).any()):
                    gradients[key] = gradient.double().cpu().numpy()
        return gradients


class TorchMode(TorchFunctionMode):
    """Sees every torch call of the run and passes it to the monitor."""

    def __init__(self, monitor, backend):
        super().__init__()
        self.monitor = monitor
        self.backend = backend
        self._names = {}

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        known = self._names.get(function)
        if known is None:
            known = self._describe(function)
            self._names[function] = known
        kind, name, swapped = known
        monitor = self.monitor
        if kind == "ignore" or not monitor.active:
            return function(*arguments, **keywords)
        if kind == "grad-mode":
            return self._grad_mode(function, arguments, keywords)
        frame, direct, optimizer = monitor.users.locate(2)
        if frame is None or optimizer and kind != "backward":
            result = function(*arguments, **keywords)
            self._mark(result)
            return result
        if kind == "attribute":
            result = function(*arguments, **keywords)
            if isinstance(result, torch.Tensor) and arguments:
                self._attribute(function, arguments, result, frame)
            return result
        if kind == "requires-grad":
            return self._requires_grad(function, arguments, keywords)
        if kind == "fill":
            for value in arguments[1:]:
                if isinstance(value, torch.Tensor):
                    monitor.met(self.backend, value, frame)
            return function(*arguments, **keywords)
        if kind == "out":
            return self._taken_out(name, function, arguments, keywords, frame)
        if kind == "backward":
            return self._backward(function, arguments, keywords, frame)
        if kind == "source":
            value = function(*arguments, **keywords)
            if direct and isinstance(value, torch.Tensor):
                return self._source(name, arguments, keywords, value, frame)
            self._mark(value)
            return value
        return monitor.operation(
            self.backend,
            name,
            function,
            arguments,
            keywords,
            swapped,
            frame,
            lambda: function(*arguments, **keywords),
        )

    def _describe(self, function):
        raw = getattr(function, "__name__", "")
        name, swapped = names.base_name(function)
        if raw == "_set_grad_enabled":
            return "grad-mode", raw, False
        if raw in ("__get__", "__set__", "__delete__"):
            owner = getattr(getattr(function, "__self__", None), "__name__", "")
            if raw != "__get__" or owner in (
                "shape",
                "dtype",
                "device",
                "requires_grad",
                "is_leaf",
                "grad_fn",
                "layout",
                "ndim",
                "_version",
                "itemsize",
            ):
                return (
                    (
                        "requires-grad"
                        if owner == "requires_grad" and raw == "__set__"
                        else "ignore"
                    ),
                    owner,
                    False,
                )
            return "attribute", owner, False
        if operations.unwatched(raw, "torch"):
            return "ignore", raw, False
        if raw == "requires_grad_":
            return "requires-grad", raw, False
        if raw in ("item", "tolist", "numpy", "__float__", "__array__", "__int__"):
            return "out", raw, False
        if raw in ("backward", "grad"):
            return "backward", raw, False
        if (
            operations.has(name, "fills")
            and (raw.endswith("_") or operations.has(raw, "fills"))
            and operations.source(raw) is None
            and raw not in ("detach",)
        ):
            return "fill", name, False
        if operations.source(raw) is not None:
            return "source", raw, False
        return "operation", name, swapped

    def _mark(self, value):
        values = value if isinstance(value, (tuple, list)) else (value,)
        for item in values:
            if isinstance(item, torch.Tensor) and id(item) not in self.monitor.derived:
                self.monitor.derived.add(id(item))
                if len(self.monitor.trace.keep) < 4 * self.monitor.policy.node_limit:
                    self.monitor.trace.keep.append(item)

    def _source(self, name, arguments, keywords, value, frame):
        monitor = self.monitor
        if name.endswith("_like") or name in ("as_tensor", "tensor") and arguments:
            first = arguments[0]
            if isinstance(first, torch.Tensor):
                if name in ("as_tensor", "tensor"):
                    self._mark(value)
                    return value
            elif getattr(first, "fissure_traced", False):
                return self.from_array(value, first)
            elif _holds_computed(first):
                # Made of numbers that were computed: no data from outside.
                self._mark(value)
                return value
        return monitor.created(self.backend, name, arguments, keywords, value, frame)

    def from_array(self, value, array):
        """A tensor made from a traced NumPy array belongs to that array's input."""
        monitor = self.monitor
        key = monitor.known.get(id(array))
        if key is not None and monitor.policy.connect and self.backend.is_float(value):
            leaf = value.detach().clone().requires_grad_(True)
            monitor.trace.leaves.setdefault(key, leaf)
            value = leaf * 1.0
        self._mark(value)
        return value

    def _attribute(self, function, arguments, result, frame):
        monitor = self.monitor
        owner = arguments[0]
        if isinstance(owner, torch.Tensor) and id(result) not in monitor.derived:
            name = getattr(getattr(function, "__self__", None), "__name__", "")
            if name == "grad":
                self._mark(result)
                return
            if name == "data":
                # Aliases the owner: what the owner is, this is.
                if id(owner) in monitor.known:
                    monitor.known[id(result)] = monitor.known[id(owner)]
                self._mark(result)
                return
            producer = monitor.trace.producers.get(id(owner))
            monitor.met(self.backend, owner, frame)
            if producer is not None:
                monitor.trace.producers[id(result)] = producer
            self._mark(result)

    def _requires_grad(self, function, arguments, keywords):
        tensor = arguments[0]
        monitor = self.monitor
        key = monitor.known.get(id(tensor))
        if key is not None and key in monitor.trace.inputs:
            flag = arguments[1] if len(arguments) > 1 else keywords.get("requires_grad", True)
            if flag:
                # Data that the program optimises stays an input; a constant is a weight then.
                monitor.settings.leaf_sources.add(key)
                info = monitor.trace.inputs[key]
                if info.frozen:
                    info.kind, info.frozen, info.why = "weight", False, "made to require gradients"
                if monitor.policy.connect and tensor.is_leaf:
                    monitor.trace.leaves[key] = tensor
            if not tensor.is_leaf:
                tensor.retain_grad()
                return tensor
        return function(*arguments, **keywords)

    def _grad_mode(self, function, arguments, keywords):
        if self.monitor.policy.connect and arguments and arguments[0] is False:
            frame, _, optimizer = self.monitor.users.locate(3)
            if frame is not None and not optimizer and not self.monitor.settings.honour_no_grad:
                return None
        return function(*arguments, **keywords)

    def _taken_out(self, name, function, arguments, keywords, frame):
        tensor = arguments[0]
        monitor = self.monitor
        monitor.met(self.backend, tensor, frame)
        producer = monitor.trace.producers.get(id(tensor))
        if producer is not None:
            producer.consumed = producer.taken = True
        if tensor.requires_grad and name in ("numpy", "__array__") and monitor.policy.connect:
            arguments = (tensor.detach(),) + tuple(arguments[1:])
        result = function(*arguments, **keywords)
        if type(result) is float:
            monitor.taken[id(result)] = (result, tensor)
        if tensor.dtype.is_floating_point and tensor.numel() <= 16:
            monitor.trace.observed.extend(float(item) for item in tensor.detach().flatten())
        elif not self.backend.finite(tensor):
            monitor.trace.observed.append(float("nan"))
        return result

    def _backward(self, function, arguments, keywords, frame):
        monitor = self.monitor
        loss = arguments[0]
        if isinstance(loss, (tuple, list)) and loss:
            loss = loss[0]
        if isinstance(loss, torch.Tensor):
            if loss.numel() == 1 and function.__name__ == "backward":
                monitor.trace.observed.append(float(loss.detach()))
            producer = monitor.trace.producers.get(id(loss))
            if producer is not None:
                producer.consumed = producer.taken = True
        result = function(*arguments, **keywords)
        self._mark(result)
        if function.__name__ == "grad" and keywords.get("create_graph"):
            # A gradient that the loss is made of (a penalty on it): the step is still to come.
            return result
        monitor.trace.passed_backward()
        if monitor.gradient_watch is not None:
            monitor.gradient_watch.finished(self.backend)
        limit = monitor.policy.backward_limit
        if limit is not None and monitor.trace.backward_calls >= limit:
            monitor.trace.stopped = "training steps"
            raise StopRun()
        return result
