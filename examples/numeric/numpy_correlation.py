"""The correlation matrix of several series, written in NumPy."""

import numpy as np

generator = np.random.default_rng(41)


def correlations(series):
    centred = series - series.mean(axis=1, keepdims=True)
    covariance = centred @ centred.T
    lengths = np.sqrt(np.diag(covariance))
    return covariance / np.outer(lengths, lengths)  # unstable


def strongest_pair(matrix):
    upper = np.triu(np.abs(matrix), k=1)
    return np.unravel_index(np.argmax(upper), upper.shape)


series = generator.random((5, 40))  # input
matrix = correlations(series)
first, second = strongest_pair(matrix)
print(f"series {first} and {second}: {matrix[first, second]:.4f}")
