"""Composites with a known stable algorithm: the user's formula against it, on the same operands.

Each rule recognises a formula by the producers of a node's operands and computes the same quantity
in a stable way; a difference beyond tolerance is the oracle `stable_algorithm` (another algorithm)
or `rewrite` (the same mathematics, rearranged).
"""

import torch

# Off by more than this share of the largest element.
RELATIVE = 0.01


def examine(trace):
    """(oracle, node, detail) for the first composite whose result is wrong, or None."""
    for node in trace.nodes:
        if node.output_bad or node.inputs_bad or node.library != "torch":
            continue
        rule = _RULES.get(node.name)
        if rule is None:
            continue
        try:
            answer = rule(node, trace)
        except (RuntimeError, TypeError, IndexError, AttributeError):
            continue
        if answer is None:
            continue
        oracle, name, reference, absolute = answer
        detail = _differs(node.output.detach(), reference, absolute)
        if detail:
            return oracle, node, "%s: %s" % (name, detail)
    return None


def _differs(value, reference, absolute):
    if tuple(value.shape) != tuple(reference.shape) or value.numel() == 0:
        return None
    wide, right = value.double(), reference.double()
    if not bool(torch.isfinite(right).all()):
        return None
    error = (wide - right).abs()
    place = int(error.argmax())
    worst, scale = float(error.max()), float(right.abs().max())
    if worst > RELATIVE * scale and worst > absolute:
        return "%.9g where a stable computation gives %.9g" % (
            float(wide.flatten()[place]), float(right.flatten()[place]))
    return None


def _is_one(value):
    return isinstance(value, (int, float)) and value == 1


def _log(node, trace):
    source = trace.producer(node.operands[0])
    if source is None:
        return None
    if source.name == "add" and len(source.operands) == 2:
        small = [value for value in source.operands if isinstance(value, torch.Tensor)]
        if len(small) == 1 and any(_is_one(value) for value in source.operands):
            origin = trace.producer(small[0])
            # log(1 + exp(x)) is a softplus: what is lost there is below its own size.
            if origin is None or origin.name != "exp":
                return "stable_algorithm", "log(1 + x)", torch.log1p(small[0].detach().double()), 0.0
    if source.name == "softmax":
        dim = source.keywords.get("dim", source.operands[1] if len(source.operands) > 1 else -1)
        return ("rewrite", "log(softmax(x))",
                torch.log_softmax(source.operands[0].detach().double(), dim), 1e-2)
    if source.name == "sigmoid":
        return ("rewrite", "log(sigmoid(x))", torch.nn.functional.logsigmoid(
            source.operands[0].detach().double()), 1e-2)
    if source.name == "sub" and len(source.operands) == 2 and _is_one(source.operands[0]):
        inner = trace.producer(source.operands[1])
        if inner is not None and inner.name == "sigmoid":
            return ("rewrite", "log(1 - sigmoid(x))", torch.nn.functional.logsigmoid(
                -inner.operands[0].detach().double()), 1e-2)
    return None


def _sqrt(node, trace):
    total = trace.producer(node.operands[0])
    if total is None or total.name != "sum" or not total.inputs:
        return None
    squares = trace.producer(total.inputs[0])
    if squares is None:
        return None
    squared = squares.name == "square" or (
        squares.name == "pow" and len(squares.operands) > 1 and squares.operands[1] == 2) or (
        squares.name == "mul" and len(squares.operands) == 2
        and squares.operands[0] is squares.operands[1])
    if not squared:
        return None
    wide = squares.inputs[0].detach().double()
    keywords = dict((key, value) for key, value in total.keywords.items() if key != "dtype")
    reference = torch.sum(wide * wide, *total.operands[1:], **keywords).sqrt()
    return "stable_algorithm", "sqrt(sum(x * x))", reference, 0.0


def _sub(node, trace):
    """E[x²] − E[x]²."""
    if len(node.operands) != 2:
        return None
    first, second = trace.producer(node.operands[0]), trace.producer(node.operands[1])
    if first is None or second is None or first.name != "mean":
        return None
    if not first.inputs or second.name not in ("pow", "square", "mul"):
        return None
    squares = trace.producer(first.inputs[0])
    mean = trace.producer(second.inputs[0]) if second.inputs else None
    if squares is None or mean is None or mean.name != "mean" or squares.name not in (
            "pow", "square", "mul") or squares.inputs[0] is not mean.inputs[0]:
        return None
    wide = mean.inputs[0].detach().double()
    keywords = dict((key, value) for key, value in mean.keywords.items() if key != "dtype")
    centred = wide - (wide.mean(*mean.operands[1:], **dict(keywords, keepdim=True))
                      if mean.operands[1:] or keywords else wide.mean())
    return ("stable_algorithm", "E[x*x] - E[x]**2",
            (centred * centred).mean(*mean.operands[1:], **keywords), 0.0)


_RULES = {"log": _log, "sqrt": _sqrt, "sub": _sub}
