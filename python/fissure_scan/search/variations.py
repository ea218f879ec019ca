"""Inputs of a program that are no arrays: numbers that shape the computation, and sizes of data.

They are tried after the search over values, on the program's own data; what they make fail is level
L2. A number or a size that the script itself writes down is its own decision, so such failures are
notes; a parameter of a target function, an option of the command line, a batch of a loader and
whatever the user named with `--input` can be anything that is allowed, so those are findings.
"""

import numpy as np

from . import candidates, optional, resize, tested
from ..run import constants, signatures
from ..report.findings import Found
from ..watch.monitor import Policy
from .changes import (
    ArgumentChange,
    ConstantChange,
    ConstructorChange,
    Mode,
    ModeChange,
    NumbersChange,
    SizeChange,
)
from .scalars import Scalar


class Variations:
    def __init__(self, runner, space, collected, scalars, exhaustive):
        self.runner = runner
        self.space = space
        self.collected = collected
        self.scalars = scalars
        self.exhaustive = exhaustive

    def run(self):
        if self.runner.program.function:
            self._masks()
        self._sizes()
        for scalar in self.scalars:
            make = _CHANGES[scalar.key.partition(":")[0]]
            # What a script sets itself gives notes only: few of them are enough.
            most = None if scalar.counted or self.exhaustive else 2
            for value in scalar.trials()[:most]:
                if self.runner.over():
                    return
                self._number(scalar, make(scalar, value))
        self._none_at_all()
        if self.runner.program.function:
            self._modes()

    # Flags and choices ---------------------------------------------------------------------------

    def _modes(self):
        """Every other flag and choice, on the own data and on the inputs a tester would try."""
        for mode, value in modes(self.runner.program):
            if self.runner.over():
                return
            change = ModeChange(mode, value)
            if self._try(change, {}) is None:
                continue
            points = [("own data", {})] + list(candidates.inner(self.space.inputs))[:_MODE_POINTS]
            for label, overrides in points:
                if self.runner.over():
                    return
                for found in self._failures(change, overrides):
                    found.label = "%s, %s" % (change.label, label)
                    found.ratio = max(found.ratio, 1.0)
                    found.severity = "high"

    def _masks(self):
        """Masks and weights in the forms that matter, those that the call leaves out too."""

        def accepted(change):
            return not self.runner.over() and self._passes(change)

        for forms in optional.changes(self.runner.program, accepted):
            for change in forms:
                if self.runner.over():
                    return
                for found in self._failures(change, {}):
                    found.ratio = max(found.ratio, 1.0)
                    found.severity = "high"

    # Numbers -----------------------------------------------------------------------------------

    def _number(self, scalar, change):
        points = [{}]
        if scalar.kind == "protection":
            # What a protective constant protects from are zeros.
            points += [
                overrides
                for label, overrides in candidates.inner(self.space.inputs)
                if label in ("zero", "lowest")
            ]
        allowed = scalar.allows(change.value)
        for overrides in points:
            for found in self._failures(change, overrides):
                if not allowed:
                    found.severity = "theoretical"
                    found.reason = "with %s only, which is outside its range (%s)" % (
                        change.label,
                        scalar.why,
                    )
                elif found.failure.library == "math" and not scalar.asked and not scalar.stated:
                    # As good as a refusal, and nothing says that the value is one of its own.
                    found.severity = "theoretical"
                    found.reason = "with %s only, which raises at once" % change.label
                elif not scalar.counted:
                    found.severity = "theoretical"
                    found.reason = (
                        "with %s only, a number that the script sets itself" % change.label
                    )
                elif abs(change.value) > abs(scalar.value) and _huge_power(found.failure):
                    found.severity = "theoretical"
                    found.reason = "with %s only, an exponent at which every power overflows" % (
                        change.label
                    )
                else:
                    found.ratio = max(found.ratio, scalar.ratio(change.value))
                    found.severity = "high" if found.ratio <= 1e4 else "medium"

    def _none_at_all(self):
        """Every count that the program asks about is 0: the first step of a schedule without warm-up."""
        counts = [
            scalar
            for scalar in self.scalars
            if scalar.kind == "count" and scalar.value and scalar.allows(0)
        ]
        if len(counts) < 2 or not self.runner.program.function or self.runner.over():
            return
        change = NumbersChange(
            [_CHANGES[scalar.key.partition(":")[0]](scalar, 0) for scalar in counts]
        )
        for found in self._failures(change, {}):
            found.severity = "high"

    # Sizes -------------------------------------------------------------------------------------

    def _sizes(self):
        infos = [
            info
            for info in self.runner.baseline.inputs.values()
            if info.kind != "weight" and info.value is not None
        ]
        # A size counts as an input where the data come from outside the script's own lines.
        outside = self.runner.baseline.short_batches or any(
            info.kind in ("parameter", "batch")
            or info.kind == "entering"
            and not info.frozen
            or info.origin in ("load", "loadtxt", "genfromtxt", "fromfile")
            for info in infos
        )
        for how in resize.variants([tuple(info.shape()) for info in infos]):
            if self.runner.over():
                return
            for found in self._failures(SizeChange(how), {}):
                found.severity = "high" if outside else "theoretical"
                if how.count == 0:
                    found.severity, found.reason = "theoretical", "with an empty input only"
                    # One is enough to say so: every mean after it is empty too.
                    break
                elif not outside:
                    found.reason = "with %s only; the script sets the size itself" % how.label

    # Both --------------------------------------------------------------------------------------

    def _failures(self, change, overrides):
        """New failures under a change, seen twice; they are entered as found."""
        failures = self._try(change, overrides)
        fresh = [failure for failure in failures if failure.site.key() not in self.collected]
        if not fresh:
            return
        again = set(
            (failure.site.key(), failure.oracle) for failure in self._try(change, overrides)
        )
        for failure in fresh:
            key = failure.site.key()
            if key in self.collected or (key, failure.oracle) not in again:
                continue
            found = Found(failure, overrides, 0, change.label, self.space)
            found.level, found.variation = 2, change
            found.elapsed = self.collected.elapsed()
            self.collected.keep(key, found)
            yield found

    def _passes(self, change):
        """Does the program come to its end under a change, and is nothing wrong with it?"""
        trace = self.runner.run(Policy(time_limit=self.runner.time_limit), change)
        return trace.error is None and trace.stopped is None and not trace.failures

    def _try(self, change, overrides):
        runner = self.runner
        trace = runner.run(
            Policy(
                overrides=overrides,
                watch_gradients=runner.trains,
                stop_after=runner.far_horizon,
                backward_limit=1,
                time_limit=runner.time_limit,
            ),
            change,
        )
        if (
            trace.error is not None
            and trace.error[0] in _REFUSALS
            and not any(failure.library == "math" for failure in trace.failures)
        ):
            # The program itself refuses the value: it is outside what it accepts.
            return []
        return [
            failure
            for failure in trace.failures
            if failure.after_steps == 0 or failure.oracle == "gradient_nonfinite"
        ]


