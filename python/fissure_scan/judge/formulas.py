"""Formulas that have a stable form: how each is recognised, and the stable form itself (stable.py).

A rule gets the last operation of the formula and looks at what made its operands (`View`), whatever
library computed them. It answers with the stable result in wider floats and how far the user's may be
from it. Logarithms are judged by their absolute error, because what they are used for (losses,
densities) adds them up; the rest by their error relative to the largest element.
"""

import numpy as np

from . import stable
from .producers import is_array, is_number

# Off by more than this share of the largest element.
RELATIVE = 0.01
# A logarithm off by more than this is wrong.
LOGARITHM = 0.05


class Formula:
    def __init__(self, oracle, text, reference, absolute=0.0, relative=RELATIVE):
        self.oracle = oracle
        self.text = text
        self.reference = reference
        self.absolute = absolute
        self.relative = relative


# Logarithms --------------------------------------------------------------------------------------


def _log_of_one_plus(node, view):
    source = view.made(node.operands[0], "add")
    x = view.with_one(source) if source is not None else None
    if x is None:
        return None
    exponential = view.made(x, "exp")
    if exponential is None:
        return Formula("stable_algorithm", "log(1 + x)", np.log1p(view.wide(x)))
    return Formula(
        "rewrite",
        "log(1 + exp(x))",
        stable.softplus(view.wide(exponential.inputs[0])),
        1e-8,
    )


def _log_of_softmax(node, view):
    found = view.softmax(node.operands[0])
    if found is None:
        return None
    return Formula(
        "rewrite", "log(softmax(x))", stable.log_softmax(view.wide(found[0]), found[1]), 1e-2
    )


def _log_of_sigmoid(node, view):
    logits = view.logistic(node.operands[0])
    if logits is None:
        return None
    return Formula("rewrite", "log(sigmoid(x))", stable.log_sigmoid(logits), 1e-2)


def _log_of_one_minus(node, view):
    source = view.made(node.operands[0], "sub")
    inner = view.one_minus(source) if source is not None else None
    if inner is None:
        return None
    logits = view.logistic(inner)
    if logits is not None:
        return Formula("rewrite", "log(1 - sigmoid(x))", stable.log_sigmoid(-logits), 1e-2)
    exponential = view.made(inner, "exp")
    if exponential is not None:
        return Formula(
            "stable_algorithm",
            "log(1 - exp(x))",
            np.log(-np.expm1(view.wide(exponential.inputs[0]))),
            1e-2,
        )
    return None


def _log_of_sum_of_exponentials(node, view):
    total = view.made(node.operands[0], "sum")
    exponential = view.made(total.inputs[0], "exp") if total is not None else None
    if exponential is None:
        return None
    reference = _logsumexp(view, exponential.inputs[0], total)
    return Formula("stable_algorithm", "log(sum(exp(x)))", reference, LOGARITHM, 0.0)


def _logsumexp(view, value, total):
    """The stable form with the axes of a sum."""
    axis, keep = view.axes(total)
    return stable.logsumexp(view.wide(value), axis, keep)


def _log_of_two_exponentials(node, view):
    total = view.made(node.operands[0], "add")
    first, second = view.two(total) if total is not None else (None, None)
    left, right = view.made(first, "exp"), view.made(second, "exp")
    if left is None or right is None:
        return None
    return Formula(
        "stable_algorithm",
        "log(exp(a) + exp(b))",
        np.logaddexp(view.wide(left.inputs[0]), view.wide(right.inputs[0])),
        LOGARITHM,
        0.0,
    )


def _log_of_cosh(node, view):
    source = view.made(node.operands[0], "cosh")
    if source is None:
        return None
    return Formula(
        "stable_algorithm", "log(cosh(x))", stable.log_cosh(view.wide(source.inputs[0])), 1e-10
    )


# Differences and sums ----------------------------------------------------------------------------


def _exp_minus_one(node, view):
    first, second = view.two(node)
    source = view.made(first, "exp")
    if source is None or not is_number(second, 1):
        return None
    return Formula("stable_algorithm", "exp(x) - 1", np.expm1(view.wide(source.inputs[0])))


def _one_minus_cosine(node, view):
    source = view.made(view.one_minus(node), "cos")
    if source is None:
        return None
    return Formula("rewrite", "1 - cos(x)", 2.0 * np.sin(view.wide(source.inputs[0]) / 2.0) ** 2)


