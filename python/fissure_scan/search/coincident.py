"""Values at which things coincide: points that are the same, within one input or across several."""

import numpy as np

from .candidates import of_rows_alike

# Draws of values at which things coincide, see `points`.
DRAWS = 6
MANY_DRAWS = 40


def points(variables):
    """Level L1 for domains that end at a value which exact arithmetic only touches (the cosine of a vector
    with itself): points that coincide, over several draws of what they are, since rounding takes only
    some of them across."""
    drawn = [v for v in variables if v.own.size and not v.whole]
    groups = {}
    for variable in drawn:
        groups.setdefault(variable.own.shape, []).append(variable)
    for number in range(DRAWS):
        generator = np.random.Generator(np.random.PCG64(number))
        values = dict((v.key, _drawn(v, generator)) for v in drawn)
        for label, places in _COINCIDING:
            chosen, changed = dict(values), False
            for group in groups.values():
                for first, second in places(len(group)):
                    chosen[group[second].key] = group[second].clip(values[group[first].key], 1)
                    changed = True
            if changed:
                yield "%s, draw %d" % (label, number + 1), chosen
        rows = dict(
            (key, np.broadcast_to(value[:1], value.shape).copy() if value.ndim else value)
            for key, value in values.items()
        )
        yield "equal rows, draw %d" % (number + 1), rows
    # Rounding takes few of these across, and a table may have few rows.
    for number in range(MANY_DRAWS):
        generator = np.random.Generator(np.random.PCG64(number))
        chosen = _points_of_another(drawn, dict((v.key, _drawn(v, generator)) for v in drawn))
        if not chosen:
            return
        yield "points that are points of another input, draw %d" % (number + 1), chosen


def _points_of_another(variables, values):
    """Points that two inputs of other sizes have in common: rows of (n, k) and rows of (m, k), and
    k inputs of one coordinate each beside rows of (m, k)."""
    chosen = {}
    single = [v for v in variables if v.own.ndim == 1]
    for table in [v for v in variables if v.own.ndim == 2]:
        others = [
            v
            for v in variables
            if v is not table and of_rows_alike(v.own, table.own) and v.key not in chosen
        ]
        count = table.own.shape[1]
        columns = [v for v in single if v.own.shape == single[0].own.shape][:count]
        if others and table.key not in chosen:
            other = others[0]
            places = np.arange(other.own.shape[0]) % table.own.shape[0]
            shared = other.clip(table.clip(values[table.key], 1)[places], 1)
            chosen[other.key] = shared
            rows = np.arange(table.own.shape[0]) % len(shared)
            chosen[table.key] = table.clip(shared[rows], 1)
        elif count > 1 and len(columns) == count:
            places = np.arange(table.own.shape[0]) % columns[0].own.shape[0]
            held = np.stack([values[v.key][places] for v in columns], axis=1)
            held = table.clip(held, 1)
            chosen[table.key] = held
            rows = np.arange(columns[0].own.shape[0]) % len(held)
            for number, column in enumerate(columns):
                chosen[column.key] = column.clip(held[rows, number], 1)
    return chosen


def _halves(count):
    return [(place, place + count // 2) for place in range(count // 2)]


def _neighbours(count):
    return [(place, place + 1) for place in range(0, count - 1, 2)]


# Which inputs of one shape are the same: (x1, y1, x2, y2) and (x1, x2, y1, y2) are both usual.
_COINCIDING = (
    ("the second half equal to the first", _halves),
    ("pairs of inputs equal", _neighbours),
)


def _drawn(variable, generator):
    """Other values of the same kind as its own."""
    low, high = variable.inner_range()
    own = generator.permutation(variable.own.ravel()).reshape(variable.own.shape)
    if not low < high:
        return own
    # A range that does not begin at 0 is not left by shrinking.
    start = 0.0 if variable.unbounded() else low
    return variable.clip(start + (own - start) * generator.uniform(0.25, 1.0, own.shape), 1)
