"""Input values worth trying, level by level. Values are NumPy arrays of doubles.

A candidate changes some inputs and leaves the others as the program made them. What a level allows
follows the reference: L1 stays inside the range of the program's own data (or of the source), L2 is
any finite value where the source is unbounded, L3 moves weights too.
"""

import numpy as np

from ..backends.base import MAXIMUM
from ..backends.numpy_backend import ordinary_asarray
from ..run.specs import of_sum_one, of_unit_length, without_negative_eigenvalues


class Variable:
    """An input with what is allowed for it."""

    def __init__(self, info, low=None, high=None):
        self.key = info.key
        self.name = info.name
        self.kind = info.kind
        self.dtype = info.dtype()
        self.limit = MAXIMUM.get(self.dtype, MAXIMUM["float32"])
        value = info.value
        if hasattr(value, "detach"):
            value = value.detach().double().cpu().numpy()
        self.own = ordinary_asarray(value, dtype=np.float64).copy()
        self.low = info.low if low is None else low
        self.high = info.high if high is None else high
        self.user_range = low is not None or high is not None
        self.whole = "float" not in self.dtype  # an image of bytes
        self.unit_length = info.unit_length
        self.covariance = info.covariance
        self.distribution = info.distribution
        finite = self.own[np.isfinite(self.own)]
        self.own_low = float(finite.min()) if finite.size else 0.0
        self.own_high = float(finite.max()) if finite.size else 0.0
        self.scale = max(abs(self.own_low), abs(self.own_high)) or 1.0

    def inner_range(self):
        """The range of level L1: of the source where it is bounded, else of the own data."""
        low = self.own_low if self.low is None else self.low
        high = self.own_high if self.high is None else self.high
        if self.high is not None and self.high > low and not self.user_range:
            # Half-open, as random sources are: the largest value below the bound.
            high = float(np.nextafter(np.float32(high), np.float32(-np.inf)))
        return min(low, high), high

    def clip(self, values, level):
        if level <= 1:
            low, high = self.inner_range()
        else:
            low = -self.limit if self.low is None else self.low
            high = self.limit if self.high is None else self.inner_range()[1]
        return self.settle(
            np.clip(
                np.nan_to_num(values, nan=0.0, posinf=self.limit, neginf=-self.limit), low, high
            )
        )

    def settle(self, values):
        """Values that the input's type and what is said of it allow."""
        if self.low is not None or self.high is not None:
            # Steps of a search overshoot.
            values = np.clip(values, self.low, self.high)
        if self.unit_length and values.shape == self.own.shape:
            values = of_unit_length(values)
        if self.covariance and values.shape == self.own.shape:
            values = without_negative_eigenvalues(values)
        if self.distribution and values.shape == self.own.shape:
            values = of_sum_one(values)
        return np.rint(values) if self.whole else values

    def nearer(self, values):
        """The same direction, no further than values may be that still count."""
        largest = float(np.abs(values).max()) if values.size else 0.0
        share = min(1.0, 9.0 * self.limit**0.5 / largest) if largest > 0.0 else 1.0
        return values * share

    def tiny(self):
        """Values below this that are not 0 come from nowhere: their reciprocals hardly fit."""
        return self.limit**-0.75

    def unbounded(self):
        return self.low is None or self.high is None


def inner(variables):
    """Level L1: (label, overrides) pairs."""
    yield from _each(variables, "lowest", lambda v: np.full_like(v.own, v.inner_range()[0]), 1)
    yield from _each(variables, "zero", lambda v: np.zeros_like(v.own), 1)
    yield from _each(variables, "highest", lambda v: np.full_like(v.own, v.inner_range()[1]), 1)
    yield from _each(variables, "equal rows", _equal_rows, 1)
    yield from _each(variables, "flat rows", _flat_rows, 1)
    yield from _pairs(variables, 1)
    yield from _each(variables, "last row zero", _last_row_zero, 1)
    yield from _each(variables, "one element high, others low", _one_high, 1)
    yield from _each(
        variables,
        "mean everywhere",
        lambda v: np.full_like(v.own, float(v.own.mean()) if v.own.size else 0.0),
        1,
    )
    for label, make in SPECIAL:
        chosen = dict(
            (v.key, v.clip(made, 1))
            for v, made in ((v, make(v)) for v in variables)
            if made is not None
        )
        if chosen:
            yield label, chosen
    yield from _opposite_ends(variables)


