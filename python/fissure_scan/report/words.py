"""A finding in a sentence: what the failing input is, what happens to the result, how likely it is.

And the advice that goes with it, from what the failing operand was made of: a logarithm of a softmax
wants `log_softmax`, wherever the softmax stands.
"""

import os

import numpy as np

from ..judge.producers import of_node
from ..watch import operations


# The failing input -------------------------------------------------------------------------------


def sentence(found):
    parts = [text for text in (_inputs(found), _effect(found), _likelihood(found)) if text]
    return "; ".join(parts) + "."


def _inputs(found):
    texts = []
    if found.variation is not None:
        texts.append(found.variation.label)
    alike = _alike(found)
    if alike:
        return "With " + ", ".join(texts + [alike])
    for key, value in list(found.overrides.items())[:3]:
        variable = found.space.by_key.get(key)
        if variable is not None:
            texts.append("%s: %s" % (variable.name, pattern(value, variable.own)))
    if not texts:
        return "On ordinary made-up data" if found.space.made_up() else "On the program's own data"
    return "With " + ", ".join(texts)


def _alike(found):
    """Rows that two inputs have in common, and had not in the program's own run."""
    if len(found.overrides) != 2:
        return None
    (first, one), (second, two) = found.overrides.items()
    variables = [found.space.by_key.get(key) for key in (first, second)]
    one, two = np.asarray(one), np.asarray(two)
    if None in variables or one.shape != two.shape or one.ndim < 2 or not one.size:
        return None
    own = [variable.own for variable in variables]
    if own[0].shape != one.shape or own[1].shape != one.shape:
        return None
    same = [
        index
        for index in range(len(one))
        if one[index].any()
        and (one[index] == two[index]).all()
        and not (own[0][index] == own[1][index]).all()
    ]
    if not same:
        return None
    return "%s and %s: row%s %s the same in both" % (
        variables[0].name,
        variables[1].name,
        "s" if len(same) > 1 else "",
        _listed(same) + (" are" if len(same) > 1 else " is"),
    )


def pattern(value, own):
    """What is special about an array, in words."""
    value = np.asarray(value)
    if value.size == 0:
        return "empty"
    if not value.any():
        return "all zeros"
    if value.size > 1 and (value == value.flat[0]).all():
        return "all elements equal %.4g" % value.flat[0]
    if value.shape == own.shape:
        changed = np.flatnonzero(value.ravel() != own.ravel())
        if changed.size == 0:
            return "its own values"
        if changed.size == 1:
            return "one element is %.4g" % value.flat[changed[0]]
        text = _rows(value, own) if value.ndim >= 2 else None
        if text:
            return text
        gone = _gone(value, own)
        if gone is not None:
            return "%g does not occur" % gone
        held = value.ravel()[changed]
        if (held == held[0]).all():
            return "%d elements are %.4g" % (changed.size, held[0])
    largest = float(np.abs(value).max())
    scale = float(np.abs(own).max()) if own.size else 1.0
    if scale and largest >= 10.0 * scale:
        return "values up to %.3g, %.3g times the usual" % (largest, largest / scale)
    if scale and largest <= scale / 100.0:
        return "tiny values, at most %.3g" % largest
    return "values from %.4g to %.4g" % (float(value.min()), float(value.max()))


def _gone(value, own):
    """The one of a few whole numbers that is no longer there; None where it is not that."""
    if (value != np.rint(value)).any() or (own != np.rint(own)).any():
        return None
    before = np.unique(own)
    gone = np.setdiff1d(before, value)
    return gone[0] if 2 < before.size <= 256 and gone.size == 1 else None


def _rows(value, own):
    columns = value.reshape(-1, value.shape[-1])
    flat = [
        index
        for index in range(columns.shape[1])
        if len(columns) > 1 and (columns[:, index] == columns[0, index]).all()
    ]
    if flat and len(flat) < columns.shape[1]:
        return "column%s %s constant" % (
            "s" if len(flat) > 1 else "",
            _listed(flat) + (" are" if len(flat) > 1 else " is"),
        )
    if flat:
        return "all rows are equal"
    rows = value.reshape(value.shape[0], -1)
    zero = [index for index in range(len(rows)) if not rows[index].any()]
    if zero:
        return "row%s %s zero" % (
            "s" if len(zero) > 1 else "",
            _listed(zero) + (" are" if len(zero) > 1 else " is"),
        )
    even = [
        index
        for index in range(len(columns))
        if columns.shape[1] > 1 and (columns[index] == columns[index, 0]).all()
    ]
    if even:
        return "row%s %s constant" % (
            "s" if len(even) > 1 else "",
            _listed(even) + (" are" if len(even) > 1 else " is"),
        )
    equal = [
        (one, two)
        for one in range(min(8, len(rows)))
        for two in range(one)
        if (rows[one] == rows[two]).all()
    ]
    if equal:
        return "rows %d and %d are equal" % (equal[0][1], equal[0][0])
    return None


