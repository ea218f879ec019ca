"""Whether a changed source repairs a finding: the failing input no longer fails and gives the right
digits, and the program's own results stay as they are.

Right digits are those of the unchanged program in wider floats, where these are finite. A finding
of another kind on the same line counts too: a floor that hides the NaN of a negative variance does
not bring the lost digits back.
"""

import numpy as np

from ..backends import library as backends
from ..judge import consequence, numpy_precision, precision, shadows
from ..judge.array_shadow import ArrayShadow
from ..search.runner import Effort
from ..watch.monitor import Policy
from ..judge.numpy_shadow import NumpyShadow

# The share of its size, and the amount, by which a repaired result may differ from the exact one.
RELATIVE = 0.01
ABSOLUTE = 1e-5
# Exact results beyond this are nothing that a repaired program has to reach: an exponent that is
# bounded for good gives less.
HUGE = 1e18

# How far ordinary data go, in units of the program's own, and the seconds of processor time for making them.
SCALES = (1.5, 0.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 80.0, 100.0, 300.0)
ORDINARY_SECONDS = 3.0
# Sets of ordinary data that a fix is tried on, as many as that time allows.
ORDINARY_INPUTS = 1000

# Oracles of finite but wrong values.
WRONG_DIGITS = {
    "cancellation",
    "wider_float",
    "stable_algorithm",
    "rewrite",
    "other_framework",
    "range",
}


