"""The operations of TensorFlow 1 graphs: their canonical names, and the same mathematics in NumPy.

The NumPy forms compute the float64 shadow and say whether an operation is finite in wider floats; an
operation without one is its own shadow.
"""

import re

import numpy as np

from ..watch import operations

#: Endings of the functions behind a public name: `l2_normalize_v2`, `…_v2_helper`.
_VERSION = re.compile(r"(_v\d)?(_helper)?$")
_REDUCTIONS = {
    "Sum": ("sum", np.sum),
    "Mean": ("mean", np.mean),
    "Max": ("max", np.max),
    "Min": ("min", np.min),
    "Prod": ("prod", np.prod),
}


def canonical(kind):
    if kind in _REDUCTIONS:
        return _REDUCTIONS[kind][0]
    return (
        operations.TABLE.own_name(kind, "graph")
        or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    )


def silent(kind):
    """No computation: facts, constants, state."""
    return operations.unwatched(kind, "graph")


def passes_on(kind):
    """It hands a value on as it is: what follows has the same operand."""
    return kind in operations.TABLE.same


def composite(function):
    """The operation that a function of the library is, whatever it is made of; None for all others."""
    return operations.TABLE.own_name(_VERSION.sub("", function), "composites")


def call_of(op, operands):
    """(function of NumPy or None, operands, keywords) of an operation on these values."""
    kind = op.type
    if kind in _REDUCTIONS and len(operands) == 2:
        axes = np.ravel(operands[1])
        keywords = {
            "axis": tuple(int(axis) for axis in axes),
            "keepdims": bool(op.get_attr("keep_dims")),
        }
        return _REDUCTIONS[kind][1], operands[:1], keywords
    if kind in ("MatMul", "BatchMatMulV2", "BatchMatMul", "BatchMatMulV3"):
        first, second = ("transpose_a", "transpose_b") if kind == "MatMul" else ("adj_x", "adj_y")
        turned = (bool(op.get_attr(first)), bool(op.get_attr(second)))

        def matmul(one, two):
            return np.matmul(
                np.swapaxes(one, -1, -2) if turned[0] else one,
                np.swapaxes(two, -1, -2) if turned[1] else two,
            )

        return matmul, operands, {}
    return _FUNCTIONS.get(kind), operands, {}


def _softmax(values):
    shifted = np.exp(values - values.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _log_softmax(values):
    shifted = values - values.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _sigmoid(values):
    return np.where(
        values >= 0,
        1.0 / (1.0 + np.exp(-np.abs(values))),
        np.exp(-np.abs(values)) / (1.0 + np.exp(-np.abs(values))),
    )


_FUNCTIONS = {
    "Exp": np.exp,
    "Log": np.log,
    "Log1p": np.log1p,
    "Expm1": np.expm1,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1.0 / np.sqrt(x),
    "Square": np.square,
    "Pow": np.power,
    "Abs": np.abs,
    "Neg": np.negative,
    "Add": np.add,
    "AddV2": np.add,
    "BiasAdd": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "RealDiv": np.divide,
    "Div": np.divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Tanh": np.tanh,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "Relu": lambda x: np.maximum(x, 0),
    "Reciprocal": np.reciprocal,
    "Inv": np.reciprocal,
    "Sin": np.sin,
    "Cos": np.cos,
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Softplus": lambda x: np.logaddexp(0, x),
    "Sign": np.sign,
    "SquaredDifference": lambda a, b: (a - b) ** 2,
    "SelectV2": np.where,
    "Cosh": np.cosh,
    "Sinh": np.sinh,
    "Reshape": lambda x, shape: np.reshape(x, [int(size) for size in shape]),
    "Transpose": lambda x, order: np.transpose(x, [int(axis) for axis in order]),
    "ExpandDims": lambda x, axis: np.expand_dims(x, int(axis)),
    "MatrixInverse": np.linalg.inv,
    "MatrixDeterminant": np.linalg.det,
    "Cholesky": np.linalg.cholesky,
    "StopGradient": lambda x: x,
    "Atanh": np.arctanh,
    "Acosh": np.arccosh,
}
