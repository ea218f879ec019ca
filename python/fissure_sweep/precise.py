"""What a function of float64 is compared with: no library has a wider type for it, so NumPy's twin in the
processor's extended type, or else the formula of the table of functions, evaluated by mpmath on a sample.
"""

import importlib
import time

import numpy

from fissure_sweep import profile
from fissure_sweep import values as numbers

#: Numbers that the formula is evaluated for, and binary digits that it is evaluated with.
SAMPLE = 600
DIGITS = 240
MORE = 1200
#: Seconds for one number and for all of a function: some formulas do not converge, some are slow.
PATIENCE = 0.25
ALL = 30.0
#: Parts of an argument's last digit: no simple fractions, a periodic function would be where it was.
SHARES = (-0.731, -0.318, 0.137, 0.482, 0.904)
#: Formulas for so many elements that look wrong.
MOST_DOUBTFUL = 200


def of(backend, function, path, bits, row):
    """A sweep of float64 with a reference, or None where there is none."""
    twin = extended(row)
    if twin is not None:
        return Extended(backend, function, path, bits, row, twin)
    formula = row.row.get("formula") if row is not None else None
    if formula is None:
        return None
    try:
        mpmath = importlib.import_module("mpmath")
    except ImportError:
        return None
    return Formula(backend, function, path, sample(bits), row, Evaluated(mpmath, formula))


def extended(row):
    """NumPy's function of the same row that computes in a type wider than float64."""
    if row is None or numpy.finfo(numpy.longdouble).nmant <= 52:
        return None
    for name in row.row.get("numpy", ()):
        module, _, last = name.rpartition(".")
        found = getattr(importlib.import_module(module), last, None)
        if isinstance(found, numpy.ufunc) and found.nin == 1 and "g->g" in found.types:
            return found
    return None


def sample(bits):
    """Half of all magnitudes alike, half from a thousandth to a thousand, and special points."""
    values = numbers.values_of(bits, "float64")
    ordinary = numpy.flatnonzero((abs(values) > 1e-3) & (abs(values) < 1e3))
    every = numpy.linspace(0, len(bits) - 1, SAMPLE // 2).astype("int64")
    usual = ordinary[
        numpy.linspace(0, max(0, len(ordinary) - 1), SAMPLE - len(every)).astype("int64")
    ]
    chosen = numpy.unique(numpy.concatenate([every, usual])) if len(ordinary) else every
    return bits[chosen].copy()


class Evaluated:
    """A formula of one number `x` in the words of mpmath."""

    def __init__(self, mpmath, text):
        self.mpmath = mpmath
        scope = {name: getattr(mpmath.mp, name) for name in dir(mpmath.mp) if name[0] != "_"}
        self.code = compile(text, "<formula>", "eval")
        self.scope = scope
        self.ends = time.perf_counter() + ALL

    def at(self, x, moved=0.0, digits=DIGITS):
        """The value for `x + moved`, exactly: NaN where it is not real, None where it cannot be found."""
        from fissure_worker.discover.limits import limited

        found = None
        if x != x or abs(x) == numpy.inf or time.perf_counter() > self.ends:
            return found
        with limited(PATIENCE):
            try:
                with self.mpmath.mp.workprec(digits):
                    exact = self.mpmath.mp.mpf(float(x)) + self.mpmath.mp.mpf(float(moved))
                    value = eval(self.code, dict(self.scope, x=exact))
                    real = not hasattr(value, "imag") or value.imag == 0
                    found = float(getattr(value, "real", value)) if real else numpy.nan
            except (ArithmeticError, ValueError, TypeError, OverflowError):
                pass
        return found


class Extended(profile.Sweep):
    """Compared with NumPy's function in the extended type."""

    def __init__(self, backend, function, path, bits, row, twin):
        self.twin = twin
        profile.Sweep.__init__(self, backend, function, path, "float64", bits, row)

    def reference(self, x):
        with numpy.errstate(all="ignore"):
            return self.twin(x.astype("longdouble")).astype("float64")


class Formula(profile.Sweep):
    """Compared with a formula. Where that has no value nothing is known, and the element counts as right."""

    def __init__(self, backend, function, path, bits, row, formula):
        self.formula = formula
        profile.Sweep.__init__(self, backend, function, path, "float64", bits, row)

    def reference(self, x):
        # The order is mixed: where the time is over, what is left out lies everywhere.
        found = numpy.array(self.y, "float64")
        for at in numpy.random.RandomState(0).permutation(len(x)):
            value = self.formula.at(x[at])
            if value is not None:
                found[at] = value
        return found

    def explained(self, chosen):
        excused = numpy.ones(len(chosen), bool)
        error = abs(self.y[chosen] - self.r[chosen])
        worst = numpy.argsort(error / self.unit[chosen])[::-1][:MOST_DOUBTFUL]
        for at in worst:
            x, r = float(self.x[chosen[at]]), self.r[chosen[at]]
            spacing = float(numbers.unit(numpy.array([x]), "float64")[0])
            self.formula.ends = time.perf_counter() + PATIENCE
            moved = [self.formula.at(x, share * spacing) for share in SHARES]
            # A formula that loses its own digits gives another result with more of them.
            again = self.formula.at(x, digits=MORE)
            # What cannot be found excuses.
            if None in moved or again is None or not abs(again - r) <= self.unit[chosen[at]]:
                continue
            excused[at] = not error[at] > profile.CONDITION * max(abs(one - r) for one in moved)
        return excused
