"""Term frequency and inverse document frequency in NumPy."""

import numpy as np

generator = np.random.default_rng(39)


def counts(occurrences, threshold=0.7):
    return (occurrences > threshold).astype(np.float64)


def inverse_document_frequency(present):
    documents = present.shape[0]
    containing = present.sum(axis=0)
    return np.log(documents / containing)  # unstable


def weights(occurrences):
    present = counts(occurrences)
    return present * inverse_document_frequency(present)


occurrences = generator.random((30, 8))  # input
table = weights(occurrences)
heaviest = table.sum(axis=0).argsort()[::-1][:3]
for term in heaviest:
    print(f"term {term}: weight {table[:, term].sum():.4f}")
