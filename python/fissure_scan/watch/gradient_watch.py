"""The gradient oracle: a derivative that is not finite where the value is.

Hooks on the tensors of the recorded operations see each gradient as autograd computes it. Going
backward, the first tensor with a non-finite gradient names the operation that turned a finite
gradient into it: the one that consumes this tensor and whose own result had a finite gradient.
"""

import math

import torch


class GradientWatch:
    def __init__(self, monitor):
        self.monitor = monitor
        self.finite = {}  # id of tensor -> its gradient is finite
        self.consumers = {}  # id of tensor -> nodes that use it
        self.hooked = set()
        self.first_bad = None
        self.reported = False

    def register(self, node, outputs, inputs):
        for value in inputs:
            if isinstance(value, torch.Tensor) and value.requires_grad:
                self.consumers.setdefault(id(value), []).append(node)
                self._hook(value)
        for value in outputs:
            if isinstance(value, torch.Tensor) and value.requires_grad:
                self._hook(value)

    def _hook(self, tensor):
        identity = id(tensor)
        if identity in self.hooked:
            return
        self.hooked.add(identity)

        def seen(gradient, identity=identity):
            if gradient is None:
                # One of several results, of which nothing was computed.
                return
            # As in `TorchBackend.finite`: a finite sum is an answer, and cheap.
            good = math.isfinite(gradient.sum().item()) or bool(
                gradient.layout is torch.strided and torch.isfinite(gradient).all()
            )
            if identity not in self.finite or not good:
                self.finite[identity] = good
            if not good and self.first_bad is None:
                self.first_bad = identity

        try:
            tensor.register_hook(seen)
        except RuntimeError:
            self.hooked.discard(identity)

    def finished(self, backend):
        """A backward pass ended: report its first bad gradient, once."""
        if self.first_bad is None or self.reported:
            return
        self.reported = True
        self.monitor.trace.gradient_bad = True
        if self.monitor.trace.failures:
            # The forward pass failed first; the gradient only passes it on.
            return
        candidates = [
            node
            for node in self.consumers.get(self.first_bad, [])
            if node.output is not None and self.finite.get(id(node.output), True)
        ]
        if not candidates:
            return
        blamed = candidates[-1]
        from ..steer import soft_assertions

        for node in candidates:
            if soft_assertions.announced(node.name):
                blamed = node
        self.monitor.fail(
            backend,
            "gradient_nonfinite",
            blamed,
            "the value of %s is finite, its gradient is not" % blamed.name,
        )
