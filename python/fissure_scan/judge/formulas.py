"""Formulas that have a stable form: how each is recognised, and the stable form itself.

A rule gets the last operation of the formula and looks at what made its operands. It answers with the
stable result in double precision and how far the user's may be from it. Logarithms are judged by
their absolute error, because what they are used for (losses, densities) adds them up; the rest by
their error relative to the largest element.
"""

import math

import torch

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


# What the operands are ---------------------------------------------------------------------------

_MOVING = ("view", "reshape", "squeeze", "unsqueeze", "getitem", "expand", "contiguous")


def _is(value, number):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == number


def _wide(tensor):
    return tensor.detach().double()


def _tensor(value):
    return isinstance(value, torch.Tensor)


def _made(trace, value, *names):
    """The operation that made a tensor, if it is one of these."""
    node = trace.producer(value) if _tensor(value) else None
    return node if node is not None and node.name in names else None


def _moved(trace, value):
    """The tensor before operations that only add or drop axes of size one."""
    node = _made(trace, value, *_MOVING)
    while node is not None and node.inputs and node.inputs[0].numel() == node.output.numel():
        value = node.inputs[0]
        node = _made(trace, value, *_MOVING)
    return value


def _two(node):
    return node.operands if len(node.operands) == 2 else (None, None)


def _with_one(node):
    """The tensor of `1 + x` or `x + 1`."""
    first, second = _two(node)
    if _is(first, 1) and _tensor(second):
        return second
    return first if _is(second, 1) and _tensor(first) else None


def _one_minus(node):
    """The tensor of `1 - x`."""
    first, second = _two(node)
    return second if node.name == "sub" and _is(first, 1) and _tensor(second) else None


def _squared(trace, value):
    """What a tensor is the square of."""
    node = _made(trace, value, "square", "pow", "mul")
    if node is None:
        return None
    if node.name == "pow" and not (len(node.operands) > 1 and _is(node.operands[1], 2)):
        return None
    if node.name == "mul" and not (len(node.operands) == 2
                                   and node.operands[0] is node.operands[1]):
        return None
    return node.inputs[0]


def _options(node):
    """Positional and keyword arguments of a reduction after its tensor."""
    return node.operands[1:], dict((key, value) for key, value in node.keywords.items()
                                   if key != "dtype")


def _negated(trace, value):
    """x where the tensor is -x."""
    node = _made(trace, value, "neg")
    if node is not None:
        return node.inputs[0]
    node = _made(trace, value, "mul")
    if node is not None and any(_is(operand, -1) for operand in node.operands):
        return next(operand for operand in node.operands if _tensor(operand))
    return None


def _softmax(trace, value):
    """(logits, dim) of a softmax."""
    node = _made(trace, value, "softmax")
    if node is None:
        return None
    dim = node.keywords.get("dim", node.operands[1] if len(node.operands) > 1 else -1)
    return node.operands[0], dim


# Logarithms --------------------------------------------------------------------------------------

def _log_of_one_plus(node, trace):
    source = _made(trace, node.operands[0], "add")
    x = _with_one(source) if source is not None else None
    if x is None:
        return None
    exponential = _made(trace, x, "exp")
    if exponential is None:
        return Formula("stable_algorithm", "log(1 + x)", torch.log1p(_wide(x)))
    return Formula("rewrite", "log(1 + exp(x))",
                   torch.nn.functional.softplus(_wide(exponential.inputs[0])), 1e-8)


def _log_of_softmax(node, trace):
    found = _softmax(trace, node.operands[0])
    if found is None:
        return None
    return Formula("rewrite", "log(softmax(x))", torch.log_softmax(_wide(found[0]), found[1]), 1e-2)


def _log_of_sigmoid(node, trace):
    source = _made(trace, node.operands[0], "sigmoid")
    if source is None:
        return None
    return Formula("rewrite", "log(sigmoid(x))",
                   torch.nn.functional.logsigmoid(_wide(source.operands[0])), 1e-2)


