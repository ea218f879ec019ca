"""Labels of an element within its context: the nearest failure when this element alone moves, and
where that cannot make it fail, when the whole context moves away from zero or towards it together.

Both ways are asked at growing distances on the scale of the precision and at the places where
functions of several operands tend to fail (zero, equality with a neighbour, what makes a sum or a
determinant vanish). Whether it fails there is the real function's answer. The first failure each way
is bisected against the last safe place before it; the nearer one gives the label.
"""

import numpy as np

from .element import DECREASE, INCREASE, NO_CHANGE
from .precision import apart, between, distance

# Places asked each way.
STEPS = 24


class Axis:
    """A batch of contexts, each with one element that moves."""

    def __init__(self, subject, operands, operand, position):
        self.subject = subject
        self.precision = subject.precision
        self.operands = operands
        self.operand = operand              # which operand moves, one number for the whole batch
        self.position = position            # which of its elements, flat, per context
        self.count = len(operands[0])
        self.low, self.high = subject.limits(operand)
        self.own = self.precision.place(self._flat(operands)[np.arange(self.count), position])

    def _flat(self, operands):
        return operands[self.operand].reshape(self.count, -1)

    def moved(self, places, which=None):
        """The contexts with their element at other places; a matrix that has to stay symmetric
        moves both."""
        which = np.arange(self.count) if which is None else which
        operands = [operand[which] for operand in self.operands]
        changed = operands[self.operand].reshape(len(which), -1).copy()
        values = self.precision.value(places)
        changed[np.arange(len(which)), self.position[which]] = values
        if self.subject.entry.get("symmetric"):
            side = self.operands[self.operand].shape[-1]
            row, column = np.divmod(self.position[which], side)
            changed[np.arange(len(which)), column * side + row] = values
        operands[self.operand] = changed.reshape(operands[self.operand].shape)
        return operands

    def limited(self, places, by):
        """Places that many further, inside the operand's limits and not across zero."""
        limit = float(self.precision.last) * (1.0 - 1e-15)
        moved = np.clip(places.astype(np.float64) + by, -limit, limit)
        moved = np.where(np.abs(by) > 1, moved.astype(np.int64), places + by)
        return np.clip(moved, self.low, self.high)

    def failing(self, places, which=None):
        return self.subject.failing(self.moved(places, which))

    def label(self):
        """(labels, boundary places, reached): the boundary is the last safe place on the way to
        the nearest failure of this element alone; `reached` says where there is one."""
        fails = self.failing(self.own)
        best = np.full(self.count, np.inf)
        labels = np.full(self.count, NO_CHANGE, dtype=np.uint8)
        boundary = self.own.copy()
        safe = np.flatnonzero(~fails)
        # Away from zero first, so that it wins among equally near failures.
        for outward in (True, False):
            sign = np.where((self.own >= 0) == outward, 1, -1)
            for way, label in ((1, INCREASE), (-1, DECREASE)):
                which = safe[sign[safe] == way]
                if len(which) == 0:
                    continue
                edge, reached = self._way(which, way)
                nearer = reached < best[which]
                best[which] = np.where(nearer, reached, best[which])
                labels[which] = np.where(nearer, label, labels[which])
                boundary[which] = np.where(nearer, edge, boundary[which])
        return labels, boundary, np.isfinite(best)

    def together(self, which):
        """(which of `which`, labels, steps) of the contexts that fail when all elements move by as
        many places, outward or inward; `steps` is the last safe number, negative for inward."""
        labels = np.full(len(which), NO_CHANGE, dtype=np.uint8)
        best = np.full(len(which), np.inf)
        steps = np.zeros(len(which), dtype=np.int64)
        outward = self.own[which] >= 0
        for sign in (1, -1):
            safe, failing = self._together(which, sign)
            reached = np.where(failing > 0, failing.astype(np.float64), np.inf)
            nearer = reached < best
            best = np.where(nearer, reached, best)
            steps = np.where(nearer, sign * safe, steps)
            way = np.where(outward == (sign > 0), INCREASE, DECREASE)
            labels = np.where(nearer, way, labels).astype(np.uint8)
        found = np.flatnonzero(np.isfinite(best))
        return found, labels[found], steps[found]

    def _together(self, which, sign):
        """Last safe and first failing number of places; 0 where nothing fails."""
        ladder = np.unique(np.minimum(2.0 ** np.linspace(0.0, np.log2(2.0 * self.precision.last),
                                                         STEPS), self.precision.last * (1 - 1e-15))
                           .astype(np.int64))
        safe = np.zeros(len(which), dtype=np.int64)
        failing = np.zeros(len(which), dtype=np.int64)
        for step in ladder:
            left = np.flatnonzero(failing == 0)
            if len(left) == 0:
                break
            fails = self.subject.failing(self.shifted(np.full(len(left), sign * step), which[left]))
            failing[left[fails]] = step
            safe[left[~fails]] = step
        while True:
            left = np.flatnonzero((failing > 0) & (failing - safe > 1))
            if len(left) == 0:
                return safe, failing
            middle = between(safe[left], failing[left])
            fails = self.subject.failing(self.shifted(sign * middle, which[left]))
            failing[left] = np.where(fails, middle, failing[left])
            safe[left] = np.where(fails, safe[left], middle)

    def shifted(self, steps, which):
        """The contexts with every element that many places further from zero (or nearer, not
        beyond it); zero stays zero."""
        operands = []
        moving = self.subject.entry.get("moving")
        for number, operand in enumerate(self.operands):
            values = operand[which]
            if moving is None or number in moving:
                low, high = self.subject.limits(number)
                places = self.precision.place(values)
                by = steps.reshape((-1,) + (1,) * (values.ndim - 1))
                # In unsigned numbers, where the sum of two places always fits.
                size = np.abs(places).astype(np.uint64) + np.maximum(by, 0).astype(np.uint64)
                size = np.minimum(size, np.uint64(self.precision.last)).astype(np.int64)
                size = np.where(by < 0, np.maximum(np.abs(places) + by, 0), size)
                places = np.clip(np.sign(places) * size, low, high)
                values = self.precision.value(places)
            operands.append(values)
        return operands

    def _way(self, which, way):
        """Last safe place and distance of the first failure in one direction."""
        candidates = self._candidates(which, way)
        flags = np.stack([self.failing(candidates[:, column], which)
                          for column in range(candidates.shape[1])], axis=1)
        any_fails = flags.any(axis=1)
        first = flags.argmax(axis=1)
        rows = np.arange(len(which))
        bad = candidates[rows, first]
        good = np.where(first > 0, candidates[rows, np.maximum(first - 1, 0)], self.own[which])
        bad = np.where(any_fails, bad, good)
        while True:
            open_ = np.flatnonzero(apart(np.minimum(good, bad), np.maximum(good, bad)) > 1)
            if len(open_) == 0:
                break
            middle = between(good[open_], bad[open_])
            fails = self.failing(middle, which[open_])
            bad[open_] = np.where(fails, middle, bad[open_])
            good[open_] = np.where(fails, good[open_], middle)
        reached = np.where(any_fails, distance(self.own[which], bad), np.inf)
        return good, reached

    def _candidates(self, which, way):
        """Places on one side, nearest first; those that lie on the other side repeat the end."""
        precision = self.precision
        own = self.own[which].astype(np.float64)
        end = float(self.high if way > 0 else self.low)
        width = np.abs(end - own)
        columns = []
        for share in np.linspace(0.0, 1.0, STEPS):
            # From a thousandth of a power of two to the whole way.
            reach = np.minimum(width, 2.0 ** (share * np.log2(2.0 * float(precision.last))))
            columns.append(own + way * reach)
        special = [float(place) for place in (0, 1, -1, precision.one, -precision.one)]
        columns.extend(np.full(len(which), place) for place in special)
        with np.errstate(all="ignore"):
            for values in self._special_values(which):
                columns.append(precision.place(precision.round(values)).astype(np.float64))
        table = np.stack(columns, axis=1)
        outside = (table - own[:, None]) * way <= 0
        table = np.where(outside, end, np.clip(table, self.low, self.high))
        order = np.argsort(np.abs(table - own[:, None]), axis=1, kind="stable")
        table = np.take_along_axis(table, order, axis=1)
        limit = float(precision.last) * (1.0 - 1e-15)
        places = np.clip(table, -limit, limit).astype(np.int64)
        return np.clip(places, self.low, self.high)

    def _special_values(self, which):
        """Where functions of several operands tend to fail."""
        context = self.subject.context
        rows = np.arange(len(which))
        own = self._flat(self.operands)[which]
        value = own[rows, self.position[which]]
        if self.subject.entry.get("whole_numbers"):
            yield np.floor(value)
            yield np.ceil(value)
        if context in ("row", "rows") and own.shape[1] > 1:
            others = own.sum(axis=1) - value
            yield others / (own.shape[1] - 1)
            yield -others
            rest = own.copy()
            rest[rows, self.position[which]] = -np.inf
            yield rest.max(axis=1)
            rest[rows, self.position[which]] = np.inf
            yield rest.min(axis=1)
        if context in ("rows", "pair"):
            other = self.operands[1 - self.operand][which].reshape(len(which), -1)
            partner = other[rows, self.position[which]]
            yield partner
            yield -partner
            yield 1.0 / partner
            if context == "rows":
                product = (own * other).sum(axis=1) - value * partner
                yield -product / partner
        if context == "matrix":
            side = self.operands[0].shape[-1]
            row, column = np.divmod(self.position[which], side)
            for index, matrix in enumerate(self.operands[0][which]):
                try:
                    inverse = np.linalg.inv(matrix)
                except np.linalg.LinAlgError:
                    continue
                entry = inverse[column[index], row[index]]
                value[index] = value[index] - 1.0 / entry if entry else value[index]
            # The singular value is seldom a number of the precision, and few beside it fail.
            place = self.precision.place(self.precision.round(value))
            for step in (0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16):
                yield self.precision.value(np.clip(place + step, self.low, self.high))
