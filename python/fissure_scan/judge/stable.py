"""Stable forms of formulas, on NumPy arrays of wide floats: the same for every library."""

import math

import numpy as np

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def softplus(x):
    return np.logaddexp(x.dtype.type(0), x)


def log_sigmoid(x):
    return -softplus(-x)


def log_softmax(x, axis):
    return x - logsumexp(x, axis, True)


def logsumexp(x, axis, keep):
    top = x.max(axis=axis, keepdims=True)
    total = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return total if keep else np.squeeze(total, axis=axis)


def log_cosh(x):
    """log(1 + 2 sinh²(x/2)), and |x| - log 2 where that overflows."""
    x = np.abs(x)
    small = np.log1p(2.0 * np.sinh(np.minimum(x, 20.0) / 2.0) ** 2)
    return np.where(x < 20.0, small, x - math.log(2.0))


def erfc(x):
    return _erfc(x.astype(np.float64))


def xlogy(x, y):
    return np.where(x == 0.0, 0.0, x * np.log(np.where(x == 0.0, 1.0, y)))


def binary_cross_entropy(logits, target):
    """y log(p) + (1 − y) log(1 − p) of p = sigmoid(logits)."""
    return target * log_sigmoid(logits) + (1.0 - target) * log_sigmoid(-logits)