def _listed(numbers):
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return "%d to %d" % (numbers[0], numbers[-1])
    if len(numbers) > 4:
        return ", ".join(map(str, numbers[:4])) + ", …"
    return ", ".join(map(str, numbers))


# What happens, and how likely --------------------------------------------------------------------


def _effect(found):
    name = found.failure.name
    if found.consequence is not None:
        return "%s fails unseen, and %s" % (name, found.consequence)
    if found.oracle == "crash":
        return "the process dies in %s" % name
    if found.oracle == "hang":
        return "the call does not come back"
    if found.failure.raises:
        return "%s refuses its matrix, and the program ends with an exception" % name
    if found.oracle == "nonfinite" and found.failure.library == "math":
        return "%s of plain numbers raises an exception" % name
    if found.oracle == "nonfinite":
        return "%s gives NaN or Inf, which reaches the result" % name
    if found.oracle == "hidden_nonfinite":
        return "%s gives NaN or Inf, which a later %s covers" % (name, found.hidden_by)
    if found.oracle == "gradient_nonfinite":
        return "the gradient of %s is NaN or Inf" % name
    if found.oracle == "wraparound":
        return (
            "the conversion wraps around"
            if name == "cast"
            else "the result of %s does not fit its type and wraps around" % name
        )
    return "the digits of %s are wrong" % name


def _likelihood(found):
    if found.level == 0:
        return "happens on every run" if not found.space.made_up() else "ordinary values are enough"
    if found.level == 4:
        return "after some training steps"
    if found.level == 3 and found.heaviest > found.GROWN:
        return "unlikely: training hardly makes weights so large"
    if found.level == 3:
        return "needs weights as training can make them"
    special = [np.asarray(value) for value in found.overrides.values()]
    if found.variation is not None and not found.overrides:
        return found.variation.likely
    if (
        special
        and found.ratio <= 1e4
        and all(
            value.size and (not value.any() or (value == value.flat[0]).all()) for value in special
        )
    ):
        return "likely: constant, padded or silent data look like this"
    if found.level <= 1:
        return "likely: inside the range of the program's own data"
    if found.ratio <= 100.0:
        return "plausible: within 100 times the usual values"
    if found.ratio <= 1e4:
        return "possible with data that are not normalised"
    return "unlikely: only at extreme magnitudes"


# Advice ------------------------------------------------------------------------------------------

_FINDERS = {
    "log": (
        ("softmax", "return `log_softmax` there, or give the logits to `cross_entropy`"),
        ("sigmoid", "use `logsigmoid`, or give the logits to `binary_cross_entropy_with_logits`"),
        ("sum", "a logarithm of a sum of exponentials is `logsumexp`"),
        ("exp", "the logarithm of an exponential is its argument: leave both out"),
        ("norm", "keep the norm above 0 with `clamp_min` where it is made"),
        ("det", "use `slogdet`, which does not overflow or underflow"),
        ("cumsum", "a logarithm of a running sum of exponentials is `logcumsumexp`"),
        ("prod", "sum the logarithms of the factors instead"),
        ("cumprod", "add up the logarithms of the factors (`cumsum`) instead"),
        ("tanh", "`log(1 - tanh(u)²)` is `2 * (log 2 - u - softplus(-2 * u))`"),
        ("div", "subtract the logarithms instead, and keep both operands above 0"),
    ),
    "div": (
        ("std", "add a small constant to it there (`std + eps`): it is 0 for constant data"),
        ("var", "add a small constant to it there: it is 0 for constant data"),
        ("norm", "use `normalize`, or add a small constant there: it is 0 for a zero vector"),
        ("exp", "use `softmax`, which subtracts the maximum first"),
        ("sum", "keep the sum away from 0 there: everything in it may be 0"),
        ("sub", "the difference is 0 where both are equal: keep it away from 0"),
        ("mean", "keep the mean away from 0 there"),
    ),
    "sqrt": (
        (
            "sub",
            "a difference of squares is negative by rounding: `clamp_min(0)`, or "
            "subtract the mean first",
        ),
        ("sum", "add a small constant inside the root: its gradient at 0 is infinite"),
        ("var", "add a small constant inside the root"),
    ),
    "exp": (
        ("", "bound its argument (`clamp`) where it is made: a log-variance, a rate, a ratio"),
    ),
    "inverse": (("", "solve with a small multiple of the identity added to the matrix"),),
    "cholesky": (("", "add a small multiple of the identity to the matrix"),),
    "acos": (("", "clamp its operand to [-1, 1], or use `atan2`"),),
}
_FINDERS["rsqrt"] = _FINDERS["sqrt"]
for _name in ("log2", "log10"):
    _FINDERS[_name] = _FINDERS["log"]


# `log(1 - sigmoid(x))`, `log(1 - tanh(x) ** 2)`, `log(abs(det(m)))`: what is inside still decides.
_THROUGH = {"log": ("sub", "pow", "square", "mul", "abs")}


