"""The operations of TensorFlow 1 graphs: their canonical names, and the same mathematics in NumPy.

The NumPy forms compute the float64 shadow and say whether an operation is finite in wider floats; an
operation without one is its own shadow.
"""

import re

import numpy as np

NAMES = {
    "RealDiv": "div", "Div": "div", "TrueDiv": "div", "DivNoNan": "divide_no_nan",
    "FloorDiv": "floor_divide", "FloorMod": "remainder", "Mod": "remainder", "AddV2": "add",
    "BiasAdd": "add", "AddN": "add", "BatchMatMul": "matmul", "BatchMatMulV2": "matmul",
    "BatchMatMulV3": "matmul", "MatMul": "matmul", "Conv2D": "conv2d", "Maximum": "max",
    "Minimum": "min", "SelectV2": "where", "Select": "where", "ConcatV2": "cat", "Concat": "cat",
    "StridedSlice": "getitem", "Slice": "getitem", "GatherV2": "gather", "GatherNd": "gather",
    "ExpandDims": "expand_dims", "MatrixInverse": "inverse", "MatrixDeterminant": "det",
    "LogMatrixDeterminant": "slogdet", "MatrixSolve": "solve", "Cholesky": "cholesky",
    "SoftmaxCrossEntropyWithLogits": "cross_entropy", "ClipByValue": "clamp",
    "SparseSoftmaxCrossEntropyWithLogits": "cross_entropy", "Inv": "reciprocal", "Lgamma": "lgamma",
    "LeakyRelu": "leaky_relu", "FusedBatchNormV3": "batch_norm", "StopGradient": "stop_gradient",
    "SquaredDifference": "squared_difference", "LogSoftmax": "log_softmax", "L2Loss": "l2_loss",
}
# They hand a value on as it is: what follows has the same operand.
ALIASES = {"Identity", "ReadVariableOp", "Snapshot", "PreventGradient", "CheckNumerics", "Enter",
           "PlaceholderWithDefault"}
# No computation: facts, constants, state.
SILENT = {"Const", "Placeholder", "VariableV2", "Variable", "VarHandleOp", "Shape", "Rank", "Size",
          "NoOp", "Assert", "VarIsInitializedOp", "IteratorGetNext", "RandomStandardNormal",
          "RandomUniform", "TruncatedNormal", "RandomUniformInt", "Range", "Fill", "ZerosLike",
          "OnesLike", "OneHot"}
_REDUCTIONS = {"Sum": ("sum", np.sum), "Mean": ("mean", np.mean), "Max": ("max", np.max),
               "Min": ("min", np.min), "Prod": ("prod", np.prod)}
# Library functions that are one operation, whatever they are made of.
COMPOSITES = {
    "reduce_logsumexp": "logsumexp", "reduce_logsumexp_v1": "logsumexp",
    "sigmoid_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "sigmoid_cross_entropy_with_logits_v2": "binary_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits": "cross_entropy",
    "softmax_cross_entropy_with_logits_v2": "cross_entropy",
    "softmax_cross_entropy_with_logits_v2_helper": "cross_entropy",
    "sparse_softmax_cross_entropy_with_logits": "cross_entropy", "moments": "var",
    "l2_normalize": "normalize", "l2_normalize_v2": "normalize", "dropout": "dropout",
    "dropout_v2": "dropout", "batch_normalization": "batch_norm", "log_sigmoid": "logsigmoid",
    "weighted_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "reduce_std": "std", "reduce_variance": "var", "clip_by_value": "clamp",
    "clip_by_norm": "clamp", "clip_by_global_norm": "clamp", "reduce_euclidean_norm": "norm",
}


def canonical(kind):
    if kind in _REDUCTIONS:
        return _REDUCTIONS[kind][0]
    return NAMES.get(kind) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()


def call_of(op, operands):
    """(function of NumPy or None, operands, keywords) of an operation on these values."""
    kind = op.type
    if kind in _REDUCTIONS and len(operands) == 2:
        axes = np.ravel(operands[1])
        keywords = {"axis": tuple(int(axis) for axis in axes), "keepdims": bool(
            op.get_attr("keep_dims"))}
        return _REDUCTIONS[kind][1], operands[:1], keywords
    if kind in ("MatMul", "BatchMatMulV2", "BatchMatMul", "BatchMatMulV3"):
        first, second = ("transpose_a", "transpose_b") if kind == "MatMul" else ("adj_x", "adj_y")
        turned = (bool(op.get_attr(first)), bool(op.get_attr(second)))

        def matmul(one, two):
            return np.matmul(np.swapaxes(one, -1, -2) if turned[0] else one,
                             np.swapaxes(two, -1, -2) if turned[1] else two)
        return matmul, operands, {}
    return _FUNCTIONS.get(kind), operands, {}


def _softmax(values):
    shifted = np.exp(values - values.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _log_softmax(values):
    shifted = values - values.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _sigmoid(values):
    return np.where(values >= 0, 1.0 / (1.0 + np.exp(-np.abs(values))),
                    np.exp(-np.abs(values)) / (1.0 + np.exp(-np.abs(values))))


_FUNCTIONS = {
    "Exp": np.exp, "Log": np.log, "Log1p": np.log1p, "Expm1": np.expm1, "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1.0 / np.sqrt(x), "Square": np.square, "Pow": np.power, "Abs": np.abs,
    "Neg": np.negative, "Add": np.add, "AddV2": np.add, "BiasAdd": np.add, "Sub": np.subtract,
    "Mul": np.multiply, "RealDiv": np.divide, "Div": np.divide, "Maximum": np.maximum,
    "Minimum": np.minimum, "Tanh": np.tanh, "Sigmoid": _sigmoid, "Softmax": _softmax,
    "LogSoftmax": _log_softmax, "Relu": lambda x: np.maximum(x, 0), "Reciprocal": np.reciprocal,
    "Inv": np.reciprocal, "Sin": np.sin, "Cos": np.cos, "Acos": np.arccos, "Asin": np.arcsin,
    "Softplus": lambda x: np.logaddexp(0, x), "Sign": np.sign,
    "SquaredDifference": lambda a, b: (a - b) ** 2, "SelectV2": np.where, "Cosh": np.cosh,
    "Sinh": np.sinh, "Reshape": lambda x, shape: np.reshape(x, [int(size) for size in shape]),
    "Transpose": lambda x, order: np.transpose(x, [int(axis) for axis in order]),
    "ExpandDims": lambda x, axis: np.expand_dims(x, int(axis)), "MatrixInverse": np.linalg.inv,
    "MatrixDeterminant": np.linalg.det, "Cholesky": np.linalg.cholesky, "StopGradient": lambda x: x,
    "Atanh": np.arctanh, "Acosh": np.arccosh,
}
