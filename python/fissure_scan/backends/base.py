"""What the monitor, the search and the oracles ask about the arrays of a library.

A backend answers for one library. Everything that can be said about a NumPy array of the same
values is said here, once; a library overrides an answer where it has a cheaper way. The conformance
suite (`tests/integration/backend_conformance.py` of fissure-numeric) states what each answer means.
"""

import numpy as np
from fissure_worker import dtypes

# The originals: while the program runs, NumPy's own names lead to the traced sources.
_asarray, _array = np.asarray, np.array

_FLOATS = dict(
    (name, dtypes.INEXACT[name]) for name in ("float16", "bfloat16", "float32", "float64")
)
EPSILONS = dict((name, dtype.epsilon) for name, dtype in _FLOATS.items())
MAXIMUM = dict((name, dtype.largest) for name, dtype in _FLOATS.items())
SMALLEST_NORMAL = dict((name, dtype.smallest) for name, dtype in _FLOATS.items())


def fitted(chosen, shape, monitor):
    """Values for a source that makes an array of another shape each time: repeated or cut to fit; None where
    the sizes of the data are what is varied."""
    if tuple(chosen.shape) == tuple(shape):
        return chosen
    if monitor.settings.resize is not None or 0 in tuple(chosen.shape) + tuple(shape):
        return None
    if hasattr(chosen, "detach"):
        chosen = chosen.detach().double().cpu().numpy()
    return np.resize(chosen, tuple(shape))


class Backend:
    library = ""
    # Does `differentiate` give slopes?
    has_gradients = True

    # To be answered by each library --------------------------------------------------------------

    def is_array(self, value):
        """Is it an array of this library, with values?"""
        raise NotImplementedError

    def from_numpy(self, array, dtype_name):
        """A new array of the library with these values."""
        raise NotImplementedError

    def numbers(self, value):
        """The values as an ordinary NumPy array that NumPy can compute with: never of a narrower
        type than the array's own, and never a traced one."""
        raise NotImplementedError

    def dtype_name(self, value):
        """`float32` and the like, without the library's prefix."""
        raise NotImplementedError

    def replace(self, value, chosen, monitor, key):
        """What the program gets instead of an input; None to leave it as it is."""
        raise NotImplementedError

    def assign(self, value, chosen):
        """Gives an array that the program already holds other values."""
        raise NotImplementedError

    def call_wider(self, node):
        """The node's own function on operands of wider floats."""
        raise NotImplementedError

    def differentiate(self, node, trace):
        """(label, distance, input key -> gradient) of each soft assertion of the node."""
        raise NotImplementedError

    def vjp(self, node, cotangents):
        """(operand, cotangent) pairs of one operation; none where the library has no derivatives."""
        return []

    # The same for all, unless a library knows better ---------------------------------------------

    def is_float(self, value):
        return self.is_array(value) and self.dtype_name(value) in MAXIMUM

    def is_inexact(self, value):
        """Is it an array of floats or complex numbers: can it hold a NaN?"""
        return self.is_float(value) or (
            self.is_array(value) and self.dtype_name(value).startswith("complex")
        )

    def steerable(self, value):
        """Can an operand be moved toward a failure?"""
        return self.is_float(value)

    def is_weight(self, value):
        """A parameter of a model, which training changes."""
        return False

    def given_name(self, value):
        """The name that the library knows an array by."""
        return None

    def is_in_place(self, function):
        """Does the function change its first operand?"""
        return False

    def can_connect(self, value):
        """Can gradients be asked for at this array as it is?"""
        return False

    def count(self, value):
        total = 1
        for size in value.shape:
            total *= int(size)
        return total

    def copy(self, value):
        """A copy that stays as it is, as the library's own array or a NumPy one."""
        return _array(self.numbers(value), copy=True)

    def snapshot(self, value):
        """Arrays copied, inside lists and tuples too; everything else as it is."""
        if self.is_array(value) or isinstance(value, np.ndarray):
            return self.copy(value)
        if type(value) in (list, tuple):
            return type(value)(self.snapshot(item) for item in value)
        return value

    def finite(self, value):
        return not self.is_inexact(value) or bool(np.isfinite(self.numbers(value)).all())

    def has_nan(self, value):
        return self.is_inexact(value) and bool(np.isnan(self.numbers(value)).any())

    def statistics(self, value):
        """(smallest, largest, only whole numbers, number of elements)."""
        array = self.numbers(value).astype(np.float64)
        if array.size == 0:
            return 0.0, 0.0, False, 0
        return (
            float(array.min()),
            float(array.max()),
            bool((array == np.round(array)).all()),
            array.size,
        )

    def extremes(self, value):
        """Smallest and largest element of an array that is not empty."""
        array = self.numbers(value)
        return float(array.min()), float(array.max())

    def epsilon(self, value):
        return EPSILONS.get(self.dtype_name(value), EPSILONS["float32"])

    def largest(self, value):
        """The largest finite number of the array's type."""
        return MAXIMUM.get(self.dtype_name(value), MAXIMUM["float32"])

    def smallest_normal(self, value):
        """The smallest number of the array's type that has all its digits."""
        return SMALLEST_NORMAL.get(self.dtype_name(value), SMALLEST_NORMAL["float32"])

    def integer_limits(self, value):
        """(smallest, largest) of an array of integers; None for everything else."""
        name = self.dtype_name(value) if hasattr(value, "dtype") else ""
        if name not in dtypes.INTEGERS:
            return None
        info = np.iinfo(name)
        return int(info.min), int(info.max)

    def describe_bad(self, value):
        flat = self.numbers(value).ravel()
        nans, infinite = int(np.isnan(flat).sum()), np.isinf(flat)
        positive = int((infinite & (flat.real >= 0)).sum())
        negative = int(infinite.sum()) - positive
        parts = [
            text for count, text in ((nans, "NaN"), (positive, "inf"), (negative, "-inf")) if count
        ]
        return "/".join(parts) + " in %d of %d elements" % (nans + positive + negative, flat.size)

    def any_equal_nonzero_or_lost(self, total, array, constant):
        """Did adding a constant change no digit of some element, or is it zero in this type?"""
        with np.errstate(all="ignore"):
            if bool((self.numbers(total) == self.numbers(array)).any()):
                return True
            held = self.from_numpy(_asarray(constant), self.dtype_name(total))
            return float(self.numbers(held)) == 0.0
