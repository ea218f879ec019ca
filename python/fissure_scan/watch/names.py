"""The name of an operation from a function object of PyTorch, and the order of its operands."""

from . import operations

# Right-hand operators whose arguments come in the order of the left-hand one reversed.
REVERSED = {
    "__rdiv__": "div",
    "__rtruediv__": "div",
    "__rpow__": "pow",
    "__rsub__": "sub",
    "__rmatmul__": "matmul",
    "__rmul__": "mul",
    "__radd__": "add",
    "rsub": "sub",
}


def base_name(function):
    """The canonical name of a torch function object and whether its operands are reversed."""
    name = getattr(function, "__name__", None) or str(function)
    if name in REVERSED:
        return REVERSED[name], True
    in_place = name
    if name.startswith("__i") and name.endswith("__") and name not in ("__index__", "__invert__"):
        in_place = "__" + name[3:]
    elif name.endswith("_") and not name.endswith("__"):
        in_place = name[:-1]
    known = operations.TABLE.called(in_place)
    return known or (in_place.strip("_") if in_place.startswith("__") else in_place), False