def absent(names):
    """Level L1: labels and indices of which the last, or the first, does not occur; of pairs (the two ends of
    edges), not as the first of a pair. Where nothing occurs twice they are an order, which has all of them."""
    chosen = [v for v in names if v.own_low < v.own_high and len(np.unique(v.own)) < v.own.size]
    pairs = [v for v in chosen if v.own.ndim == 2 and 2 in v.own.shape]
    for label, gone, instead in (("last", "own_high", "own_low"), ("first", "own_low", "own_high")):
        for where, some in (("", chosen), (" as the first of a pair", pairs)):
            values = {}
            for v in some:
                made = np.where(v.own == getattr(v, gone), getattr(v, instead), v.own)
                if where:
                    second = (1,) if v.own.shape[0] == 2 else (slice(None), 1)
                    made[second] = v.own[second]
                values[v.key] = made
            if values:
                yield "the %s of the named does not occur%s" % (label, where), values


def _opposite_ends(variables):
    """One input at its lowest while another is at its highest: two parts of a sum that vanish together."""
    if not 1 < len(variables) <= 3:
        return
    for low in variables:
        for high in variables:
            if low is not high:
                yield (
                    "%s lowest, %s highest" % (low.name, high.name),
                    {
                        low.key: low.clip(np.full_like(low.own, low.inner_range()[0]), 1),
                        high.key: high.clip(np.full_like(high.own, high.inner_range()[1]), 1),
                    },
                )


def idle(variables):
    """Level L4: data from which no gradient comes, as from where a search has already arrived."""
    yield from _each(variables, "zero", lambda v: np.zeros_like(v.own), 1)
    yield from _each(variables, "all 1", lambda v: np.ones_like(v.own), 2)


def _two_equal_rows(variable):
    own = variable.own
    if own.ndim < 2 or own.shape[0] < 3:
        return None
    values = own.copy()
    values[1] = values[0]
    return values


def _equal_columns(variable):
    own = variable.own
    if own.ndim < 2 or own.shape[-1] < 3:
        return None
    values = own.copy()
    values[..., 1] = values[..., 0]
    return values


def _constant_column(variable):
    own = variable.own
    if own.ndim < 2 or own.shape[0] < 2:
        return None
    values = own.copy()
    values[..., 0] = values.flat[0]
    return values


def _one_hot(variable):
    own = variable.own
    if own.ndim < 1 or own.shape[-1] < 2:
        return None
    values = np.zeros_like(own)
    rows = values.reshape(-1, own.shape[-1])
    rows[np.arange(len(rows)), np.arange(len(rows)) % own.shape[-1]] = min(
        1.0, max(variable.inner_range()[1], 0.0)
    )
    return values


def _rank_one(variable):
    own = variable.own
    if own.ndim != 2 or min(own.shape) < 2:
        return None
    return np.outer(own[:, 0], own[0]) / (np.abs(own[0]).max() or 1.0)


def _nearly_singular(variable):
    """A square matrix whose last direction nearly vanishes: condition number 10⁷."""
    own = variable.own
    if own.ndim < 2 or own.shape[-1] != own.shape[-2] or own.shape[-1] < 2 or own.size > 1e6:
        return None
    try:
        left, values, right = np.linalg.svd(own)
    except np.linalg.LinAlgError:
        return None
    values[..., -1] = values[..., 0] * 1e-7
    return (left * values[..., None, :]) @ right


def _first_row_tiny(variable):
    own = variable.own
    if own.ndim < 2 or own.shape[0] < 2:
        return None
    values = own.copy()
    values[0] *= 1e-12
    return values