def _one_and_erf(node, view):
    inner, sign = (view.one_minus(node), 1.0) if node.name == "sub" else (view.with_one(node), -1.0)
    source = view.made(inner, "erf")
    if source is None:
        return None
    return Formula(
        "rewrite",
        "1 - erf(x)" if sign > 0 else "1 + erf(x)",
        stable.erfc(sign * view.wide(source.inputs[0])),
        1e-10,
    )


def _log_softmax_by_hand(node, view):
    """x - log(sum(exp(x)))."""
    first, second = view.two(node)
    logarithm = view.made(second, "log")
    total = view.made(logarithm.operands[0], "sum") if logarithm is not None else None
    exponential = view.made(total.inputs[0], "exp") if total is not None else None
    if exponential is None or exponential.inputs[0] is not first:
        return None
    reference = view.wide(first) - _logsumexp(view, first, total)
    return Formula("stable_algorithm", "x - log(sum(exp(x)))", reference, LOGARITHM, 0.0)


def _variance(node, view):
    """E[x²] − E[x]²."""
    first, second = view.two(node)
    squares_mean = view.made(first, "mean")
    mean = view.made(view.squared(second), "mean")
    if squares_mean is None or mean is None:
        return None
    if view.squared(squares_mean.inputs[0]) is not mean.inputs[0]:
        return None
    reference = view.reduce(np.var, view.wide(mean.inputs[0]), mean)
    return Formula("stable_algorithm", "E[x*x] - E[x]**2", reference)


def _gram_distance(node, view):
    """|a|² + |b|² − 2 a·b, all pairs."""
    first, second = view.two(node)
    lengths, product = view.made(first, "add"), view.made(second, "mul")
    if lengths is None or product is None or not any(is_number(v, 2) for v in product.operands):
        return None
    dots = view.made(next(v for v in product.operands if is_array(v)), "matmul")
    if dots is None:
        return None
    sides = []
    for value in lengths.operands:
        total = view.made(view.moved(value), "sum")
        side = view.squared(total.inputs[0]) if total is not None else None
        if side is None or len(side.shape) != 2:
            return None
        sides.append(view.wide(side))
    reference = ((sides[0][:, None, :] - sides[1][None, :, :]) ** 2).sum(-1)
    return Formula("stable_algorithm", "|a|**2 + |b|**2 - 2 a.b", reference)


def _binary_cross_entropy(node, view):
    """y log(p) + (1 − y) log(1 − p) of p = sigmoid(z)."""
    parts = [view.made(value, "mul") for value in view.two(node)]
    if None in parts:
        return None
    logits, target = [], None
    for part in parts:
        for value in part.operands:
            logarithm = view.made(value, "log")
            if logarithm is None:
                continue
            other = next((v for v in part.operands if v is not value), None)
            source = view.made(logarithm.operands[0], "sigmoid")
            if source is not None:
                target = other
            else:
                minus = view.made(logarithm.operands[0], "sub")
                source = view.made(view.one_minus(minus) if minus is not None else None, "sigmoid")
            if source is not None:
                logits.append(source.operands[0])
    if len(logits) != 2 or logits[0] is not logits[1] or not is_array(target):
        return None
    return Formula(
        "rewrite",
        "y*log(p) + (1 - y)*log(1 - p)",
        stable.binary_cross_entropy(view.wide(logits[0]), view.wide(target)),
        1e-2,
    )


def _divergence(node, view):
    """The sum of p (log p − log q) with q = softmax(z)."""
    product = view.made(node.inputs[0] if node.inputs else None, "mul")
    difference = None
    for value in product.operands if product is not None else ():
        difference = difference or view.made(value, "sub")
    first, second = view.two(difference) if difference is not None else (None, None)
    left, right = view.made(first, "log"), view.made(second, "log")
    found = view.softmax(right.operands[0]) if right is not None else None
    if left is None or found is None or not any(v is left.operands[0] for v in product.operands):
        return None
    p = view.wide(left.operands[0])
    terms = stable.xlogy(p, p) - p * stable.log_softmax(view.wide(found[0]), found[1])
    return Formula(
        "rewrite",
        "sum(p * (log(p) - log(softmax(z))))",
        view.reduce(np.sum, terms, node),
        LOGARITHM,
        0.0,
    )


# Roots, quotients and powers ---------------------------------------------------------------------