def origin(failure, trace, operands):
    """The site in another function where a softmax was made whose logarithm fails, if nothing but that
    logarithm and choices (`argmax`) take it; else None."""
    if failure.name != "log" or trace is None or not operands:
        return None
    node = trace.producer(operands[0])
    for _ in range(6):
        if node is None or node.name == "softmax" or not node.inputs:
            break
        small = node.name == "add" and any(isinstance(value, float) for value in node.operands)
        if not operations.looked_through(node.name) and not small:
            return None
        node = trace.producer(node.inputs[0])
    if node is None or node.name != "softmax" or node.site.scope == failure.site.scope:
        return None
    made = set(map(id, node.outputs))
    for user in trace.nodes:
        if user.index <= node.index or not any(id(value) in made for value in user.inputs):
            continue
        if operations.looked_through(user.name) or user.name == "add":
            made.update(map(id, user.outputs))
        elif user.site != failure.site and not operations.has(user.name, "decides"):
            return None
    return node.site.as_json()


def _logistic(failure, trace):
    """Is it the exponential of `1 / (1 + exp(-x))`?"""
    made = set()
    for node in trace.nodes:
        if node.index == failure.index:
            made.update(map(id, node.outputs))
        elif node.name == "add" and 1 in _numbers(node) and made & set(map(id, node.inputs)):
            made = set(map(id, node.outputs))
        elif node.name == "div" and made & set(map(id, node.operands[1:2])):
            return 1 in _numbers(node)
    return False


def _of_logistic(failure, trace, operand):
    """What to write for the logarithm of a sigmoid that is written by hand, or of 1 minus one."""
    if failure.name != "log" or trace is None:
        return None
    node = trace.producer(operand)
    if node is None:
        return None
    view = of_node(trace, node)
    if node.name == "sub" and view.logistic(view.one_minus(node)) is not None:
        return "`log(1 - 1 / (1 + exp(-x)))` is `logsigmoid(-x)`; a cross entropy of such probabilities takes the logits"
    if node.name != "sigmoid" and view.logistic(operand) is not None:
        return "`log(1 / (1 + exp(-x)))` is `logsigmoid(x)`; a cross entropy of such probabilities takes the logits"
    return None


def _numbers(node):
    return [value for value in node.operands if isinstance(value, (int, float))]


def _summed(failure, trace):
    """Are exponentials added up or divided by their sum, as in a softmax?"""
    made = set()
    for node in trace.nodes:
        if node.index == failure.index or any(id(value) in made for value in node.inputs):
            adds = operations.has(node.name, "adds up") or node.name == "div"
            if node.index != failure.index and adds:
                return True
            if node.index == failure.index or operations.moved(node.name) or node.name == "mul":
                made.update(id(value) for value in node.outputs)
    return False


def advice(failure, trace, operands):
    """What to write instead, from what the failing operand was made of; None when nothing fits."""
    if failure.oracle == "wraparound" and failure.name != "cast":
        return "line %d: convert the operands of `%s` to a wider, signed type first" % (
            failure.site.line,
            failure.name,
        )
    rules = _FINDERS.get(failure.name)
    if rules is None or trace is None:
        return None
    wanted = operands[1:2] if failure.name == "div" and len(operands) > 1 else operands[:1]
    for value in wanted:
        text = _of_logistic(failure, trace, value)
        if text is not None:
            return "line %d: `%s`: %s" % (failure.site.line, failure.name, text)
        node, averaged = trace.producer(value), False
        for _ in range(6):
            if node is None:
                break
            for name, text in rules:
                if name == node.name == "exp" and averaged:
                    text = "a logarithm of a mean of exponentials is `logsumexp` minus the logarithm of their number"
                if name == node.name:
                    return "line %d: the operand of `%s` comes from `%s` at %s:%d in `%s`: %s" % (
                        failure.site.line,
                        failure.name,
                        node.name,
                        os.path.basename(node.site.file),
                        node.site.line,
                        node.site.scope,
                        text,
                    )
            if not node.inputs or not (
                operations.looked_through(node.name) or node.name in _THROUGH.get(failure.name, ())
            ):
                break
            averaged = averaged or operations.has(node.name, "averages")
            arrays = [value for value in node.inputs if trace.producer(value) is not None]
            node = trace.producer(arrays[0]) if arrays else None
    if failure.name == "exp" and _logistic(failure, trace):
        rules = (
            (
                "",
                "`1 / (1 + exp(-x))` is `sigmoid`, which does not overflow; its logarithm is `logsigmoid`, "
                "and a cross entropy of it takes the logits",
            ),
        )
    elif failure.name == "exp" and _summed(failure, trace):
        rules = (
            ("", "subtract the maximum first, or stay in logarithms (`logsumexp`, `softmax`)"),
        )
    for name, text in rules:
        if not name:
            return "line %d: `%s`: %s" % (failure.site.line, failure.name, text)
    return None
