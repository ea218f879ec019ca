"""Formulas of NumPy, JAX and TensorFlow programs that have a stable form: the user's result against it.

Each rule recognises a formula by the producers of a node's operands and computes the same quantity
in a stable way, in long doubles; a difference beyond tolerance is the oracle `stable_algorithm`
(another algorithm) or `rewrite` (the same mathematics, rearranged).
"""

import numpy as np

from ..backends.numpy_backend import ordinary_asarray, plain

# Off by more than this share of the largest element.
RELATIVE = 0.01


def examine(trace):
    """(oracle, node, detail) for the first formula whose result is wrong, or None."""
    for node in trace.nodes:
        if node.library not in ("numpy", "jax", "tensorflow", "tensorflow1") or node.output_bad or node.inputs_bad:
            continue
        rule = _RULES.get(node.name)
        if rule is None:
            continue
        try:
            with np.errstate(all="ignore"):
                answer = rule(node, trace)
                detail = None if answer is None else _differs(node.output, answer[2])
        except (TypeError, IndexError, ValueError, AttributeError):
            # Operands in a form the rule does not know.
            continue
        if detail:
            return answer[0], node, "%s: %s" % (answer[1], detail)
    return None


def _differs(value, reference):
    held, right = wide(value), ordinary_asarray(reference)
    if held.shape != right.shape or held.size == 0 or not bool(np.isfinite(right).all()):
        return None
    error = np.abs(held - right)
    place = int(error.argmax())
    if float(error.max()) > RELATIVE * float(np.abs(right).max()):
        return "%.9g where a stable computation gives %.9g" % (
            float(held.ravel()[place]), float(right.ravel()[place]))
    return None


def wide(value):
    if isinstance(value, np.ndarray):
        return ordinary_asarray(plain(value)).astype(np.longdouble)
    return ordinary_asarray(value).astype(np.longdouble)


def _is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _is_one(value):
    return not hasattr(value, "shape") and isinstance(value, (int, float)) and value == 1


def _one_and(node):
    """The array of `1 + x`, `x + 1`, `1 - x` or `x - 1`; None for another sum."""
    arrays = [value for value in node.operands if _is_array(value)]
    if len(node.operands) == 2 and len(arrays) == 1 and any(_is_one(v) for v in node.operands):
        return arrays[0]
    return None


def _log(node, trace):
    source = trace.producer(node.operands[0])
    if source is None:
        return None
    if source.name in ("add", "sub"):
        small = _one_and(source)
        if small is None or source.name == "sub" and source.operands[1] is not small:
            return None
        origin = trace.producer(small)
        if origin is not None and origin.name == "exp":
            if source.name == "add":
                exponent = wide(origin.operands[0])
                return "rewrite", "log(1 + exp(x))", np.logaddexp(np.longdouble(0), exponent)
            return ("stable_algorithm", "log(1 - exp(x))",
                    np.log(-np.expm1(wide(origin.operands[0]))))
        signed = wide(small) if source.name == "add" else -wide(small)
        return "stable_algorithm", "log(1 + x)", np.log1p(signed)
    if source.name == "sum" and source.inputs:
        inner = trace.producer(source.inputs[0])
        if inner is not None and inner.name == "exp":
            exponent = wide(inner.operands[0])
            top = exponent.max()
            return ("rewrite", "log(sum(exp(x)))",
                    np.log(np.sum(np.exp(exponent - top), **source.keywords)) + top)
    return None


def _sub(node, trace):
    """E[x²] − E[x]², exp(x) − 1, 1 − cos(x)."""
    if len(node.operands) != 2:
        return None
    first, second = trace.producer(node.operands[0]), trace.producer(node.operands[1])
    if first is not None and first.name == "exp" and _is_one(node.operands[1]):
        return "stable_algorithm", "exp(x) - 1", np.expm1(wide(first.operands[0]))
    if second is not None and second.name == "cos" and _is_one(node.operands[0]):
        half = np.sin(wide(second.operands[0]) / 2)
        return "stable_algorithm", "1 - cos(x)", 2 * half * half
    if first is None or second is None or first.name != "mean" or not second.inputs:
        return None
    squares = trace.producer(first.inputs[0])
    mean = trace.producer(second.inputs[0])
    if not _squared(squares) or not _squared(second) or mean is None or mean.name != "mean" \
            or squares.inputs[0] is not mean.inputs[0]:
        return None
    return ("stable_algorithm", "E[x*x] - E[x]**2",
            np.var(wide(mean.inputs[0]), *mean.operands[1:], **mean.keywords))


def _squared(node):
    if node is None or not node.inputs:
        return False
    if node.name == "pow":
        return len(node.operands) > 1 and not hasattr(node.operands[1], "shape") \
            and node.operands[1] == 2
    return node.name == "square" or node.name == "mul" and len(node.operands) == 2 \
        and node.operands[0] is node.operands[1]


def _sqrt(node, trace):
    """sqrt(sum(x²)): squares that underflow."""
    total = trace.producer(node.operands[0])
    if total is None or total.name not in ("sum", "add") or not total.inputs:
        return None
    parts = [trace.producer(value) for value in total.inputs]
    if not all(_squared(part) for part in parts):
        return None
    if total.name == "add":
        if len(parts) != 2:
            return None
        return ("stable_algorithm", "sqrt(a*a + b*b)",
                np.hypot(wide(parts[0].inputs[0]), wide(parts[1].inputs[0])))
    values = wide(parts[0].inputs[0])
    top = np.abs(values).max()
    if not top > 0:
        return None
    return ("stable_algorithm", "sqrt(sum(x * x))",
            np.sqrt(np.sum((values / top) ** 2, **total.keywords)) * top)


_RULES = {"log": _log, "sqrt": _sqrt, "sub": _sub}