def _length(node, view):
    total = view.made(node.operands[0], "sum", "mean")
    x = view.squared(total.inputs[0]) if total is not None else None
    if x is None:
        return None
    values = view.wide(x)
    top = np.abs(values).max()
    if not top > 0:
        return None
    reduce = np.sum if total.name == "sum" else np.mean
    return Formula(
        "stable_algorithm",
        "sqrt(%s(x * x))" % total.name,
        np.sqrt(view.reduce(reduce, (values / top) ** 2, total)) * top,
    )


def _hypotenuse(node, view):
    total = view.made(node.operands[0], "add")
    first, second = view.two(total) if total is not None else (None, None)
    x, y = view.squared(first), view.squared(second)
    if x is None or y is None:
        return None
    return Formula("stable_algorithm", "sqrt(x*x + y*y)", np.hypot(view.wide(x), view.wide(y)))


def _softmax_by_hand(node, view):
    first, second = view.two(node)
    exponential, total = view.made(first, "exp"), view.made(second, "sum")
    if exponential is None or total is None or total.inputs[0] is not first:
        return None
    logits = exponential.inputs[0]
    reference = np.exp(view.wide(logits) - _logsumexp(view, logits, total))
    return Formula("rewrite", "exp(x) / sum(exp(x))", reference)


def _hyperbolic(node, view):
    """(exp(x) − exp(−x)) over 2, or over exp(x) + exp(−x)."""
    first, second = view.two(node)
    x = _opposite_exponentials(view.made(first, "sub"), view)
    if x is None:
        return None
    if is_number(second, 2):
        return Formula("stable_algorithm", "(exp(x) - exp(-x)) / 2", np.sinh(view.wide(x)))
    if _opposite_exponentials(view.made(second, "add"), view) is x:
        return Formula(
            "stable_algorithm", "(exp(x) - exp(-x)) / (exp(x) + exp(-x))", np.tanh(view.wide(x))
        )
    return None


def _opposite_exponentials(node, view):
    """x of a sum or difference of exp(x) and exp(−x)."""
    first, second = view.two(node) if node is not None else (None, None)
    left, right = view.made(first, "exp"), view.made(second, "exp")
    if left is None or right is None:
        return None
    x = left.inputs[0]
    return x if view.negated(right.inputs[0]) is x else None


def _cosine(node, view):
    """a·b / (|a| |b| + ε)."""
    first, second = view.two(node)
    total = view.made(first, "sum")
    product = view.made(total.inputs[0], "mul") if total is not None else None
    shifted = view.made(second, "add")
    if shifted is not None and any(isinstance(v, float) for v in shifted.operands):
        second = next(v for v in shifted.operands if is_array(v))
    lengths = view.made(second, "mul")
    norms = [view.made(value, "norm") for value in lengths.operands] if lengths else [None]
    if product is None or None in norms or len(product.operands) != 2:
        return None
    a, b = product.operands
    if set(map(id, (a, b))) != set(id(norm.inputs[0]) for norm in norms):
        return None
    scales = [float(np.abs(view.wide(value)).max()) or 1.0 for value in (a, b)]
    a, b = view.wide(a) / scales[0], view.wide(b) / scales[1]
    squares = [view.reduce(np.sum, value * value, total) for value in (a, b)]
    return Formula(
        "stable_algorithm",
        "a.b / (|a| |b|)",
        view.reduce(np.sum, a * b, total) / np.sqrt(squares[0] * squares[1]),
        0.01,
    )


def _geometric_mean(node, view):
    base, exponent = view.two(node)
    product = view.made(base, "prod")
    if product is None or not isinstance(exponent, float):
        return None
    x = view.wide(product.inputs[0])
    if not bool((x > 0).all()):
        return None
    return Formula(
        "stable_algorithm",
        "prod(x) ** (1/n)",
        np.exp(view.reduce(np.sum, np.log(x), product) * exponent),
    )


RULES = {
    "log": (
        _log_of_one_plus,
        _log_of_softmax,
        _log_of_sigmoid,
        _log_of_one_minus,
        _log_of_sum_of_exponentials,
        _log_of_two_exponentials,
        _log_of_cosh,
    ),
    "sub": (
        _exp_minus_one,
        _one_minus_cosine,
        _one_and_erf,
        _log_softmax_by_hand,
        _variance,
        _gram_distance,
    ),
    "add": (_one_and_erf, _binary_cross_entropy),
    "sum": (_divergence,),
    "sqrt": (_length, _hypotenuse),
    "div": (_softmax_by_hand, _hyperbolic, _cosine),
    "pow": (_geometric_mean,),
}
