"""Shadow execution of NumPy programs: every operation once more in the widest floats there are.

The shadow of an array is what it would be if the whole computation before it had been done in long
doubles. NumPy's linear algebra has no long doubles: narrower matrices are computed in float64,
float64 ones by elimination here. An array that was changed since (element by element, through a
view) gets a new shadow from its own values: earlier errors are then missed, none is invented.
"""

import numpy as np

from ..backends.numpy_backend import ordinary_array, ordinary_asarray, plain
from ..watch import operations

WIDE = np.longdouble
# Long doubles are doubles on some platforms: there float64 programs have no wider shadow.
WIDER_THAN_DOUBLE = np.finfo(WIDE).eps < np.finfo(np.float64).eps

_ELIMINATION = 128  # matrices up to this size
_LARGEST = 2000000  # elements; larger arrays are their own shadow


class NumpyShadow:
    def __init__(self):
        self._values = {}  # id -> (shadow, the values it belongs to)
        self.errors = []  # (node, worst relative error of inputs, of output, its size)
        self.nonfinite = []
        self.outputs = {}  # id of output -> relative error

    def of(self, value):
        if (
            not isinstance(value, (np.ndarray, np.floating))
            or value.dtype.kind != "f"
            or value.size > _LARGEST
        ):
            return plain(value)
        held = self._values.get(id(value))
        ordinary = ordinary_asarray(plain(value))
        if held is not None and _same(held[1], ordinary):
            return held[0]
        fresh = ordinary.astype(WIDE)
        self._values[id(value)] = (fresh, ordinary.copy())
        return fresh

    def _map(self, value):
        if type(value) in (list, tuple):
            return type(value)(self._map(item) for item in value)
        return self.of(value)

    def before(self, backend, arguments, keywords):
        if backend.library != "numpy":
            return None
        return (
            [self._map(value) for value in arguments],
            dict(
                (key, self._map(value))
                for key, value in keywords.items()
                if key not in ("dtype", "out")
            ),
        )

    def after(self, backend, node, outputs, prepared):
        if (
            prepared is None
            or not outputs
            or not backend.is_float(outputs[0])
            or outputs[0].size > _LARGEST
        ):
            return
        output = outputs[0]
        ordinary = ordinary_array(plain(output), copy=True)
        shadow = self._run(node, prepared, ordinary)
        self._values[id(output)] = (shadow, ordinary)
        if node.inputs_bad or node.output_bad:
            return
        if not bool(np.isfinite(shadow).all()):
            self.nonfinite.append(node)
            return
        error, size = relative_error(ordinary, shadow)
        self.outputs[id(output)] = error
        worst = max([self.outputs.get(id(value), 0.0) for value in node.inputs] or [0.0])
        self.errors.append((node, worst, error, size))

    def _run(self, node, prepared, ordinary):
        arguments, keywords = prepared
        fallback = ordinary.astype(WIDE)
        if node.name == "cast":
            return arguments[0]
        try:
            with np.errstate(all="ignore"):
                wide = _linear(node, arguments)
                if wide is None:
                    wide = node.function(*arguments, **keywords)
        except Exception:
            # No long-double form of it: the shadow goes on from the ordinary result.
            return fallback
        if isinstance(wide, (tuple, list)):
            wide = wide[0]
        wide = ordinary_asarray(wide)
        return (
            wide.astype(WIDE)
            if wide.shape == ordinary.shape and wide.dtype.kind == "f"
            else fallback
        )


def _same(first, second):
    return first.shape == second.shape and bool(
        ((first == second) | ((first != first) & (second != second))).all()
    )


def _linear(node, arguments):
    """Linear algebra on wide operands; None when the operation is another one."""
    if not operations.has(node.name, "conditioned"):
        return None
    narrow = all(value.dtype.itemsize < 8 for value in node.inputs if value.dtype.kind == "f")
    if narrow:
        return node.function(
            *[
                value.astype(np.float64) if isinstance(value, np.ndarray) else value
                for value in arguments
            ]
        )
    matrix = arguments[0]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] > _ELIMINATION:
        raise TypeError("no elimination for this shape")
    if node.name == "solve":
        right = arguments[1]
        solved, _ = eliminate(matrix, right.reshape(matrix.shape[0], -1))
        return solved.reshape(right.shape)
    if node.name == "inverse":
        return eliminate(matrix, np.identity(matrix.shape[0], dtype=WIDE))[0]
    if node.name == "det":
        return eliminate(matrix, np.zeros((matrix.shape[0], 0), dtype=WIDE))[1]
    raise TypeError("no elimination for it")


def eliminate(matrix, right):
    """(solution, determinant) by Gauss-Jordan elimination with partial pivoting."""
    size = matrix.shape[0]
    work = np.concatenate([matrix, right], axis=1).astype(WIDE)
    determinant = WIDE(1.0)
    for column in range(size):
        pivot = column + int(np.argmax(np.abs(work[column:, column])))
        if pivot != column:
            work[[column, pivot]] = work[[pivot, column]]
            determinant = -determinant
        determinant = determinant * work[column, column]
        work[column] = work[column] / work[column, column]
        others = np.arange(size) != column
        work[others] -= work[others, column][:, None] * work[column]
    return work[:, size:], determinant


def relative_error(value, shadow):
    """Worst error of an array relative to its own largest element, and that element's size."""
    if value.size == 0:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        wide = value.astype(WIDE)
        scale = float(np.abs(shadow).max())
        if scale == 0.0:
            held = float(np.abs(wide).max())
            return (0.0, 0.0) if held == 0.0 else (1.0, held)
        return float(np.abs(wide - shadow).max() / WIDE(scale)), scale
