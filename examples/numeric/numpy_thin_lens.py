"""Where a thin lens puts the image of an object: nowhere when the object stands in its focus."""

import numpy as np

generator = np.random.default_rng(44)

FOCAL_LENGTH = 1.25


def image_distance(distances):
    vergence = 1.0 / FOCAL_LENGTH - 1.0 / distances
    return 1.0 / vergence  # unstable


distances = generator.uniform(0.5, 4.0, size=5)  # input
images = image_distance(distances)
print("images at", np.round(images, 3))
