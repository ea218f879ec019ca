"""Learned soft assertions at operations of TensorFlow: the models' answers as seeds of the tape.

The models were trained on TensorFlow's own kernels; a function without one, and every function of the
other libraries without a model, is steered by its region.
"""

import numpy as np

from . import registry
from .analytic import Interval


def distances(learned, rules):
    """(label, distance, seeds of its slope) triples, or None where no model steers the node."""
    if learned.mode != "learned" or rules.backend.library != "tensorflow":
        return None
    name = registry.canonical(rules.node.name)
    model = learned.tensorflow.get(name)
    if model is None:
        return None
    try:
        found = _modelled(learned, rules, name, model)
    except (TypeError, AttributeError, IndexError, ValueError):
        # Operands in a form that the model was not trained for.
        return None
    if found is not None:
        learned.answered.add(name)
    return found


def _modelled(learned, rules, name, model):
    operands = _context(rules, model["context"], name)
    if operands is None:
        return None
    dtype = rules.backend.dtype_name(operands[0].value)
    if dtype not in model["steps"]:
        return None
    steps = model["steps"][dtype]
    if steps is not None:
        return _steps(rules, operands[0].value, steps)
    arrays = [operand.array for operand in operands]
    width = {"element": 1, "pair": 1, "matrix": arrays[0].shape[-1] ** 2}.get(
        model["context"], arrays[0].shape[-1]
    )
    found = []
    for number, operand in enumerate(operands):
        labels = learned.ask(name, dtype, arrays, number, width, "tensorflow")
        if labels is None or not any(labels):
            continue
        signs = np.array(labels, dtype=np.float64).reshape(operand.array.shape)
        scale = max(float(np.abs(operand.array).max()), float(rules.limits(operand.value)[1]))
        word = "increase" if sum(labels) > 0 else "decrease"
        distance = 1.0 - float((signs * (operand.array / scale)).mean())
        found.append((word, distance, [(operand.value, operand.seed(-signs / scale))]))
    return found


def _steps(rules, value, steps):
    """A model of one value: where it says `no change` are failure regions, as measured ones."""
    limit = 0.99 * rules.limits(value)[0]
    numbers = rules.numbers(value)
    found = []
    for start, end, label in steps:
        if label == "no_change":
            interval = Interval(max(start, -limit), min(end, limit), 0.98 * limit)
            found += rules.toward(interval, value, numbers)
    return found


class _Operand:
    """A value of the program, as contexts of a model, and the way back for the slopes."""

    def __init__(self, value, array, seed):
        self.value = value
        self.array = array
        self.seed = seed


def _context(rules, context, name):
    node = rules.node
    values = [value for value in node.operands if rules.float(value)]
    if not values:
        return None
    first = values[0]
    array = rules.numbers(first)
    if context == "element":
        return [_same(first, array)]
    if context == "pair":
        return _pair(rules, node.operands[:2])
    if context == "row":
        axis = node.keywords.get(
            "axis",
            next((value for value in node.operands[1:] if isinstance(value, int)), _axis(name)),
        )
        if axis is None or array.ndim == 0:
            return [_Operand(first, array.reshape(1, -1), lambda seed: seed.reshape(array.shape))]
        if not isinstance(axis, int):
            return None
        return [
            _Operand(first, np.moveaxis(array, axis, -1), lambda seed: np.moveaxis(seed, -1, axis))
        ]
    if context == "matrix":
        square = array.ndim >= 2 and array.shape[-1] == array.shape[-2]
        return [_same(first, array)] if square else None
    if len(values) < 2:
        return None
    second = values[1]
    other = rules.numbers(second)
    if name == "matmul":
        return _product(rules, first, array, second, other)
    if name not in ("cross_entropy", "cosine_similarity") or array.shape != other.shape:
        return None
    # Cross entropy's models know the logits as their first operand, TensorFlow the labels.
    pair = [_same(first, array), _same(second, other)]
    return pair[::-1] if name == "cross_entropy" else pair


def _axis(name):
    """What TensorFlow takes for a row when it is not told: the last axis, or everything."""
    return -1 if name in ("softmax", "log_softmax", "logsoftmax") else None


def _same(value, array):
    return _Operand(value, array, lambda seed: seed)


def _pair(rules, operands):
    """Both operands in their common shape."""
    if len(operands) < 2 or not all(rules.float(value) for value in operands):
        return None
    arrays = [rules.numbers(value) for value in operands]
    shape = np.broadcast(*arrays).shape
    return [
        _Operand(value, np.broadcast_to(array, shape), _gathered(array.shape))
        for value, array in zip(operands, arrays)
    ]


def _gathered(shape):
    """Slopes of a common shape, added up where the operand was repeated."""

    def seed(slopes):
        extra = slopes.ndim - len(shape)
        repeated = [
            axis + extra
            for axis, length in enumerate(shape)
            if length == 1 and slopes.shape[axis + extra] != 1
        ]
        axes = tuple(range(extra)) + tuple(repeated)
        return slopes.sum(axis=axes, keepdims=True).reshape(shape)

    return seed


def _product(rules, first, left, second, right):
    """The row and the column behind the largest element of a product of matrices."""
    node = rules.node
    if (
        left.ndim != 2
        or right.ndim != 2
        or any(
            node.keywords.get(word)
            for word in ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b")
        )
    ):
        return None
    result = np.nan_to_num(np.abs(rules.numbers(node.output)))
    row, column = np.unravel_index(int(result.argmax()), result.shape)

    def at_row(seed):
        slopes = np.zeros(left.shape)
        slopes[row] = seed[0]
        return slopes

    def at_column(seed):
        slopes = np.zeros(right.shape)
        slopes[:, column] = seed[0]
        return slopes

    return [
        _Operand(first, left[row : row + 1], at_row),
        _Operand(second, right[:, column][None], at_column),
    ]
