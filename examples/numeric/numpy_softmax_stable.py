"""A softmax regression in NumPy, shifted by the largest logit."""

import numpy as np

generator = np.random.default_rng(30)


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def cross_entropy(logits, labels):
    chosen = softmax(logits)[np.arange(len(labels)), labels]
    return -np.log(np.maximum(chosen, 1e-12)).mean()


def gradient(logits, labels):
    probabilities = softmax(logits)
    probabilities[np.arange(len(labels)), labels] -= 1
    return probabilities / len(labels)


logits = generator.normal(size=(50, 4))  # input
labels = generator.integers(0, 4, size=50)
for step in range(4):
    loss = cross_entropy(logits, labels)
    logits = logits - 5.0 * gradient(logits, labels)
    print(f"step {step}: loss {loss:.4f}")
