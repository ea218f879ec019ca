"""Labels of an element within its context: the nearest failure when this element alone moves, and
where that cannot make it fail, when all elements of the context move together (away from zero or
towards it; for sums, up or down).

Both ways are asked at growing distances on the scale of the precision and at the places where
functions of several operands tend to fail (zero, equality with a neighbour, what makes a sum or a
determinant vanish). Whether it fails there is the real function's answer. The first failure each way
is bisected against the last safe place before it; the nearer one gives the label.
"""

import numpy as np

from .element import DECREASE, INCREASE, NO_CHANGE
from .precision import DOWN, INWARD, OUTWARD, UP, apart, between, distance

# Places asked each way.
STEPS = 24
# Numbers on each side of an edge that are asked whether it is one, and as many changes among them
# that it is not: a failure at a single number has two.
NEIGHBOURS = 12
FLICKER = 3


class Edges:
    """Where a batch of contexts begins to fail, to sample on both sides of it."""

    def __init__(self, axis, alone, edge, labels, together, moves, steps):
        self.axis = axis
        self.alone = alone
        self.edge = edge[alone]
        self.sign = np.where(labels[alone] == INCREASE, 1, -1)
        self.together = together
        self.moves = moves
        self.steps = steps

    def settled(self):
        """Without the edges that flicker: where rounding decides, failures and successes alternate
        among the neighbouring numbers, and beside such an edge a label is luck."""
        keep = self._settled(len(self.alone), self._alone_at)
        self.alone, self.edge, self.sign = self.alone[keep], self.edge[keep], self.sign[keep]
        keep = self._settled(len(self.together), self._together_at)
        self.together, self.moves = self.together[keep], self.moves[keep]
        self.steps = self.steps[keep]
        return self

    def _settled(self, count, at):
        """Does it fail from the edge on, or in one narrow place?"""
        if count == 0:
            return np.zeros(0, dtype=bool)
        fails = [
            self.axis.subject.failing(at(np.full(count, by)))
            for by in range(-NEIGHBOURS, NEIGHBOURS + 1)
        ]
        changes = np.diff(np.stack(fails).astype(np.int8), axis=0) != 0
        settled = changes.sum(axis=0) < FLICKER
        # Each edge gives two samples, one on either side.
        self.axis.subject.left_out += 2 * int((~settled).sum())
        return settled

    def _alone_at(self, by):
        """The contexts that many places beyond the edges of their elements."""
        return self.axis.moved(self.axis.limited(self.edge, self.sign * by), self.alone)

    def _together_at(self, by):
        """The same where all elements move."""
        return self.axis.shifted(self.moves, np.maximum(self.steps + by, 0), self.together)

    def beside(self, generator, sign):
        """(which, contexts) a thousandth to half of an octave before (-1) or beyond (1) the edge.
        Where the failure is narrower than that, or the way to it shorter, the neighbour of the
        edge is taken."""
        if len(self.alone):
            yield self.alone, self._beside(generator, sign, self.alone, self._alone_at)
        if len(self.together):
            yield self.together, self._beside(generator, sign, self.together, self._together_at)

    def _beside(self, generator, sign, which, at):
        octave = float(self.axis.precision.first_normal)
        by = np.maximum(octave * 10.0 ** generator.uniform(-3.0, -0.3, len(which)), 1.0)
        by = sign * by.astype(np.int64)
        fails = self.axis.subject.failing(at(by))
        return at(np.where(fails == (sign > 0), by, 1 if sign > 0 else 0))


