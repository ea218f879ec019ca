"""Floating-point types as scales: every finite number has a whole number, its place in the order.

The place is a signed logarithm that is exact: neighbouring numbers of the type have neighbouring
places, and each power of two takes the same room. "Nearer", "halfway" and "log-uniform" are meant on
this scale everywhere. Values are kept as float64 arrays that hold numbers of the type exactly.
"""

import numpy as np

# How all elements of a context move together.
OUTWARD, INWARD, UP, DOWN = range(4)


class Precision:
    def __init__(self, name):
        self.name = name
        self._bits, self._shift = {
            "float16": (16, 0),
            "bfloat16": (32, 16),
            "float32": (32, 0),
            "float64": (64, 0),
        }[name]
        self.last = {
            "float16": 0x7BFF,
            "bfloat16": 0x7F7F,
            "float32": 0x7F7FFFFF,
            "float64": 0x7FEFFFFFFFFFFFFF,
        }[name]
        self.first_normal = {
            "float16": 0x0400,
            "bfloat16": 0x0080,
            "float32": 0x00800000,
            "float64": 0x0010000000000000,
        }[name]
        self.maximum = float(self.value(np.array([self.last]))[0])
        self.smallest_normal = float(self.value(np.array([self.first_normal]))[0])
        self.one = int(self.place(np.array([1.0]))[0])
        # How far a result may be from the reference: twenty units of a half, 5 % else.
        self.tolerance = 0.1 if name in ("float16", "bfloat16") else 0.05

    def place(self, values):
        """The place of each value, which must be a number of the type."""
        values = np.asarray(values, dtype=np.float64)
        if self._bits == 16:
            bits = values.astype(np.float16).view(np.int16).astype(np.int64)
            magnitude = bits & 0x7FFF
        elif self._bits == 32:
            bits = values.astype(np.float32).view(np.int32).astype(np.int64)
            magnitude = (bits & 0x7FFFFFFF) >> self._shift
        else:
            bits = values.view(np.int64)
            magnitude = bits & 0x7FFFFFFFFFFFFFFF
        return np.where(bits < 0, -magnitude, magnitude)

    def value(self, places):
        """The number at each place."""
        places = np.asarray(places, dtype=np.int64)
        magnitude = np.abs(places)
        if self._bits == 16:
            values = magnitude.astype(np.int16).view(np.float16).astype(np.float64)
        elif self._bits == 32:
            values = (magnitude << self._shift).astype(np.int32).view(np.float32)
            values = values.astype(np.float64)
        else:
            values = magnitude.view(np.float64)
        return np.where(places < 0, -values, values)

    def round(self, values):
        """The nearest numbers of the type; beyond its range, its largest."""
        values = np.clip(
            np.nan_to_num(np.asarray(values, dtype=np.float64)), -self.maximum, self.maximum
        )
        if self.name == "bfloat16":
            bits = values.astype(np.float32).view(np.int32).astype(np.int64)
            magnitude = ((bits & 0x7FFFFFFF) + 0x8000) >> 16
            magnitude = np.minimum(magnitude, self.last)
            return self.value(np.where(bits < 0, -magnitude, magnitude))
        if self.name == "float16":
            return values.astype(np.float16).astype(np.float64)
        if self.name == "float32":
            return np.clip(
                values.astype(np.float32).astype(np.float64), -self.maximum, self.maximum
            )
        return values

    def drawn(self, generator, shape, lowest=None, highest=None):
        """Numbers whose places are drawn uniformly: log-uniform in magnitude, both signs."""
        lowest = -self.last if lowest is None else lowest
        highest = self.last if highest is None else highest
        share = generator.random(shape)
        # In floats: the width of float64's places does not fit 64 bits.
        places = np.floor(float(lowest) + share * (float(highest) - float(lowest)))
        return self.value(
            np.clip(places, float(lowest) * (1 - 1e-15), float(highest) * (1 - 1e-15)).astype(
                np.int64
            )
        )


def between(low, high):
    """The place in the middle, without leaving 64 bits."""
    return low // 2 + high // 2 + (low % 2 + high % 2) // 2


def apart(low, high):
    """How many places lie from `low` up to `high`, exactly: the difference of two 64-bit places
    does not always fit 64 bits with a sign, so it wraps into those without."""
    return (high - low).view(np.uint64)


def distance(start, end):
    """How many places lie between, as a float for comparisons."""
    return apart(np.minimum(start, end), np.maximum(start, end)).astype(np.float64)
