"""Soft assertions: how far each element at an unstable function is from making it fail.

Each function answers with differentiable signed distances, one per element, positive while the
function is safe, zero or negative where it fails. A distance is taken *before* saturation: for
`log(softmax(z))` it speaks of the logits `z`, because a softmax that is already exactly 0 has no
gradient left. The limits are the analytic failure regions (the registry's measured ones lie within
one rounding of them); a learned model can take the place of a row as long as it answers in the same
form.
"""

import math
import sys

# A program without torch is scanned without importing it; see `distances`.
torch = sys.modules.get("torch")


def _limits(tensor):
    return torch.finfo(tensor.dtype)


def _exp_limit(tensor, base=math.e):
    return math.log(_limits(tensor).max) / math.log(base)


def _tensor(value):
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def _first(node):
    for value in node.operands:
        if _tensor(value):
            return value
    return node.inputs[0] if node.inputs and _tensor(node.inputs[0]) else None


def _operand(node, position, keyword=None):
    if len(node.operands) > position:
        return node.operands[position]
    return node.keywords.get(keyword) if keyword else None


def _through(trace, tensor, passing=("view", "reshape", "squeeze", "unsqueeze", "getitem", "t",
                                     "transpose", "permute", "flatten", "contiguous", "clone",
                                     "gather", "cast", "index_select", "expand", "mean")):
    """The node that made a tensor, looking through operations that only move elements."""
    node = trace.producer(tensor)
    steps = 0
    while node is not None and node.name in passing and node.inputs and steps < 8:
        node = trace.producer(node.inputs[0])
        steps += 1
    return node


def _softmax_gap(node):
    logits = node.operands[0]
    dim = node.keywords.get("dim", node.operands[1] if len(node.operands) > 1 else -1)
    if not isinstance(dim, int):
        dim = -1
    return logits, logits.amax(dim=dim, keepdim=True) - logits


def _before_saturation(tensor, trace):
    """Distances of a probability-like tensor to 0, on what it was computed from."""
    node = _through(trace, tensor)
    if node is None:
        return []
    found = []
    if node.name == "softmax" and _tensor(node.operands[0]):
        logits, gap = _softmax_gap(node)
        found.append(("increase the gap of the logits", -math.log(_limits(logits).tiny) + 17 - gap))
    elif node.name == "sigmoid" and _tensor(node.operands[0]):
        found.append(("decrease", _exp_limit(node.operands[0]) + node.operands[0]))
    elif node.name == "exp" and _tensor(node.operands[0]):
        found.append(("decrease", -math.log(_limits(node.operands[0]).tiny) + 17
                      + node.operands[0]))
    elif node.name in ("sub", "add", "mul", "div", "sum", "pow", "square"):
        for value in node.inputs:
            if not _tensor(value):
                continue
            inner = _through(trace, value)
            if inner is None or not inner.operands or not _tensor(inner.operands[0]):
                continue
            if inner.name == "sigmoid":
                digits = -math.log(_limits(inner.operands[0]).eps) + 1.0
                found.append(("increase", digits - inner.operands[0]))
                found.append(("decrease", _exp_limit(inner.operands[0]) + inner.operands[0]))
            elif inner.name == "softmax":
                logits, gap = _softmax_gap(inner)
                digits = -math.log(_limits(logits).eps) + 1.0
                found.append(("increase the gap of the logits", digits - gap))
                found.append(("increase the gap further",
                              -math.log(_limits(logits).tiny) + 17 - gap))
            elif inner.name == "tanh":
                found.append(("increase", 10.0 - inner.operands[0].abs()))
            elif inner.name == "exp":
                found.append(("decrease", -math.log(_limits(inner.operands[0]).tiny) + 17
                              + inner.operands[0]))
    return found


# Distances ---------------------------------------------------------------------------------------

def _exp(node, trace):
    x = _first(node)
    base = 2.0 if node.name == "exp2" else math.e
    return [("increase", _exp_limit(x, base) - x)]


def _cosh(node, trace):
    x = _first(node)
    return [("away from zero", _exp_limit(x) + math.log(2) - x.abs())]


def _log(node, trace):
    x = _first(node)
    found = _before_saturation(x, trace)
    found.append(("decrease", x))
    return found


def _log1p(node, trace):
    x = _first(node)
    return [("decrease", x + 1.0)]


def _sqrt(node, trace):
    x = _first(node)
    return _before_saturation(x, trace) + [("decrease", x)]


def _div(node, trace):
    numerator, denominator = _operand(node, 0), _operand(node, 1)
    found = []
    if _tensor(denominator):
        found += _before_saturation(denominator, trace)
        found.append(("toward zero", denominator.abs()))
        if _tensor(numerator):
            found.append(("grow the quotient", _limits(numerator).max
                          - node.output.abs() if _tensor(node.output) else None))
    elif _tensor(numerator):
        found.append(("increase", _limits(numerator).max - numerator.abs()))
    return found


def _reciprocal(node, trace):
    x = _first(node)
    return [("toward zero", x.abs())]


def _pow(node, trace):
    base, exponent = _operand(node, 0), _operand(node, 1, "exponent")
    if node.name == "square":
        exponent = 2
    if _tensor(base) and isinstance(exponent, (int, float)):
        if exponent > 1:
            return [("away from zero", _limits(base).max ** (1.0 / exponent) - base.abs())]
        if exponent < 0:
            return [("toward zero", base.abs())]
        return [("decrease", base)]
    if _tensor(exponent):
        return [("increase", 1e3 - exponent), ("decrease", 1e3 + exponent)]
    return []


def _unit(node, trace):
    x = _first(node)
    return [("away from zero", 1.0 - x.abs())]


