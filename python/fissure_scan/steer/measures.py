"""The quantities that soft assertions drive: how far elements are from failing, and which way is nearer.

A measure looks at the values as a NumPy array of doubles, whatever library computed them. `nearest`
answers for the element that is nearest to failing, with the slope of its distance; the libraries that
differentiate carry it on to the inputs. `scaled` answers with numbers alone, for the search without
gradients: positive quantities that fail near zero or beyond the largest number are measured on a
logarithmic scale, so that a slope is left over the whole floating-point range; those that fail by a
change of sign (`log(1 - p)`, `1 / (a - b)`) also keep their sign, so that the zero can be closed in on.
"""

import math

import numpy as np

# Powers of e between 1 and the end of the doubles.
_DEPTH = 745.0


class Measure:
    """A distance per element: positive while it is safe, zero or negative where it fails."""

    def distances(self, numbers):
        raise NotImplementedError

    def slopes(self, numbers):
        """What moving an element up does to its distance."""
        raise NotImplementedError

    def nearest(self, numbers):
        """(distance, slope at every element) of the nearest elements; None where there is none."""
        distances = self.distances(numbers)
        finite = np.where(np.isfinite(distances), distances, np.inf)
        distance = float(finite.min())
        if not math.isfinite(distance):
            return None
        nearest = finite == distance
        slopes = np.broadcast_to(self.slopes(numbers), numbers.shape)
        return distance, np.where(nearest, slopes / float(nearest.sum()), 0.0)

    def scaled(self, label, numbers):
        """(label, distance) pairs."""
        return [(label, float(self.distances(numbers).min()))]


class Below(Measure):
    """Fails at a limit and above."""

    def __init__(self, limit):
        self.limit = limit

    def distances(self, numbers):
        return self.limit - numbers

    def slopes(self, numbers):
        return -1.0


class Above(Measure):
    """Fails at a limit and below."""

    def __init__(self, limit):
        self.limit = limit

    def distances(self, numbers):
        return numbers - self.limit

    def slopes(self, numbers):
        return 1.0

    def scaled(self, label, numbers):
        found = Measure.scaled(self, label, numbers)
        return found + [("toward zero", _smallness(numbers))] if self.limit == 0.0 else found


class Within(Measure):
    """Fails at a magnitude and beyond."""

    def __init__(self, limit):
        self.limit = limit

    def distances(self, numbers):
        return self.limit - np.abs(numbers)

    def slopes(self, numbers):
        return -_sign(numbers)

    def scaled(self, label, numbers):
        size = float(np.abs(numbers).max())
        return [(label, math.log(self.limit) - math.log(size))] if size > 0.0 else []


class Around(Measure):
    """Fails in an interval around a point."""

    def __init__(self, middle, radius=0.0):
        self.middle = middle
        self.radius = radius

    def distances(self, numbers):
        return np.abs(numbers - self.middle) - self.radius

    def slopes(self, numbers):
        return _sign(numbers - self.middle)

    def scaled(self, label, numbers):
        """Nearer to zero, and through it: what is at or below 0 is on the other side already."""
        if self.middle != 0.0:
            return Measure.scaled(self, label, numbers)
        low, high = float(numbers.min()), float(numbers.max())
        found = [(label, _smallness(numbers)), ("decrease", low), ("increase", -high)]
        if low < 0.0 < high:
            first = float(numbers.ravel()[0])
            found += [("decrease the first element", first), ("increase the first element", -first)]
        return found


class Vanishing(Around):
    """Fails at zero, and has one sign: a variance, a length."""

    def __init__(self):
        Around.__init__(self, 0.0)

    def scaled(self, label, numbers):
        return [(label, _smallness(numbers))]


class Gap(Measure):
    """Fails where an element is a limit below the largest of its row."""

    def __init__(self, axis, limit):
        self.axis = axis
        self.limit = limit

    def distances(self, numbers):
        return self.limit - (numbers.max(axis=self.axis, keepdims=True) - numbers)

    def nearest(self, numbers):
        if numbers.ndim == 0:
            return None
        distances = self.distances(numbers)
        place = np.unravel_index(int(np.argmin(distances)), distances.shape)
        axis = self.axis % numbers.ndim
        row = tuple(slice(None) if number == axis else at for number, at in enumerate(place))
        top = list(place)
        top[axis] = int(np.argmax(numbers[row]))
        seed = np.zeros(numbers.shape)
        seed[place] += 1.0
        seed[tuple(top)] -= 1.0
        return float(distances[place]), seed


class Nowhere(Measure):
    """Fails where no element is above (with sign -1: below) its bound any more: nothing is left of a choice."""

    def __init__(self, bound, sign):
        self.bound = bound
        self.sign = sign

    def distances(self, numbers):
        return self.sign * (numbers - self.bound)

    def nearest(self, numbers):
        apart = self.distances(numbers)
        held = apart > 0.0
        if apart.shape != numbers.shape or not held.any():
            return None
        return float(apart.max()), np.where(held, self.sign / float(held.sum()), 0.0)

    def scaled(self, label, numbers):
        return [(label, float(self.distances(numbers).max()))]


class Length(Measure):
    """Fails where a row has no length."""

    def distances(self, numbers):
        return np.sqrt((numbers * numbers).sum(axis=-1, keepdims=True))

    def nearest(self, numbers):
        lengths = self.distances(numbers)
        shortest = float(lengths.min())
        return shortest, np.where(lengths == shortest, numbers, 0.0)

    def scaled(self, label, numbers):
        return [(label, _smallness(self.distances(numbers)))]


class Singular(Measure):
    """Fails where a matrix loses its rank."""

    def nearest(self, numbers):
        left, values, right = np.linalg.svd(numbers, full_matrices=False)
        smallest = values[..., -1]
        place = np.unravel_index(int(np.argmin(smallest)), smallest.shape)
        seed = np.zeros(numbers.shape)
        seed[place] = np.outer(left[place][:, -1], right[place][-1])
        return float(smallest[place]), seed

    def scaled(self, label, numbers):
        values = np.linalg.svd(numbers, compute_uv=False)
        smallest, largest = float(values[..., -1].min()), float(values.max())
        if smallest <= 0.0 or largest <= 0.0:
            return []
        return [(label, math.log(smallest / largest) + _DEPTH)]


def _smallness(numbers):
    """How many powers of e the smallest magnitude is above the end of the doubles."""
    smallest = float(np.abs(numbers).min())
    return math.log(smallest) + _DEPTH if smallest > 0.0 else 0.0


def _sign(numbers):
    return np.where(numbers >= 0.0, 1.0, -1.0)