def _alternating(variable):
    own = variable.own
    if own.ndim < 1 or own.shape[-1] < 2:
        return None
    values = np.full_like(own, variable.scale)
    values[..., 1::2] *= -1.0
    return values


def _sorted(variable):
    own = variable.own
    return np.sort(own, axis=-1) if own.ndim >= 1 and own.shape[-1] > 2 else None


# Inputs that a tester would try on any array, inside the range of its own values.
SPECIAL = (
    ("two equal rows", _two_equal_rows),
    ("two equal columns", _equal_columns),
    ("a constant column", _constant_column),
    ("one-hot", _one_hot),
    ("rank one", _rank_one),
    ("nearly singular", _nearly_singular),
    ("first row tiny", _first_row_tiny),
    ("alternating signs", _alternating),
    ("sorted", _sorted),
)


# Factors of a ladder, the largest first: see `outer`.
LADDER = (1e4, 10.0, 100.0, 1e3)


def outer(variables):
    """Level L2 within 10⁴ times the program's own values: ladders of (label, overrides) pairs. Where
    the first step of a ladder harms nothing, its smaller ones need not be tried."""
    free = [variable for variable in variables if variable.unbounded()]
    if not free:
        return
    kinds = (
        ("times %g", lambda v, f: v.own * f),
        ("times -%g", lambda v, f: -v.own * f),
        ("all %g", lambda v, f: np.full_like(v.own, f * v.scale)),
        ("all -%g", lambda v, f: np.full_like(v.own, -f * v.scale)),
        ("alternating %g", _alternate),
        ("outliers of %g", _outliers),
    )
    alone = [("%s " % v.name, [v]) for v in free] if 1 < len(free) <= 4 else []
    for label, make in kinds:
        for prefix, chosen in [("", free)] + alone:
            yield (
                (prefix + label % f, dict((v.key, v.clip(make(v, f), 2)) for v in chosen))
                for f in LADDER
            )


def tiny(variables):
    """Level L2 toward zero."""
    free = [variable for variable in variables if variable.unbounded()]
    # Where many formulas have a fixed point.
    yield from _each(free, "all 1", lambda v: np.ones_like(v.own), 2)
    for factor in (1e-4, 1e-10, 1e-20, 1e-24, 1e-30, 1e-38, 1e-44):
        yield from _each(free, "times %g" % factor, lambda v, f=factor: v.own * f, 2)


def heavier(weights):
    """Level L3: the weights as training could have made them, all at once."""
    for factor in (10.0, 100.0, 1e3):
        yield "weights times %g" % factor, dict((v.key, v.clip(v.own * factor, 2)) for v in weights)
        yield (
            "weights all %g" % factor,
            dict((v.key, v.clip(np.full_like(v.own, factor * v.scale), 2)) for v in weights),
        )
        yield (
            "weights alternating %g" % factor,
            dict((v.key, v.clip(_alternate(v, factor), 2)) for v in weights),
        )
    yield "weights zero", dict((v.key, np.zeros_like(v.own)) for v in weights)


def learned(weights, inputs):
    """Level L3: weights that training has brought to what they are compared with: as another weight or
    an input of the same shape is, or row by row as the rows of one that has more or fewer (prototypes, centres,
    the weights of a class)."""
    pairs = [(weight, other) for weight in weights[:4] for other in (inputs + weights)[:8]]
    for weight, other in pairs:
        if weight is not other and weight.own.shape == other.own.shape and weight.own.size:
            yield (
                "%s equal to %s" % (weight.name, other.name),
                {weight.key: weight.clip(other.own.copy(), 2)},
            )
        elif weight is not other and of_rows_alike(weight.own, other.own):
            places = np.arange(weight.own.shape[0]) % other.own.shape[0]
            yield (
                "rows of %s equal to those of %s" % (weight.name, other.name),
                {weight.key: weight.clip(other.own[places].copy(), 2)},
            )


def of_rows_alike(one, two):
    return (
        one.ndim >= 2
        and one.shape[1:] == two.shape[1:]
        and one.shape[0] != two.shape[0]
        and bool(one.size and two.size)
    )


