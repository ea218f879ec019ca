"""NumPy only: k-means, principal components, and a logistic regression with a stable sigmoid."""

import numpy as np

state = np.random.RandomState(0)
np.random.seed(1)
points = np.random.randn(60, 2)
centres = points[state.choice(60, 3, replace=False)]
for _ in range(5):
    distance = ((points[:, None] - centres[None]) ** 2).sum(-1)
    nearest = distance.argmin(1)
    centres = np.array(
        [points[nearest == k].mean(0) if (nearest == k).any() else centres[k] for k in range(3)]
    )
_, strength, _ = np.linalg.svd(points - points.mean(0), full_matrices=False)

weights = np.zeros(2)
labels = (points[:, 0] > 0).astype(float)
for _ in range(10):
    score = points @ weights
    decay = np.exp(-np.abs(score))
    probability = np.where(score >= 0, 1 / (1 + decay), decay / (1 + decay))
    weights -= 0.1 * points.T @ (probability - labels) / 60
print(strength, weights, np.mean((probability > 0.5) == labels))
