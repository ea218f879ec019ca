"""The earlier of two versions of one package; the later one changes each function as its name tells."""

import numpy as np

__version__ = "1.0"


def _check(x: np.ndarray):
    if not isinstance(x, np.ndarray):
        raise TypeError("an array is needed")
    return x.astype(np.float64)


def crashes(x: np.ndarray):
    y = _check(x)
    return y + 1.0


def rejects(x: np.ndarray):
    y = _check(x)
    return y + 1.0


def accepts(x: np.ndarray):
    if x.ndim > 1:
        raise ValueError("one dimension at most")
    return float(x.size)


def raises_otherwise(x: np.ndarray):
    if x.ndim != 1:
        raise ValueError("exactly one dimension")
    return _check(x)


def other_dtype(x: np.ndarray):
    return _check(x) * 0.5


def other_shape(x: np.ndarray):
    return _check(x).reshape(-1)


def other_structure(x: np.ndarray):
    return [_check(x), 1]


def other_values(x: np.ndarray):
    return np.tanh(_check(x))


def other_number(x: np.ndarray):
    _check(x)
    return int(x.size)


def other_argument(x: np.ndarray):
    _check(x)
    return None


def other_eps(x: np.ndarray):
    """Of length one; a vector much shorter than the constant stays short."""
    y = _check(x)
    return y / np.maximum(np.sqrt((y * y).sum()), 1e-12)


def slower(x: np.ndarray):
    return float(np.asarray(x, dtype=np.float64).size)


def hungry(x: np.ndarray):
    _check(x)
    return np.zeros(4, np.float64)


def gone(x: np.ndarray):
    return _check(x)


def old_name(x: np.ndarray):
    return _check(x) + 2.0


# The same in both.


def same(x: np.ndarray):
    return np.sqrt(np.abs(_check(x)))


def same_eps(x: np.ndarray):
    """The same by another way."""
    y = _check(x)
    return y / (np.sqrt((y * y).sum()) + 1e-12)


def random_numbers(x: np.ndarray):
    return np.random.rand(*x.shape)


def fresh_memory(x: np.ndarray):
    """The elements of the result are not initialized."""
    return np.empty(x.shape, np.float64)


def rounds(x: np.ndarray):
    return np.asarray(x, dtype=np.float32).sum(dtype=np.float32)


def addresses(x: np.ndarray):
    """Keys that are another for each call."""
    return {id(object()) + np.random.randint(1 << 40): x.size}


def counts(x: np.ndarray):
    """Another number for each call."""
    global _calls
    _calls += 1
    return _calls


_calls = 0