def _log_of_one_minus(node, trace):
    source = _made(trace, node.operands[0], "sub")
    inner = _one_minus(source) if source is not None else None
    if inner is None:
        return None
    sigmoid = _made(trace, inner, "sigmoid")
    if sigmoid is not None:
        return Formula("rewrite", "log(1 - sigmoid(x))",
                       torch.nn.functional.logsigmoid(-_wide(sigmoid.operands[0])), 1e-2)
    exponential = _made(trace, inner, "exp")
    if exponential is not None:
        return Formula("stable_algorithm", "log(1 - exp(x))",
                       torch.log(-torch.expm1(_wide(exponential.inputs[0]))), 1e-2)
    return None


def _log_of_sum_of_exponentials(node, trace):
    total = _made(trace, node.operands[0], "sum")
    exponential = _made(trace, total.inputs[0], "exp") if total is not None else None
    if exponential is None:
        return None
    reference = _logsumexp(exponential.inputs[0], total)
    return None if reference is None else Formula(
        "stable_algorithm", "log(sum(exp(x)))", reference, LOGARITHM, 0.0)


def _logsumexp(tensor, total):
    """The stable form with the axes of a sum."""
    positional, keywords = _options(total)
    dim = keywords.get("dim", positional[0] if positional else None)
    keep = bool(keywords.get("keepdim", positional[1] if len(positional) > 1 else False))
    wide = _wide(tensor)
    if dim is None:
        dim = tuple(range(wide.dim()))
        return torch.logsumexp(wide, dim) if dim else None
    return torch.logsumexp(wide, dim, keepdim=keep)


def _log_of_two_exponentials(node, trace):
    total = _made(trace, node.operands[0], "add")
    first, second = _two(total) if total is not None else (None, None)
    left, right = _made(trace, first, "exp"), _made(trace, second, "exp")
    if left is None or right is None:
        return None
    return Formula("stable_algorithm", "log(exp(a) + exp(b))", torch.logaddexp(
        _wide(left.inputs[0]), _wide(right.inputs[0])), LOGARITHM, 0.0)


def _log_of_cosh(node, trace):
    source = _made(trace, node.operands[0], "cosh")
    if source is None:
        return None
    x = _wide(source.inputs[0]).abs()
    # log cosh x = log(1 + 2 sinh²(x/2)), and x - log 2 where that overflows.
    small = torch.log1p(2.0 * torch.sinh(x.clamp(max=20.0) / 2.0) ** 2)
    return Formula("stable_algorithm", "log(cosh(x))",
                   torch.where(x < 20.0, small, x - math.log(2.0)), 1e-10)


# Differences and sums ----------------------------------------------------------------------------

def _exp_minus_one(node, trace):
    first, second = _two(node)
    source = _made(trace, first, "exp")
    if source is None or not _is(second, 1):
        return None
    return Formula("stable_algorithm", "exp(x) - 1", torch.expm1(_wide(source.inputs[0])))


def _one_minus_cosine(node, trace):
    source = _made(trace, _one_minus(node), "cos")
    if source is None:
        return None
    return Formula("rewrite", "1 - cos(x)",
                   2.0 * torch.sin(_wide(source.inputs[0]) / 2.0) ** 2)


def _one_and_erf(node, trace):
    inner, sign = (_one_minus(node), 1.0) if node.name == "sub" else (_with_one(node), -1.0)
    source = _made(trace, inner, "erf")
    if source is None:
        return None
    return Formula("rewrite", "1 - erf(x)" if sign > 0 else "1 + erf(x)",
                   torch.special.erfc(sign * _wide(source.inputs[0])), 1e-10)


def _log_softmax_by_hand(node, trace):
    """x - log(sum(exp(x)))."""
    first, second = _two(node)
    logarithm = _made(trace, second, "log")
    total = _made(trace, logarithm.operands[0], "sum") if logarithm is not None else None
    exponential = _made(trace, total.inputs[0], "exp") if total is not None else None
    if exponential is None or exponential.inputs[0] is not first:
        return None
    stable = _logsumexp(first, total)
    return None if stable is None else Formula(
        "stable_algorithm", "x - log(sum(exp(x)))", _wide(first) - stable, LOGARITHM, 0.0)