class FixCheck:
    def __init__(self, runner, inputs, findings):
        self.runner = runner
        self.program = runner.program
        self.baseline = runner.baseline
        self.inputs = inputs
        self.findings = findings  # (identifier, Found) pairs
        self._samples = None  # ordinary inputs, see `_ordinary`
        self.compared = 0  # ordinary inputs that the last fix was right on
        self._exact = {}  # identifier -> exact results on the failing input

    def judge(self, identifier, file, source):
        """(passed, reason) of a source in place of a file."""
        found = dict(self.findings)[identifier]
        inputs = [(identifier, found)] + self._same_line(found)
        # What the program should have computed, before its source is changed.
        exact = dict((name, self._exact_results(name, other)) for name, other in inputs)
        wide = self._wide_result(found)
        self.program.sources = {file: source}
        try:
            reason = self._own_data(found)
            for name, other in inputs:
                reason = reason or self._failing_input(other, exact[name])
            reason = reason or self._wrong_call(found, wide)
        finally:
            self.program.restore_sources()
        if reason is not None:
            return False, reason
        # Only now: they take longer than everything else.
        ordinary = self._ordinary()
        self.program.sources = {file: source}
        try:
            reason = self._worse(ordinary)
        finally:
            self.program.restore_sources()
        return reason is None, reason

    # Ordinary inputs ---------------------------------------------------------------------------

    def _ordinary(self):
        """(overrides, right results) of inputs that the unchanged program gets right, over the
        sizes that data have in practice. Right is what it gives in wider floats."""
        if self._samples is not None:
            return self._samples
        self._samples = []
        generator = np.random.Generator(np.random.PCG64(1))
        budget = Effort(ORDINARY_SECONDS)
        variables = [v for v in self.inputs if v.own.size]
        for number in range(ORDINARY_INPUTS if variables else 0):
            scale = SCALES[number % len(SCALES)]
            overrides = dict(
                (
                    v.key,
                    v.clip(
                        v.own
                        + (scale - 1.0) * v.scale * (generator.random(v.own.shape) * 2.0 - 1.0),
                        2,
                    ),
                )
                for v in variables
            )
            right = self._right(overrides)
            if right is not None:
                self._samples.append((overrides, right))
            if budget.over():
                break
        return self._samples

    def _right(self, overrides):
        """The program's results where they agree with a wider computation, else None."""
        library = next((v.dtype for v in self.inputs), None)
        if library is None:
            return None
        if self.program.function:
            trace = self._plain_run(overrides)
            narrow, wide = consequence.leaves(trace.result), self._widened(overrides)
            if (
                trace.error is not None
                or trace.failures
                or wide is None
                or _apart(narrow, wide) is not None
            ):
                return None
            return wide
        shadow = shadows.beside(self.baseline.nodes[0].library) if self.baseline.nodes else None
        trace = self._plain_run(overrides, shadow)
        if shadow is None or trace.error is not None or trace.failures:
            return None
        right = results(trace, shadow)
        return right if self._other_digits(right, results(trace, None)) is None else None

    def _plain_run(self, overrides, shadow=None):
        return self.program.run(
            Policy(
                overrides=overrides,
                shadow=shadow,
                backward_limit=1,
                stop_after=self._end(),
                time_limit=self.runner.time_limit * 2,
            )
        )

    def _widened(self, overrides):
        self.program.widen = True
        try:
            trace = self._plain_run(overrides)
        finally:
            self.program.widen = False
        if trace.error is not None or trace.failures:
            return None
        return consequence.leaves(trace.result) or None

    def _wide_result(self, found):
        """What the unchanged function gives for the failing input in wider floats."""
        if not self.program.function or found.variation is not None:
            return None
        return self._widened(found.overrides)

    def _wrong_call(self, found, wide):
        if wide is None:
            return None
        apart = _apart(consequence.leaves(self._plain_run(found.overrides).result), wide)
        return None if apart is None else "the failing input gives %s" % apart

    def _worse(self, ordinary):
        """Where the unchanged program is right the changed one has to be."""
        budget, self.compared = Effort(2.0 * ORDINARY_SECONDS), 0
        for overrides, right in ordinary:
            if budget.over():
                break
            self.compared += 1
            trace = self._plain_run(overrides)
            if trace.error is not None:
                return "the changed program raises %s: %s on ordinary data" % trace.error[:2]
            if trace.failures:
                return "the changed program fails on ordinary data"
            if self.program.function:
                apart = _apart(consequence.leaves(trace.result), right)
            else:
                apart = self._other_digits(right, results(trace, None))
            if apart is not None:
                return "on ordinary data: %s" % apart
        return None

    def _same_line(self, found):
        site = found.failure.site
        return [
            (name, other)
            for name, other in self.findings
            if other is not found
            and other.oracle in WRONG_DIGITS
            and other.severity != "theoretical"
            and (other.failure.site.file, other.failure.site.line) == (site.file, site.line)
        ]

    # Runs --------------------------------------------------------------------------------------

    def _own_data(self, found):
        limit = self.runner.time_limit * 4
        own = self.program.run(
            Policy(watch_gradients=True, time_limit=limit, stop_after=self._end())
        )
        if own.error is not None and self.baseline.error is None:
            return "the changed program raises %s: %s" % own.error[:2]
        if found.level == 0:
            return None
        if own.failures:
            return "the changed program fails on its own data"
        return compare_results(self.baseline, own)

    def _failing_input(self, found, exact):
        shadow = self._shadow(found)
        trace = self._run(found, shadow)
        if trace.error is not None and self.baseline.error is None:
            return "the changed program raises %s: %s on the failing input" % trace.error[:2]
        if trace.failures:
            left = trace.failures[0]
            return "still %s in %s at line %d" % (left.oracle, left.name, left.site.line)
        return self._other_digits(exact, results(trace, None)) or self._lost_digits(trace, shadow)

    def _lost_digits(self, trace, shadow):
        if isinstance(shadow, (NumpyShadow, ArrayShadow)):
            left = next(numpy_precision.judgements(trace, shadow), None)
        elif shadow is not None:
            from ..backends.torch_backend import TorchBackend

            left = next(precision.judgements(TorchBackend(), trace, shadow), None)
        else:
            left = None
        return None if left is None else "still %s: %s" % (left[0], left[2])

    def _other_digits(self, exact, held):
        """Compares the values that the program keeps or takes out, where they are the same ones."""
        if exact is None or [len(values) for values in exact] != [len(values) for values in held]:
            return None
        for right, got in zip(exact, held):
            if not all(abs(value) < float("inf") for value in right):
                continue
            size = max([abs(value) for value in right] or [0.0])
            if size > HUGE:
                continue
            for one, two in zip(right, got):
                if not abs(one - two) <= RELATIVE * size + ABSOLUTE:
                    return "the failing input gives %.6g where %.6g is right" % (two, one)
        return None

    def _exact_results(self, identifier, found):
        if identifier not in self._exact:
            shadow = self._shadow(found)
            trace = self._run(found, shadow)
            self._exact[identifier] = (
                None if shadow is None or decided_by_bad_values(trace) else results(trace, shadow)
            )
        return self._exact[identifier]

    def _run(self, found, shadow):
        policy = Policy(
            overrides=found.overrides,
            watch_gradients=self.runner.trains,
            backward_limit=1 if found.level not in (0, 4) else None,
            time_limit=self.runner.time_limit * 4,
            stop_after=self._end(),
            shadow=shadow,
        )
        if found.variation is not None:
            return found.variation.run(self.program, policy)
        return self.program.run(policy)

    def _end(self):
        """A program that had to be stopped is compared up to the operation where it was."""
        return self.baseline.operations if self.baseline.stopped is not None else None

    def _shadow(self, found):
        if found.failure.library == "numpy":
            return NumpyShadow()
        # A whole training in two precisions drifts apart without any fault.
        return None if found.level == 4 else shadows.beside(found.failure.library)


