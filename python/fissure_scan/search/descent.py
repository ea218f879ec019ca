"""Steering without gradients: finite differences of a site's soft assertion, and steps along them.

Where autograd carries nothing (NumPy, integers, code that cuts the graph) the distance of a site is
measured again after groups of elements were moved a little. A ladder of steps follows the slopes
found, additive (in units of the input's own size) and multiplicative (each element times a power of
ten), and the best point is where the next round begins. A distance that changes its sign without a
failure was stepped over: the zero between is closed in on.
"""

import numpy as np

# Groups of elements whose slopes are measured, rounds of measuring and stepping.
GROUPS = 24
ROUNDS = 3
# Runs for the zero between two signs.
CLOSING = 40


class Habits:
    """How long a ladder is followed without getting nearer, and how many slopes are measured."""

    def __init__(self, patience, share):
        self.patience = patience
        self.share = share


def climb(attempts, inputs, level, seconds, habits):
    """Tries every open site that gradients do not reach."""
    sites = attempts.open_sites()
    free = [
        v
        for v in inputs
        if v.own.size and (level == 2 and v.unbounded() or v.inner_range()[0] < v.inner_range()[1])
    ]
    if not free or not sites:
        return
    aims = attempts.aims(sites)
    for site in sites:
        answers = aims.get(site, [])
        if not answers or any(gradients for _, _, gradients in answers):
            continue
        attempts.give_site(seconds / max(4, len(sites)))
        for label in dict.fromkeys(label for label, _, _ in answers):
            descent = Descent(attempts, site, label, free, level, set(sites), habits)
            if attempts.collected.closed(site) or not descent.run(answers):
                break