def _acosh(node, trace):
    return [("decrease", _first(node) - 1.0)]


def _logit(node, trace):
    x = _first(node)
    return [("decrease", x), ("increase", 1.0 - x)]


def _magnitude(node, trace):
    found = []
    for value in node.inputs[:2]:
        if _tensor(value) and value.numel():
            found.append(("away from zero", _limits(value).max - value.abs()))
    return found


def _product(node, trace):
    if _tensor(node.output):
        return [("away from zero", _limits(node.output).max - node.output.abs())]
    return []


def _spread(node, trace):
    """Variance, standard deviation and norms: failing where everything is equal or zero."""
    if _tensor(node.output):
        return [("toward zero", node.output.abs())]
    return []


def _matrix(node, trace):
    matrix = _first(node)
    if matrix is None or matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]:
        return []
    try:
        smallest = torch.linalg.svdvals(matrix)[..., -1]
    except RuntimeError:
        return []
    return [("toward a singular matrix", smallest)]


def _positive_operands(node, trace):
    return [("decrease", value) for value in node.inputs if _tensor(value)]


def _cosine(node, trace):
    return [("toward zero", value.norm(dim=-1)) for value in node.inputs[:2] if _tensor(value)]


def _cast(node, trace):
    x = _first(node)
    if x is None or node.output is None or node.output.dtype.is_floating_point:
        return []
    if node.output.dtype == torch.bool:
        return []
    info = torch.iinfo(node.output.dtype)
    return [("increase", float(info.max) + 1.0 - x), ("decrease", x - float(info.min) + 1.0)]


TABLE = {
    "exp": _exp, "exp2": _exp, "expm1": _exp, "cosh": _cosh, "sinh": _cosh,
    "log": _log, "log2": _log, "log10": _log, "log1p": _log1p, "sqrt": _sqrt, "rsqrt": _sqrt,
    "div": _div, "reciprocal": _reciprocal, "fmod": _div, "remainder": _div,
    "floor_divide": _div, "pow": _pow, "square": _pow,
    "acos": _unit, "asin": _unit, "atanh": _unit, "erfinv": _unit, "acosh": _acosh,
    "logit": _logit, "xlogy": _positive_operands, "lgamma": _positive_operands,
    "digamma": _positive_operands, "atan2": _spread,
    "matmul": _product, "addmm": _product, "linear": _product, "einsum": _product,
    "mul": _product, "sum": _product, "mean": _product, "cumsum": _product, "prod": _product,
    "cumprod": _product, "add": _product, "sub": _product, "conv1d": _product, "conv2d": _product,
    "conv3d": _product, "addcmul": _product, "outer": _product, "cross": _product,
    "softmax": _magnitude, "log_softmax": _magnitude, "logsumexp": _magnitude,
    "sigmoid": _magnitude, "logsigmoid": _magnitude, "softplus": _magnitude, "tanh": _magnitude,
    "cross_entropy": _magnitude, "binary_cross_entropy_with_logits": _magnitude,
    "binary_cross_entropy": _logit, "nll_loss": _magnitude, "kl_div": _magnitude,
    "mse_loss": _product, "l1_loss": _product, "smooth_l1_loss": _product,
    "poisson_nll_loss": _exp, "gaussian_nll_loss": _positive_operands,
    "var": _spread, "std": _spread, "var_mean": _spread, "std_mean": _spread,
    "norm": _spread, "cdist": _spread, "pairwise_distance": _spread, "dist": _spread,
    "cosine_similarity": _cosine, "normalize": _cosine, "layer_norm": _spread,
    "batch_norm": _magnitude, "group_norm": _magnitude, "instance_norm": _magnitude,
    "solve": _matrix, "inverse": _matrix, "det": _matrix, "slogdet": _matrix, "logdet": _matrix,
    "cholesky": _matrix, "pinverse": _matrix, "svd": _matrix, "eigh": _matrix, "eig": _matrix,
    "lstsq": _matrix, "cond": _matrix,
    "cast": _cast,
}

# Functions that fail by magnitude alone: ordinary arithmetic. They are watched, but not announced
# as unstable call sites and not steered toward.
ARITHMETIC = {"mul", "sum", "mean", "cumsum", "add", "sub", "addcmul", "outer", "cross", "linear",
              "conv1d", "conv2d", "conv3d", "l1_loss", "smooth_l1_loss", "mse_loss", "addmm",
              "einsum", "cast", "max", "tanh"}

# Further names of the registry: watched and announced, without a rule that steers.
REGISTERED = set()


# Functions that give a finite result for every finite operand; only what reaches them can be wrong.
SATURATING = {"softmax", "log_softmax", "sigmoid", "tanh", "logsigmoid", "softplus", "logsumexp",
              "cosine_similarity", "normalize", "cross_entropy", "nll_loss",
              "binary_cross_entropy_with_logits", "batch_norm", "group_norm", "instance_norm",
              "layer_norm"}


def can_fail(name):
    """Worth steering toward: announced, and able to fail on finite operands."""
    return announced(name) and name not in SATURATING


def known(name):
    return name in TABLE or name in REGISTERED


def announced(name):
    return known(name) and name not in ARITHMETIC


def distances(node, trace):
    """(label, elementwise distance) pairs of a torch node; NumPy nodes are turned into tensors."""
    global torch
    rule = TABLE.get(node.name)
    if rule is None or node.library != "torch":
        return []
    torch = sys.modules["torch"]
    try:
        return [pair for pair in rule(node, trace) if pair[1] is not None]
    except (TypeError, AttributeError, IndexError, RuntimeError):
        # An operand in a form the rule does not know steers nothing; the oracles still watch.
        return []
