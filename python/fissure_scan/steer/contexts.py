"""What a trained model looks at in a call: one value, a pair, a row, rows, a matrix.

The same for every library: operands are NumPy arrays of doubles here, and each knows the way back from
the slopes at what the model saw to the slopes at the value of the program.
"""

import numpy as np

from . import registry


class Operand:
    """A value of the program, as contexts of a model, and the way back for the slopes."""

    def __init__(self, value, array, seed):
        self.value = value  # None for a plain number
        self.array = array
        self.seed = seed


def operands(rules, context, name):
    """The operands of a call as the model knows them, or None."""
    node = rules.node
    values = [value for value in node.operands if rules.steerable(value)]
    if not values:
        return None
    first = values[0]
    array = rules.numbers(first)
    if context == "element":
        return [_same(first, array)]
    if context == "pair":
        return _pair(rules)
    if context == "row":
        return _row(rules, name, first, array)
    if context == "matrix":
        square = array.ndim >= 2 and array.shape[-1] == array.shape[-2]
        return [_same(first, array)] if square else None
    if len(values) < 2:
        return None
    second = values[1]
    other = rules.numbers(second)
    if registry.objective(name) == "matmul":
        return _product(rules, name, first, array, second, other)
    if array.ndim == 0 or array.shape[-1:] != other.shape[-1:]:
        return None
    pair = _broadcast([first, second], [array, other])
    # The models of losses know the logits as their first operand, TensorFlow the labels.
    labels_first = rules.backend.library == "tensorflow" and registry.objective(name) == "gap"
    return pair[::-1] if labels_first else pair


def _same(value, array):
    return Operand(value, array, lambda seed: seed)


def _row(rules, name, first, array):
    node = rules.node
    numbers = [value for value in node.operands[1:] if type(value) is int]
    axis = node.keywords.get("dim", node.keywords.get("axis", numbers[0] if numbers else None))
    if axis is None and registry.objective(name) == "gap" and rules.backend.library != "torch":
        # What a softmax takes for a row when it is not told.
        axis = -1
    if axis is None or array.ndim == 0:
        return [Operand(first, array.reshape(1, -1), lambda seed: seed.reshape(array.shape))]
    if not isinstance(axis, int):
        return None
    return [Operand(first, np.moveaxis(array, axis, -1), lambda seed: np.moveaxis(seed, -1, axis))]


def _pair(rules):
    """Both operands in their common shape; one of them may be a plain number."""
    values, arrays = [], []
    for value in rules.node.operands:
        if rules.backend.is_array(value):
            values.append(value)
            arrays.append(rules.numbers(value))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            values.append(None)
            arrays.append(np.array(float(value)))
    return _broadcast(values[:2], arrays[:2]) if len(values) >= 2 else None


def _broadcast(values, arrays):
    shape = np.broadcast(*arrays).shape
    return [
        Operand(value, np.broadcast_to(array, shape), _gathered(array.shape))
        for value, array in zip(values, arrays)
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


def _product(rules, name, first, left, second, right):
    """The row and the column behind the largest element of a product of matrices."""
    node = rules.node
    turned = any(
        node.keywords.get(word) for word in ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b")
    )
    if left.ndim < 1 or right.ndim != 2 or turned or node.output is None:
        return None
    result = np.nan_to_num(np.abs(rules.numbers(node.output)))
    if result.ndim < 1:
        return None
    row, column = divmod(int(result.argmax()), result.shape[-1])
    rows = left.reshape(-1, left.shape[-1])
    # The weights of a linear layer are kept as rows.
    columns = right if name == "linear" else right.T

    def at_row(seed):
        slopes = np.zeros(rows.shape)
        slopes[row] = seed[0]
        return slopes.reshape(left.shape)

    def at_column(seed):
        slopes = np.zeros(columns.shape)
        slopes[column] = seed[0]
        return slopes if name == "linear" else slopes.T

    return [
        Operand(first, rows[row : row + 1], at_row),
        Operand(second, columns[column : column + 1], at_column),
    ]
