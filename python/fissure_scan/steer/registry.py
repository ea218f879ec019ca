"""The registry of unstable functions as the runtime sees it.

The facts come from `data/functions` with the plan; nothing here repeats them. What a
running library reports under a more special name (`conv2d`, `addmm`) is looked up under the name of
the function it belongs to.
"""

import math

_PRECISIONS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
# A failure that begins above this happens at magnitudes where everything overflows.
_ABSURD = 1e36
# Ends of domains at or below this are values that data reach by themselves.
_EDGE = 1.01
# What is steered by more than an interval of one operand can fail in other ways than its probe.
_STRUCTURAL = ("conditioning", "spectrum", "cast", "ratio", "matmul", "power", "own")

_functions = {}
_aliases = {}


def load(functions):
    """Takes the entries of the registry: canonical name -> function."""
    _functions.clear()
    _functions.update(functions)
    _aliases.clear()
    for name, function in functions.items():
        if function["family"] == "distribution":
            # `log_prob` alone does not say of which distribution.
            continue
        for alias in function["torch"] + function.get("numpy", []):
            _aliases.setdefault(alias.rsplit(".", 1)[-1].rstrip("_"), name)


def canonical(name):
    """The registry's name of an operation, or None."""
    if name in _functions:
        return name
    return _aliases.get(name)


def _entry(name):
    return _functions.get(canonical(name), {})


def known(name):
    return canonical(name) is not None


def arithmetic(name):
    return bool(_entry(name).get("arithmetic"))


def objective(name):
    """The quantity that a soft assertion drives."""
    return _entry(name).get("objective")


def oracle_applies(name, oracle):
    """Can this oracle see a failure of the function? One that is not registered: any can."""
    oracles = _entry(name).get("oracles")
    return oracles is None or oracle in oracles


def mathematical_range(name):
    """(low, high) of the result; None when there is no bound."""
    limits = _functions.get(name, {}).get("range")
    if not limits:
        return None
    low, high = limits.get("low"), limits.get("high")
    return -math.inf if low is None else low, math.inf if high is None else high


def regions(name, dtype):
    """(intervals that give NaN or Inf, intervals with an infinite gradient) of the probe."""
    found = _entry(name).get("regions", {}).get(_PRECISIONS.get(dtype))
    if not found:
        return [], []
    return found["nonfinite"], found["gradient_nonfinite"]


def ends_at_a_value(name):
    """Does its domain end at a value of ordinary size that still belongs to it (1 of `acos`, 0 of `sqrt`)?
    Exact arithmetic may only touch such a value, rounding goes across."""
    return any(
        not start <= 0.0 <= end and min(abs(start), abs(end)) < _EDGE
        for start, end in regions(name, "float32")[0]
    )


def positive_limit(name, dtype, otherwise):
    """Where failure begins above zero."""
    starts = [start for start, _ in regions(name, dtype)[0] if start > 0]
    return min(starts) if starts else otherwise


def saturates(name):
    """Gives a finite result for every finite operand of sensible size; only what reaches it can be
    wrong."""
    if objective(name) == "gap":
        return True
    if not known(name) or objective(name) in _STRUCTURAL:
        return False
    nonfinite, gradient = regions(name, "float32")
    return not gradient and all(
        start * end > 0 and min(abs(start), abs(end)) >= _ABSURD for start, end in nonfinite
    )