# A double of 10 to this power, or of 0.1, is as far from 1 as a float32 goes.
_LARGE_EXPONENT = 40.0


def _huge_power(failure):
    """Is it a power that overflows because its exponent is huge, whatever its base is?"""
    if failure.name != "pow" or len(failure.arguments) < 2 or failure.oracle != "nonfinite":
        return False
    try:
        exponents = np.asarray(failure.arguments[1], dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool((np.abs(exponents) > _LARGE_EXPONENT).any())


# By where a number stands, the beginning of its key.
_CHANGES = {
    "argument": ArgumentChange,
    "constructor": ConstructorChange,
    "constant": ConstantChange,
}
# Special inputs that are tried under each flag and choice.
_MODE_POINTS = 8
# Flags and choices that are tried at all.
_MODES = 8


def modes(program):
    """(Mode, other value) of the flags and choices of a target function: documented choices, and
    the texts that the function compares the parameter with."""
    try:
        compared = signatures.compared(program.resolve().function)
    except Exception:
        compared = {}
    found = []
    arguments = program.synthesised
    for name, value in arguments.values.items():
        if isinstance(value, bool):
            found.append((Mode(name, value), not value))
        elif isinstance(value, str):
            facts = arguments.facts.get(name)
            choices = list(facts.choices if facts is not None else []) + compared.get(name, [])
            for choice in dict.fromkeys(choices):
                if choice != value:
                    found.append((Mode(name, value), choice))
    return found[:_MODES]


_REFUSALS = (
    "ValueError",
    "AssertionError",
    "TypeError",
    "IndexError",
    "KeyError",
    "NotImplementedError",
)


def scalars_of_script(program, ranges, frozen):
    """The named numbers of a script that are worth changing."""
    found, seen = [], set()
    asked = tested.names(program.text())
    for constant in constants.find(program.text()):
        # Only an option can be given from outside; the rest is the script's own decision.
        counted = constant.origin == "an option of the command line" or constant.name in ranges
        scalar = Scalar(
            "constant:%s:%d" % (constant.name, constant.occurrence),
            constant.name,
            constant.value,
            program.file,
            constant.line,
            constant.origin,
            counted,
        )
        scalar.occurrence = constant.occurrence
        scalar.column = constant.column
        if constant.name in ranges:
            scalar.limit(*ranges[constant.name], why="--input")
        if counted and constant.name in asked:
            scalar.decides()
        if (
            scalar.kind is None
            or scalar.kind == "count"
            and not counted
            or constant.name in frozen
            or (constant.name, constant.value) in seen
            and not counted
        ):
            continue
        seen.add((constant.name, constant.value))
        found.append(scalar)
    found.sort(key=lambda scalar: not scalar.counted)
    return found[: constants.LARGEST_COUNT]


def scalars_of_arguments(arguments, program, ranges, frozen):
    """The numbers among the arguments of a target function, and of the object that it is a method of."""
    asked = tested.names(program.text(), program.function.rpartition(".")[2])
    found = _scalars_of_call(arguments, "argument", program, ranges, frozen, asked)
    if arguments.constructor is not None:
        known = set(scalar.name for scalar in found)
        found += [
            scalar
            for scalar in _scalars_of_call(
                arguments.constructor, "constructor", program, ranges, frozen, asked
            )
            if scalar.name not in known
        ]
    return found


def _scalars_of_call(arguments, kind, program, ranges, frozen, asked):
    found = []
    for name, value in arguments.values.items():
        if type(value) not in (int, float) or name in frozen or value != value:
            continue
        scalar = Scalar(
            "%s:%s" % (kind, name),
            name,
            value,
            program.file or program.module,
            arguments.line,
            "parameter",
            True,
        )
        facts = arguments.facts.get(name)
        if facts is not None and (facts.low is not None or facts.high is not None):
            scalar.limit(facts.low, facts.high, "documented")
            scalar.open_low = facts.open_low
        if name in ranges:
            scalar.limit(*ranges[name], why="--input")
        if name in asked:
            scalar.decides()
        if scalar.kind is not None:
            found.append(scalar)
    return found


def known_names(program):
    """The names that `--input` and `--freeze` may use for numbers."""
    if program.function:
        constructor = program.synthesised.constructor
        return set(program.synthesised.values) | set(constructor.values if constructor else ())
    return set(constant.name for constant in constants.find(program.text()))
