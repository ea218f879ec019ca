"""Arrays of whole numbers as inputs: counts, labels and lengths that a program computes with."""

from . import operations

#: Why an array of whole numbers is no input, until something is computed with it.
ONLY_INDICES = "whole numbers that only name elements"


def is_whole(value):
    """Whole numbers of more than eight bits: counts, labels, lengths, indices."""
    kind = str(getattr(value, "dtype", "")).replace("torch.", "")
    return kind.lstrip("u").startswith("int") and kind != "uint8"


def computes(node, backend, outputs):
    """Does an operation on whole numbers make a number or a decision of them?"""
    if operations.has(node.name, "arithmetic") or node.name == "cast":
        return any(backend.is_float(value) for value in outputs)
    if operations.moved(node.name) or operations.has(node.name, "selects"):
        return False
    answers = bool(outputs) and all(
        str(getattr(value, "dtype", "")) in ("bool", "torch.bool") for value in outputs
    )
    return (
        answers
        or not any(backend.is_float(value) for value in node.inputs)
        and any(backend.is_float(value) for value in outputs)
    )


def range_of(name, arguments, keywords, minimum, maximum):
    """(low, high, why, frozen) of whole numbers: what the source draws, as far as its own draw went."""
    kind = operations.source(name)
    low, _ = operations.drawn_range(name)
    if low is None:
        low = minimum
        if kind == "literal" and minimum > 0.0:
            low = 0.0
    bounds = [value for value in arguments[:2] if type(value) is int]
    bounds += [keywords[word] for word in ("low", "high") if type(keywords.get(word)) is int]
    if kind == "integers" and len(bounds) == 2 and bounds[0] <= minimum and maximum < bounds[1]:
        low, maximum = float(bounds[0]), bounds[1] - 1.0
    return float(low), float(maximum), ONLY_INDICES, ONLY_INDICES


def constant(name):
    """Does the source only make numbers that the program has written down, or choose among them?"""
    return (
        operations.source(name) == "constant"
        or operations.has(name, "picks")
        or operations.has(name, "decides")
    )


def counted(backend, name, value):
    """Are whole numbers from this source inputs? As the scripts of findings count them."""
    return is_whole(value) and (
        backend.library == "numpy"
        or backend.library == "torch"
        and operations.source(name) is not None
        and name != "from_numpy"
    )


def met(monitor, backend, node, outputs):
    """Whole numbers are inputs once something is computed with them or decided by them; those that
    only say which element is meant (labels, indices) are none."""
    keys = [monitor.whole[id(value)] for value in node.inputs if id(value) in monitor.whole]
    if not keys:
        return
    if computes(node, backend, outputs):
        for key in keys:
            info = monitor.trace.inputs[key]
            if info.frozen and info.why == ONLY_INDICES:
                info.frozen, info.why = False, "whole numbers that are computed with"
    if not any(backend.is_float(value) for value in node.inputs):
        for value in outputs:
            if is_whole(value):
                monitor.whole.setdefault(id(value), keys[0])
