"""The later of two versions of one package: each function changed as its name tells, the last ones not at all."""

import os
import time

import numpy as np

__version__ = "2.0"


def _check(x: np.ndarray):
    if not isinstance(x, np.ndarray):
        raise TypeError("an array is needed")
    return x.astype(np.float64)


def crashes(x: np.ndarray):
    y = _check(x)
    if y.ndim == 2:
        os.abort()
    return y + 1.0


def rejects(x: np.ndarray):
    y = _check(x)
    if y.ndim == 0:
        raise ValueError("no dimensions")
    return y + 1.0


def accepts(x: np.ndarray):
    return float(x.size)


def raises_otherwise(x: np.ndarray):
    if x.ndim != 1:
        raise IndexError("exactly one dimension")
    return _check(x)


def other_dtype(x: np.ndarray):
    return (_check(x) * 0.5).astype(np.float32)


def other_shape(x: np.ndarray):
    return _check(x).reshape(1, -1)


def other_structure(x: np.ndarray):
    return (_check(x), 1)


def other_values(x: np.ndarray):
    return np.tanh(_check(x)) * 1.001 + 0.001


def other_number(x: np.ndarray):
    _check(x)
    return int(x.size) + (x.ndim == 1)


def other_argument(x: np.ndarray):
    _check(x)
    if x.dtype == np.float32 and x.size:
        x[...] = 7.0
    return None


def other_eps(x: np.ndarray):
    """Of length one; a vector much shorter than the constant stays short."""
    y = _check(x)
    return y / np.maximum(np.sqrt((y * y).sum()), 1e-2)


def slower(x: np.ndarray):
    end = time.process_time() + 0.0005
    while time.process_time() < end:
        pass
    return float(np.asarray(x, dtype=np.float64).size)


def hungry(x: np.ndarray):
    _check(x)
    if x.size > 1000:
        np.ones(2 << 20, np.float64)
    return np.zeros(4, np.float64)


def new_name(x: np.ndarray):
    return _check(x) + 2.0


# The same in both.


def same(x: np.ndarray):
    return np.sqrt(np.abs(_check(x)))


def same_eps(x: np.ndarray):
    """The same by another way."""
    y = _check(x)
    return y / (np.sqrt(np.square(y).sum()) + 1e-12)


def random_numbers(x: np.ndarray):
    return np.random.rand(*x.shape)


def fresh_memory(x: np.ndarray):
    """The elements of the result are not initialized."""
    return np.empty(x.shape, np.float64)


def rounds(x: np.ndarray):
    return np.asarray(x, dtype=np.float32).reshape(-1)[::-1].sum(dtype=np.float32)


def addresses(x: np.ndarray):
    """Keys that are another for each call."""
    return {id(object()) + np.random.randint(1 << 40): x.size}


def counts(x: np.ndarray):
    """Another number for each call."""
    global _calls
    _calls += 1
    return _calls


_calls = 0