def _apart(values, exact):
    """A text when finite values differ from exact ones; results of other forms are not compared."""
    if len(values) != len(exact):
        return None
    for one, two in zip(values, exact):
        if one.shape != two.shape or not one.size or not np.isfinite(two).all():
            continue
        size = float(np.abs(two).max())
        if size > HUGE:
            continue
        error = np.abs(one.astype(np.float64) - two.astype(np.float64))
        worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        if not float(error.ravel()[worst]) <= RELATIVE * size + ABSOLUTE:
            return "%.6g where %.6g is right" % (one.ravel()[worst], two.ravel()[worst])
    return None


def decided_by_bad_values(trace):
    """Did a NaN or Inf choose an order, an index or a branch? Then what was computed after it in
    wider floats followed the wrong choice."""
    return any(
        node.inputs_bad
        and getattr(node.output, "dtype", None) is not None
        and not backends.of(node.library).is_float(node.output)
        for node in trace.nodes
    )


def results(trace, shadow):
    """The values that the program keeps or takes out, each as a list of floats: those of the
    shadow, or the program's own without one."""
    found = []
    for node in trace.nodes:
        if node.output is None or not (node.taken or not node.consumed):
            continue
        backend = backends.of(node.library)
        if not backend.is_float(node.output):
            continue
        value = node.output if shadow is None else shadow.of(node.output)
        if hasattr(value, "detach"):
            found.append(value.detach().double().flatten()[:64].tolist())
        elif backends.numpy_based(node.library):
            found.append([float(item) for item in backend.numbers(value).ravel()[:64]])
        else:
            found.append([float(item) for item in value.ravel()[:64]])
    return found


def compare_results(before, after):
    """Ordinary inputs must give the same results; a text when they do not."""
    first, second = _numbers(before), _numbers(after)
    if len(first) != len(second):
        return "the changed program prints other results on its own data"
    for one, two in zip(first, second):
        if abs(one - two) > 1e-3 * max(abs(one), abs(two)) + 1e-4:
            return "the result changes from %.6g to %.6g on the program's own data" % (one, two)
    return None


def _numbers(trace):
    found = []
    for token in trace.stdout.replace(",", " ").replace("(", " ").replace(")", " ").split():
        try:
            found.append(float(token.rstrip(".:;%")))
        except ValueError:
            continue
    if trace.result is not None and hasattr(trace.result, "detach"):
        found.extend(trace.result.detach().double().flatten()[:64].tolist())
    return [value for value in found if value == value and abs(value) != float("inf")]
