"""Soft assertions: how far each element at an unstable function is from making it fail.

The interface is one function, `direction(values)`: for values of any shape it answers with a
differentiable signed distance per element, positive while the function is safe, zero or negative
where it fails. The analytic ones (analytic.py) come from the failure regions of the registry; a
trained model takes their place by registering a provider that answers in the same form. Distances
are taken *before* saturation: for `log(softmax(z))` they speak of the logits `z`.
"""

from ..watch import operations
from . import analytic, registry

# Functions by name of a registry entry -> list of objects with `label` and `direction(values)`.
# The first provider that answers is used; see `provide`.
_providers = []
# The trained models of the scan, None without any.
_learned = None


def provide(provider):
    """Registers a source of soft assertions: `provider(name, dtype)` gives a list of objects with a
    `label` and `direction(values)`, or None for functions it does not know."""
    _providers.append(provider)


def withdraw(provider):
    _providers.remove(provider)


def use(learned):
    """Takes the trained models of a scan (learned.py)."""
    global _learned
    _learned = learned


def learned():
    return _learned


def source(name):
    """What steers a function, for the report."""
    return _learned.source(name) if _learned is not None else "analytic"


def known(name):
    return registry.known(name)


def arithmetic(name):
    """Fails by magnitude alone, as in every program: watched, not announced."""
    return operations.has(name, "not steered") or registry.arithmetic(name)


def announced(name):
    return known(name) and not arithmetic(name)


def can_fail(name):
    """Worth steering toward: announced, and able to fail on finite operands."""
    return announced(name) and not registry.saturates(name)


def distances(node, trace):
    """(label, elementwise distance) pairs of a torch node; other libraries measure their own."""
    if node.library != "torch":
        return []
    for provider in _providers:
        operand = next(
            (value for value in node.inputs if getattr(value.dtype, "is_floating_point", False)),
            None,
        )
        if operand is None:
            break
        assertions = provider(registry.canonical(node.name), str(operand.dtype)[len("torch.") :])
        if assertions is not None:
            return [(assertion.label, assertion.direction(operand)) for assertion in assertions]
    if _learned is not None:
        found = _learned.distances(node, trace)
        if found is not None:
            return found
    return analytic.distances(node, trace)
