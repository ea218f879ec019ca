"""The strength of a thin lens's image, which is zero when the object stands in its focus."""

import numpy as np

generator = np.random.default_rng(44)

FOCAL_LENGTH = 1.25


def image_vergence(distances):
    return 1.0 / FOCAL_LENGTH - 1.0 / distances


distances = generator.uniform(0.5, 4.0, size=5)  # input
vergences = image_vergence(distances)
print("vergences", np.round(vergences, 3))
