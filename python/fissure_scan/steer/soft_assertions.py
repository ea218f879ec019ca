"""Which functions are steered toward failure, and by what: measured regions (regions.py), rules over
operands (rules.py), or trained models in their place (learned.py).
"""

from ..watch import operations
from . import registry

# The trained models of the scan, None without any.
_learned = None


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