class Descent:
    def __init__(self, attempts, site, label, variables, level, sites, habits):
        self.attempts = attempts
        self.site = site
        self.sites = sites  # all that are steered: one run measures them all
        self.label = label
        self.variables = variables
        self.level = level
        self.habits = habits
        self.generator = np.random.Generator(np.random.PCG64(0))

    def run(self, answers):
        """False when no input moves the distance: the site's other aims are as far away."""
        point = dict((v.key, v.own.copy()) for v in self.variables)
        distance = _nearest(answers, self.label)
        if distance is None or distance <= 0.0:
            # The own data lie on the other side already.
            return True
        if not self._depends(point, distance):
            return False
        for _ in range(ROUNDS):
            slopes = self._slopes(point, distance)
            if slopes is None or self._over():
                return True
            best, nearest = self._ladder(point, distance, slopes)
            if best is None:
                return True
            point, distance = best, nearest
        return True

    # Measuring ---------------------------------------------------------------------------------

    def measure(self, point):
        """The distance at a point; None when it failed there or the site was not reached."""
        self.attempts.attempt(
            "%s by direction search for %s" % (self.label, self.site.function),
            point,
            self.level,
            self.sites,
        )
        if self._closed():
            return None
        return _nearest(self.attempts.aimed.get(self.site, []), self.label)

    def _over(self):
        return self._closed() or self.attempts.site_over()

    def _closed(self):
        return self.attempts.collected.closed(self.site)

    def _depends(self, point, distance):
        """Two moves of everything at once: a distance that stays the same depends on no input."""
        generator = np.random.Generator(np.random.PCG64(0))
        for sign in (1.0, -1.0):
            moved = {}
            for v in self.variables:
                jump = sign * self._width(v) * (generator.random(v.own.shape) + 0.1)
                moved[v.key] = self._clip(v, point[v.key] + 0.1 * jump)
            nearest = self.measure(moved)
            if self._over():
                return False
            if nearest is not None and nearest != distance:
                return True
        return False

    def _slopes(self, point, distance):
        """What a small move of each group of elements does to the distance, per element."""
        slopes = dict((v.key, np.zeros_like(v.own)) for v in self.variables)
        for v in self.variables:
            for mask in self._groups(v):
                if self._over():
                    return None
                if self.generator.random() > self.habits.share:
                    continue
                small = 1e-3 * self._width(v)
                for signed in (small, -small):
                    moved = dict(point)
                    moved[v.key] = self._clip(v, point[v.key] + signed * mask)
                    if np.array_equal(moved[v.key], point[v.key]):
                        continue
                    nearest = self.measure(moved)
                    if nearest is not None:
                        slopes[v.key] += mask * ((nearest - distance) / signed)
                        break
        if not any(bool(value.any()) for value in slopes.values()):
            return None
        return slopes

    def _groups(self, variable):
        """Masks: single elements of a small input, else slices, else random halves."""
        shape, size = variable.own.shape, variable.own.size
        if size <= GROUPS:
            for position in range(size):
                mask = np.zeros(size)
                mask[position] = 1.0
                yield mask.reshape(shape)
            return
        for axis in (len(shape) - 1, 0):
            if shape[axis] <= GROUPS:
                for position in range(shape[axis]):
                    mask = np.zeros(shape)
                    np.moveaxis(mask, axis, 0)[position] = 1.0
                    yield mask
                return
        for _ in range(GROUPS // 2):
            yield np.where(self.generator.random(shape) < 0.5, 1.0, -1.0)

    # Stepping ----------------------------------------------------------------------------------

    def _ladder(self, point, distance, slopes):
        """(best point, its distance) of the steps along the slopes, None when none is nearer."""
        best, nearest = None, distance
        for steps in self._ways(point, slopes):
            refused = 0
            for moved in steps:
                if self._over():
                    return None, None
                reached = self.measure(moved)
                if reached is None:
                    break
                if distance > 0.0 > reached:
                    self._close_in(point, distance, moved, reached)
                    break
                if reached < nearest:
                    best, nearest, refused = moved, reached, 0
                    continue
                refused += 1
                if refused >= self.habits.patience:
                    break
        return best, nearest

    def _ways(self, point, slopes):
        """Ladders of points: by the signs of the slopes, in proportion to them, by factors."""
        if self.level <= 1:
            lengths = (0.25, 0.5, 1.0)
        else:
            lengths = (1.0, 10.0, 100.0, 1e3, 1e4)
        for proportional in (False, True):
            yield (self._added(point, slopes, length, proportional) for length in lengths)
        if self.level >= 2:
            yield (self._multiplied(point, slopes, 10.0**power) for power in (1, 2, 4, 8, 16))

    def _added(self, point, slopes, length, proportional):
        moved = {}
        for v in self.variables:
            direction = np.sign(slopes[v.key])
            if proportional:
                largest = np.abs(slopes[v.key]).max()
                direction = slopes[v.key] / largest if largest > 0.0 else direction
            moved[v.key] = self._clip(v, point[v.key] - direction * length * self._width(v))
        return moved

    def _multiplied(self, point, slopes, factor):
        moved = {}
        for v in self.variables:
            away = -np.sign(slopes[v.key] * point[v.key])
            moved[v.key] = self._clip(v, point[v.key] * factor**away)
        return moved

    def _close_in(self, low_point, low, high_point, high):
        """The zero of the distance between two points: false position, where an end that is kept
        twice counts half (Illinois), so that both ends move."""
        start, end, side = 0.0, 1.0, 0

        def between(share):
            return dict(
                (v.key, low_point[v.key] + (high_point[v.key] - low_point[v.key]) * share)
                for v in self.variables
            )

        for _ in range(CLOSING):
            share = start + (end - start) * low / (low - high)
            if not start < share < end:
                share = (start + end) / 2.0
            if self._over() or not start < share < end:
                return
            reached = self.measure(between(share))
            if reached is None or reached == 0.0:
                return
            if reached > 0.0:
                start, low = share, reached
                high = high / 2.0 if side > 0 else high
                side = 1
            else:
                end, high = share, reached
                low = low / 2.0 if side < 0 else low
                side = -1

    def _width(self, variable):
        """The size of an ordinary move: of the range at level L1, of the values beyond."""
        if self.level <= 1:
            low, high = variable.inner_range()
            return high - low
        return variable.scale

    def _clip(self, variable, values):
        return variable.clip(values, self.level if variable.unbounded() else 1)


def _nearest(answers, label):
    distances = [distance for name, distance, _ in answers if name == label]
    return min(distances) if distances else None