def _variance(node, trace):
    """E[x²] − E[x]²."""
    first, second = _two(node)
    squares_mean = _made(trace, first, "mean")
    mean = _made(trace, _squared(trace, second), "mean")
    if squares_mean is None or mean is None:
        return None
    if _squared(trace, squares_mean.inputs[0]) is not mean.inputs[0]:
        return None
    wide = _wide(mean.inputs[0])
    positional, keywords = _options(mean)
    centred = wide - (wide.mean(*positional, **dict(keywords, keepdim=True))
                      if positional or keywords else wide.mean())
    return Formula("stable_algorithm", "E[x*x] - E[x]**2",
                   (centred * centred).mean(*positional, **keywords))


def _gram_distance(node, trace):
    """|a|² + |b|² − 2 a·b, all pairs."""
    first, second = _two(node)
    lengths, product = _made(trace, first, "add"), _made(trace, second, "mul")
    if lengths is None or product is None or not any(_is(v, 2) for v in product.operands):
        return None
    dots = _made(trace, next(v for v in product.operands if _tensor(v)), "matmul")
    if dots is None:
        return None
    sides = []
    for value in lengths.operands:
        total = _made(trace, _moved(trace, value), "sum")
        side = _squared(trace, total.inputs[0]) if total is not None else None
        if side is None or side.dim() != 2:
            return None
        sides.append(_wide(side))
    reference = (sides[0][:, None, :] - sides[1][None, :, :]).square().sum(-1)
    return Formula("stable_algorithm", "|a|**2 + |b|**2 - 2 a.b", reference)


def _binary_cross_entropy(node, trace):
    """y log(p) + (1 − y) log(1 − p) of p = sigmoid(z)."""
    parts = [_made(trace, value, "mul") for value in _two(node)]
    if None in parts:
        return None
    logits, target = [], None
    for part in parts:
        for value in part.operands:
            logarithm = _made(trace, value, "log")
            if logarithm is None:
                continue
            other = next((v for v in part.operands if v is not value), None)
            source = _made(trace, logarithm.operands[0], "sigmoid")
            if source is not None:
                target = other
            else:
                minus = _made(trace, logarithm.operands[0], "sub")
                source = _made(trace, _one_minus(minus) if minus is not None else None, "sigmoid")
            if source is not None:
                logits.append(source.operands[0])
    if len(logits) != 2 or logits[0] is not logits[1] or not _tensor(target):
        return None
    return Formula("rewrite", "y*log(p) + (1 - y)*log(1 - p)",
                   -torch.nn.functional.binary_cross_entropy_with_logits(
                       _wide(logits[0]), _wide(target), reduction="none"), 1e-2)


def _divergence(node, trace):
    """The sum of p (log p − log q) with q = softmax(z)."""
    product = _made(trace, node.inputs[0] if node.inputs else None, "mul")
    difference = None
    for value in product.operands if product is not None else ():
        difference = difference or _made(trace, value, "sub")
    first, second = _two(difference) if difference is not None else (None, None)
    left, right = _made(trace, first, "log"), _made(trace, second, "log")
    found = _softmax(trace, right.operands[0]) if right is not None else None
    if left is None or found is None or not any(v is left.operands[0] for v in product.operands):
        return None
    p = _wide(left.operands[0])
    positional, keywords = _options(node)
    terms = torch.xlogy(p, p) - p * torch.log_softmax(_wide(found[0]), found[1])
    return Formula("rewrite", "sum(p * (log(p) - log(softmax(z))))",
                   torch.sum(terms, *positional, **keywords), LOGARITHM, 0.0)


# Roots, quotients and powers ---------------------------------------------------------------------

def _length(node, trace):
    total = _made(trace, node.operands[0], "sum", "mean")
    x = _squared(trace, total.inputs[0]) if total is not None else None
    if x is None:
        return None
    positional, keywords = _options(total)
    reduce = torch.sum if total.name == "sum" else torch.mean
    return Formula("stable_algorithm", "sqrt(%s(x * x))" % total.name,
                   reduce(_wide(x).square(), *positional, **keywords).sqrt())