def offsets(variables):
    """Level L2 for precision: the own data moved away from zero."""
    free = [variable for variable in variables if variable.unbounded()]
    for factor in (10.0, 100.0, 1e3, 9e3):
        yield from _each(free, "plus %g" % factor, lambda v, f=factor: v.own + f * v.scale, 2)
    yield from _each(free, "times 1000", lambda v: v.own * 1e3, 2)


def delicate(variables):
    """Level L1 for precision: small values, and rows or columns that nearly agree."""
    yield from _each(variables, "times 1e-07", lambda v: v.own * 1e-7, 1)
    yield from _each(variables, "nearly equal columns", lambda v: _near(v, -1), 1)
    yield from _each(variables, "nearly equal rows", lambda v: _near(v, 0), 1)


def _near(variable, axis):
    own = variable.own
    if own.ndim < 2 or own.shape[axis] < 2:
        return own
    first = np.take(own, [0], axis=axis)
    return first + 1e-4 * (own - first)


def far(variables):
    """Level L2 up to ten times the square root of the largest number."""
    free = [variable for variable in variables if variable.unbounded()]
    for power in (0.25, 0.4, 0.5):

        def values(v, p=power):
            top = 10.0 * v.limit**p if p == 0.5 else v.limit**p
            return v.own * (top / v.scale)

        yield from _each(free, "near %g of the range" % power, values, 2)
    yield from _each(
        free,
        "constant near the root of the range",
        lambda v: np.full_like(v.own, 9.0 * v.limit**0.5),
        2,
    )


def absurd(variables):
    """Magnitudes where correct code overflows too: only notes come from here."""
    free = [variable for variable in variables if variable.unbounded()]
    yield from _each(free, "largest", lambda v: v.own / v.scale * (v.limit * 0.5), 2)


def _each(variables, label, make, level):
    """All variables at once, then one at a time."""
    if not variables:
        return
    whole = dict((v.key, v.clip(make(v), level)) for v in variables)
    yield label, whole
    if 1 < len(variables) <= 4:
        for variable in variables:
            yield "%s %s" % (variable.name, label), {variable.key: whole[variable.key]}


def _equal_rows(variable):
    own = variable.own
    if own.ndim < 1 or own.shape[0] < 2:
        return own
    return np.broadcast_to(own[:1], own.shape).copy()


def _flat_rows(variable):
    own = variable.own
    if own.ndim < 2 or own.shape[-1] < 2:
        return own
    return np.broadcast_to(own[..., :1], own.shape).copy()


def _last_row_zero(variable):
    values = variable.own.copy()
    if values.ndim >= 1 and values.shape[0] > 1:
        values[-1] = 0.0
    return values


def _one_high(variable):
    low, high = variable.inner_range()
    values = np.full_like(variable.own, low)
    if values.size:
        if values.ndim >= 1:
            values[..., 0] = high
        else:
            values[...] = high
    return values


def _outliers(variable, factor):
    """One row in ten is far from the others, as a faulty sensor or a wrong unit makes it."""
    values = variable.own.copy()
    if values.ndim >= 1 and len(values) > 1:
        values[::10] *= factor
    return values


def _alternate(variable, factor):
    values = np.full_like(variable.own, factor * variable.scale)
    if values.ndim >= 1:
        values[..., 1::2] *= -1.0
    return values


def _pairs(variables, level):
    """One input equal to another, or its rows to those of one with more or fewer: distances become zero."""
    for position, first in enumerate(variables[:4]):
        for second in variables[position + 1 : 4]:
            if first.own.shape == second.own.shape and first.own.size:
                yield (
                    "%s equal to %s" % (second.name, first.name),
                    {
                        second.key: second.clip(first.own.copy(), 2),
                        first.key: first.clip(first.own.copy(), 2),
                    },
                )
            elif of_rows_alike(first.own, second.own):
                places = np.arange(second.own.shape[0]) % first.own.shape[0]
                yield (
                    "rows of %s equal to those of %s" % (second.name, first.name),
                    {second.key: second.clip(first.own[places].copy(), 2)},
                )