class Axis:
    """A batch of contexts, each with one element that moves."""

    def __init__(self, subject, operands, operand, position):
        self.subject = subject
        self.precision = subject.precision
        self.operands = operands
        self.operand = operand  # which operand moves, one number for the whole batch
        self.position = position  # which of its elements, flat, per context
        self.count = len(operands[0])
        self.moving = subject.entry.get("moving")
        self.low, self.high = subject.limits(operand)
        self.own = self.precision.place(self._flat(operands)[np.arange(self.count), position])
        self.fails = subject.failing(operands)

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
        """The labels, and what moves each context beside the failure that gave its label."""
        labels, edge, alone = self._alone()
        fails = self.fails
        unmoved = np.flatnonzero(~alone & ~fails)
        found, ways, moves, steps = self._together(unmoved)
        labels[unmoved[found]] = ways
        return labels, Edges(
            self, np.flatnonzero(alone), edge, labels, unmoved[found], moves, steps
        )

    def _alone(self):
        """(labels, last safe places, reached): on the way to the nearest failure of this element
        alone; `reached` says where there is one."""
        labels = np.full(self.count, NO_CHANGE, dtype=np.uint8)
        edge = self.own.copy()
        alone = np.zeros(self.count, dtype=bool)
        safe = np.flatnonzero(~self.fails)
        if len(safe) == 0:
            return labels, edge, alone
        # Both ways at once: the cost is in the number of calls.
        ways = np.repeat([1, -1], len(safe))
        last, reached = self._way(np.concatenate([safe, safe]), ways)
        up, down = reached[ways > 0], reached[ways < 0]
        # Of equally near failures the one away from zero.
        increase = (up < down) | ((up == down) & (self.own[safe] >= 0))
        alone[safe] = np.isfinite(np.minimum(up, down))
        direction = np.where(increase, INCREASE, DECREASE)
        labels[safe] = np.where(alone[safe], direction, NO_CHANGE)
        edge[safe] = np.where(increase, last[ways > 0], last[ways < 0])
        return labels, edge, alone

    def _together(self, which):
        """(which of `which`, labels, moves, steps) of the contexts that fail when all elements
        move by as many places; `steps` is the last safe number."""
        kinds = self.subject.moves()
        safe, failing = self._steps(np.tile(which, len(kinds)), np.repeat(kinds, len(which)))
        shape = (len(kinds), len(which))
        reached = np.where(failing > 0, failing.astype(np.float64), np.inf).reshape(shape)
        nearest = (reached.argmin(axis=0), np.arange(len(which)))
        best = reached[nearest]
        steps = safe.reshape(shape)[nearest]
        moves = np.array(kinds)[nearest[0]]
        found = np.flatnonzero(np.isfinite(best))
        up = np.where(moves == OUTWARD, self.own[which] >= 0, self.own[which] < 0)
        up = np.where(moves == UP, True, np.where(moves == DOWN, False, up))
        labels = np.where(up, INCREASE, DECREASE).astype(np.uint8)
        return found, labels[found], moves[found], steps[found]

    def _steps(self, which, moves):
        """Last safe and first failing number of places; 0 where nothing fails."""
        safe = np.zeros(len(which), dtype=np.int64)
        failing = np.zeros(len(which), dtype=np.int64)
        if len(which) == 0:
            return safe, failing
        ladder = self._ladder(which, moves)
        columns = ladder.shape[1]
        flags = self.subject.failing(
            self.shifted(np.repeat(moves, columns), ladder.ravel(), np.repeat(which, columns))
        )
        flags = flags.reshape(ladder.shape)
        rows = np.arange(len(which))
        first = flags.argmax(axis=1)
        failing = np.where(flags.any(axis=1), ladder[rows, first], failing)
        safe = np.where(first > 0, ladder[rows, np.maximum(first - 1, 0)], safe)
        while True:
            left = np.flatnonzero((failing > 0) & (failing - safe > 1))
            if len(left) == 0:
                return safe, failing
            middle = between(safe[left], failing[left])
            fails = self.subject.failing(self.shifted(moves[left], middle, which[left]))
            failing[left] = np.where(fails, middle, failing[left])
            safe[left] = np.where(fails, safe[left], middle)

    def _ladder(self, which, moves):
        """Numbers of places, ascending, per context: dense at its start, and for a move inward also
        at its end, where the largest element reaches zero."""
        powers = np.minimum(
            2.0 ** np.linspace(0.0, np.log2(2.0 * self.precision.last), STEPS),
            self.precision.last * (1 - 1e-15),
        ).astype(np.int64)
        powers = np.unique(powers)
        ladder = np.broadcast_to(powers, (len(which), len(powers)))
        if INWARD not in moves:
            return ladder
        largest = np.zeros(len(which), dtype=np.int64)
        for number, operand in enumerate(self.operands):
            if self.moving is None or number in self.moving:
                places = np.abs(self.precision.place(operand[which])).reshape(len(which), -1)
                largest = np.maximum(largest, places.max(axis=1))
        largest = largest[:, None]
        ends = np.maximum(np.concatenate([largest - ladder, largest], axis=1), 1)
        # The other moves ask their end again.
        ends = np.where(moves[:, None] == INWARD, ends, powers[-1])
        return np.sort(np.concatenate([ladder, ends], axis=1), axis=1)

    def shifted(self, moves, steps, which):
        """The contexts with every element that many places further from zero, nearer to it (not
        beyond), up or down; zero stays where it is when the others move from it."""
        operands = []
        for number, operand in enumerate(self.operands):
            values = operand[which]
            if self.moving is None or number in self.moving:
                low, high = self.subject.limits(number)
                places = self.precision.place(values)
                column = (-1,) + (1,) * (values.ndim - 1)
                by, move = steps.reshape(column), moves.reshape(column)
                side = np.where(move == UP, 1, np.where(move == DOWN, -1, np.sign(places)))
                side = np.where(move == INWARD, -side, side)
                # Inward ends at zero; the others at the last place, before 64 bits overflow.
                room = np.where(
                    move == INWARD,
                    np.abs(places),
                    self.precision.last - np.maximum(side * places, 0),
                )
                places = np.clip(places + side * np.minimum(by, room), low, high)
                values = self.precision.value(places)
            operands.append(values)
        return operands

    def _way(self, which, ways):
        """Last safe place and distance of the first failure, each context in its direction."""
        candidates = self._candidates(which, ways)
        flags = self.failing(candidates.ravel(), np.repeat(which, candidates.shape[1]))
        flags = flags.reshape(candidates.shape)
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

    def _candidates(self, which, ways):
        """Places on one side, nearest first; those that lie on the other side repeat the end."""
        precision = self.precision
        own = self.own[which].astype(np.float64)
        end = np.where(ways > 0, float(self.high), float(self.low))
        width = np.abs(end - own)
        columns = []
        for share in np.linspace(0.0, 1.0, STEPS):
            # From a thousandth of a power of two to the whole way.
            reach = np.minimum(width, 2.0 ** (share * np.log2(2.0 * float(precision.last))))
            columns.append(own + ways * reach)
        special = [float(place) for place in (0, 1, -1, precision.one, -precision.one)]
        columns.extend(np.full(len(which), place) for place in special)
        with np.errstate(all="ignore"):
            for values in self._special_values(which):
                columns.append(precision.place(precision.round(values)).astype(np.float64))
        table = np.stack(columns, axis=1)
        outside = (table - own[:, None]) * ways[:, None] <= 0
        table = np.where(outside, end[:, None], np.clip(table, self.low, self.high))
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