def _hypotenuse(node, trace):
    total = _made(trace, node.operands[0], "add")
    first, second = _two(total) if total is not None else (None, None)
    x, y = _squared(trace, first), _squared(trace, second)
    if x is None or y is None:
        return None
    return Formula("stable_algorithm", "sqrt(x*x + y*y)", torch.hypot(_wide(x), _wide(y)))


def _softmax_by_hand(node, trace):
    first, second = _two(node)
    exponential, total = _made(trace, first, "exp"), _made(trace, second, "sum")
    if exponential is None or total is None or total.inputs[0] is not first:
        return None
    stable = _logsumexp(exponential.inputs[0], total)
    return None if stable is None else Formula(
        "rewrite", "exp(x) / sum(exp(x))", torch.exp(_wide(exponential.inputs[0]) - stable))


def _hyperbolic(node, trace):
    """(exp(x) − exp(−x)) over 2, or over exp(x) + exp(−x)."""
    first, second = _two(node)
    x = _opposite_exponentials(_made(trace, first, "sub"), trace)
    if x is None:
        return None
    if _is(second, 2):
        return Formula("stable_algorithm", "(exp(x) - exp(-x)) / 2", torch.sinh(_wide(x)))
    if _opposite_exponentials(_made(trace, second, "add"), trace) is x:
        return Formula("stable_algorithm", "(exp(x) - exp(-x)) / (exp(x) + exp(-x))",
                       torch.tanh(_wide(x)))
    return None


def _opposite_exponentials(node, trace):
    """x of a sum or difference of exp(x) and exp(−x)."""
    first, second = _two(node) if node is not None else (None, None)
    left, right = _made(trace, first, "exp"), _made(trace, second, "exp")
    if left is None or right is None:
        return None
    x = left.inputs[0]
    return x if _negated(trace, right.inputs[0]) is x else None


def _cosine(node, trace):
    """a·b / (|a| |b| + ε)."""
    first, second = _two(node)
    total = _made(trace, first, "sum")
    product = _made(trace, total.inputs[0], "mul") if total is not None else None
    shifted = _made(trace, second, "add")
    if shifted is not None and any(isinstance(v, float) for v in shifted.operands):
        second = next(v for v in shifted.operands if _tensor(v))
    lengths = _made(trace, second, "mul")
    norms = [_made(trace, value, "norm") for value in lengths.operands] if lengths else [None]
    if product is None or None in norms or len(product.operands) != 2:
        return None
    a, b = product.operands
    if set(map(id, (a, b))) != set(id(norm.inputs[0]) for norm in norms):
        return None
    positional, keywords = _options(total)
    scales = [float(_wide(value).abs().max()) or 1.0 for value in (a, b)]
    a, b = _wide(a) / scales[0], _wide(b) / scales[1]
    squares = [torch.sum(value * value, *positional, **keywords) for value in (a, b)]
    return Formula("stable_algorithm", "a.b / (|a| |b|)", torch.sum(
        a * b, *positional, **keywords) / (squares[0] * squares[1]).sqrt(), 0.01)


def _geometric_mean(node, trace):
    base, exponent = _two(node)
    product = _made(trace, base, "prod")
    if product is None or not isinstance(exponent, float):
        return None
    x = _wide(product.inputs[0])
    if not bool((x > 0).all()):
        return None
    positional, keywords = _options(product)
    return Formula("stable_algorithm", "prod(x) ** (1/n)",
                   torch.exp(torch.sum(torch.log(x), *positional, **keywords) * exponent))


RULES = {
    "log": (_log_of_one_plus, _log_of_softmax, _log_of_sigmoid, _log_of_one_minus,
            _log_of_sum_of_exponentials, _log_of_two_exponentials, _log_of_cosh),
    "sub": (_exp_minus_one, _one_minus_cosine, _one_and_erf, _log_softmax_by_hand, _variance,
            _gram_distance),
    "add": (_one_and_erf, _binary_cross_entropy),
    "sum": (_divergence,),
    "sqrt": (_length, _hypotenuse),
    "div": (_softmax_by_hand, _hyperbolic, _cosine),
    "pow": (_geometric_mean,),
}
