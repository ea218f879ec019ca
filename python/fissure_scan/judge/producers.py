"""What the operands of an operation were made of, in one form for every library."""

import numpy as np

from ..backends import library as backends
from ..watch import operations

# Words of reductions and softmax over the libraries, and those that change nothing.
_AXIS, _KEEP = ("dim", "axis"), ("keepdim", "keepdims", "keep_dims")
_IDLE = ("dtype", "out", "name", "input", "a", "x", "input_tensor", "logits", "initial", "where")


def is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype")


def is_number(value, number):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == number


class View:
    """One trace, as the rules for formulas look at it."""

    def __init__(self, trace, backend):
        self.trace = trace
        self.backend = backend

    def wide(self, value):
        """The values that an array had in the run, in floats that have digits to spare beside the program's."""
        value = self.trace.exchanged.get(id(value), value)
        numbers = self.backend.numbers(value) if self.backend.is_array(value) else value
        numbers = np.asarray(numbers)
        narrow = numbers.dtype.kind == "f" and numbers.dtype.itemsize <= 4
        return numbers.astype(np.float64 if narrow else np.longdouble)

    def made(self, value, *names):
        """The operation that made an array, if it is one of these."""
        node = self.trace.producer(value) if is_array(value) else None
        return node if node is not None and node.name in names else None

    def moved(self, value):
        """The array before operations that only add or drop axes of size one."""
        while is_array(value):
            node = self.trace.producer(value)
            if (
                node is None
                or not operations.has(node.name, "reshapes")
                or not node.inputs
                or self.backend.count(node.inputs[0]) != self.backend.count(node.output)
            ):
                break
            value = node.inputs[0]
        return value

    def two(self, node):
        return node.operands if len(node.operands) == 2 else (None, None)

    def with_one(self, node):
        """The array of `1 + x` or `x + 1`."""
        first, second = self.two(node)
        if is_number(first, 1) and is_array(second):
            return second
        return first if is_number(second, 1) and is_array(first) else None

    def one_minus(self, node):
        """The array of `1 - x`."""
        first, second = self.two(node)
        if node.name == "sub" and is_number(first, 1) and is_array(second):
            return second
        return None

    def squared(self, value):
        """What an array is the square of."""
        node = self.made(value, "square", "pow", "mul")
        if node is None or not node.inputs:
            return None
        if node.name == "pow" and not (len(node.operands) > 1 and is_number(node.operands[1], 2)):
            return None
        if node.name == "mul" and not (
            len(node.operands) == 2 and node.operands[0] is node.operands[1]
        ):
            return None
        return node.inputs[0]

    def negated(self, value):
        """x where the array is -x."""
        node = self.made(value, "neg", "negative")
        if node is not None:
            return node.inputs[0]
        node = self.made(value, "mul")
        if node is not None and any(is_number(operand, -1) for operand in node.operands):
            return next(operand for operand in node.operands if is_array(operand))
        return None

    def logistic(self, value):
        """The logits of a sigmoid in wide floats, also of one written by hand: `1 / (1 + exp(-z))`,
        `exp(z) / (1 + exp(z))`."""
        node = self.made(value, "sigmoid", "div", "reciprocal")
        if node is None:
            return None
        if node.name == "sigmoid":
            return self.wide(node.operands[0])
        above, below = (1, node.operands[0]) if node.name == "reciprocal" else self.two(node)
        total = self.made(below, "add")
        inner = self.with_one(total) if total is not None else None
        exponential = self.made(inner, "exp")
        if exponential is None or not (is_number(above, 1) or above is inner):
            return None
        power = self.wide(exponential.inputs[0])
        return power if above is inner else -power

    def softmax(self, value):
        """(logits, axis) of a softmax."""
        node = self.made(value, "softmax")
        if node is None:
            return None
        axis = self.axes(node)[0]
        return node.operands[0], -1 if axis is None else axis

    def axes(self, node):
        """(axis, keep the axis) of a reduction; None is all of them."""
        axis, keep = None, False
        for key, value in node.keywords.items():
            if key in _AXIS:
                axis = value
            elif key in _KEEP:
                keep = bool(value)
            elif key not in _IDLE or key in ("initial", "where") and value is not None:
                raise ValueError(key)
        rest = list(node.operands[1:])
        if rest:
            axis = rest[0]
        if len(rest) > 1 and isinstance(rest[1], bool):
            keep = rest[1]
        if isinstance(axis, np.ndarray):
            axis = axis.ravel().tolist()
        if isinstance(axis, (list, tuple)):
            axis = tuple(int(one) for one in axis) or None
        if axis is not None and not isinstance(axis, (int, tuple)):
            raise ValueError("axis")
        return axis, keep

    def reduce(self, function, values, node):
        """A function of NumPy over the axes of a reduction of the program."""
        axis, keep = self.axes(node)
        return function(values, axis=axis, keepdims=keep)


def of_node(trace, node):
    return View(trace, backends.of(node.library))
