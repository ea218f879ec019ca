"""What was found: level and severity from the final values, confirmation, and the evidence."""

import re

import numpy as np

from ..backends import library as backends
from ..backends.base import MAXIMUM
from ..judge import consequence, poles, shadows
from . import simulation, words
from ..steer import soft_assertions
from ..run.events import float_text
from ..watch import operations
from ..watch.monitor import Policy, tests

# Times the usual values: no data are so far away, and every sum of squares is wrong there.
EXTREME = 1e12
_ORDER = {"critical": 0, "high": 1, "medium": 2, "theoretical": 3}


class Found:
    # Times their own values: weights that training makes larger still are rare.
    GROWN = 30.0

    def __init__(self, failure, overrides, level, label, space):
        self.failure = failure
        self.space = space
        self.overrides = overrides
        self.label = label
        self.oracle = failure.oracle
        self.also = list(failure.also)
        self.hidden_by = None
        self.absorbed_by = None
        self.visible = True
        self.pole = False  # an infinity that is the right answer
        self.origin = None  # where the operand was made, for this use alone
        self.advice = None  # what to write instead, from where the operand was made
        self.consequence = None  # what is wrong about the results in the end
        self.reason = None
        self.elapsed = None
        self.variation = None  # a changed number or size, see changes.py
        self.after_overflow = False  # an operation before it is what failed by magnitude
        self.heaviest = 0.0  # times their own values that weights have
        self.level, self.ratio, self.largest = self._level(level)
        self.severity = self._severity()

    def _level(self, asked):
        """The lowest level that the final values need."""
        if not self.overrides:
            level = asked if asked in (0, 4) else 0
            return max(level, 2) if self.space.made_up() else level, 1.0, 0.0
        level, ratio, largest = 1, 0.0, 0.0
        for key, value in self.overrides.items():
            variable = self.space.by_key[key]
            low, high = variable.inner_range()
            top = float(np.abs(value).max()) if value.size else 0.0
            largest = max(largest, top)
            ratio = max(ratio, top / variable.scale)
            changed = value.shape != variable.own.shape or bool((value != variable.own).any())
            if not changed:
                continue
            if variable.kind == "weight":
                level = max(level, 3)
                self.heaviest = max(self.heaviest, top / variable.scale)
            elif value.size and (float(value.min()) < low or float(value.max()) > high):
                level = max(level, 2)
        if self.space.made_up():
            # No caller is known: these are values a caller could pass, not the program's own.
            level = max(level, 2)
        if self.failure.after_steps > 0 and self.oracle != "gradient_nonfinite":
            level = 4
        return level, ratio, largest

    def _next_to_nothing(self):
        """The largest changed element where all of them are tiny but not 0; else None."""
        top = 0.0
        for key, value in self.overrides.items():
            variable = self.space.by_key[key]
            if value.shape != variable.own.shape:
                return None
            changed = np.abs(value[value != variable.own])
            if changed.size and float(changed.max()) >= variable.tiny():
                return None
            top = max(top, float(changed.max()) if changed.size else 0.0)
        return top or None

    def _severity(self):
        top = self._next_to_nothing() if self.overrides else None
        if top is not None:
            self.reason = "only with values of about %.0e that are not 0" % top
            return "theoretical"
        if self.level <= 1 or (self.level == 4 and self.ratio <= 1.0):
            return "critical"
        if self.ratio <= 1e4:
            if (
                self.level == 3
                and self.heaviest > self.GROWN
                and self.oracle != "gradient_nonfinite"
            ):
                if self.failure.domain and not self.after_overflow:
                    # The operand was lost on the way (a softmax that became 0): another formula would have kept it.
                    return "medium"
                # Training hardly makes weights so much larger; a gradient that is gone needs no more than that.
                self.reason = "only with weights of %.0f times their own values" % self.heaviest
                return "theoretical"
            return "high"
        limit = max(
            [self.space.by_key[key].limit for key in self.overrides] or [MAXIMUM["float32"]]
        )
        if self.failure.output is not None:
            # A narrower type than the input's decides: a double cast to float32.
            name = str(self.failure.output.dtype).replace("torch.", "")
            limit = min(limit, MAXIMUM.get(name, limit))
        if self.largest > 10.0 * limit**0.5:
            return "theoretical"
        if self.ratio > 1e30:
            self.reason = "only with values of about %.0e" % self.largest
            return "theoretical"
        if operations.has(self.failure.name, "squares inside"):
            self.reason = "only with values of about %.0e, where %s of the library overflows" % (
                self.largest,
                self.failure.name,
            )
            return "theoretical"
        if self.space.made_up() and self.oracle == "nonfinite":
            # Nobody says that a function has to take such values; what they make of its results
            # without a word is another matter, see `confirm`.
            self.reason = "only with values of about %.0e, and it shows" % self.largest
            return "theoretical"
        return "medium"

    def improvable(self):
        return self.severity == "theoretical" or self.level >= 2 and self.severity == "medium"

    def rank(self):
        return (_ORDER[self.severity], self.level, self.ratio)

    # Confirmation ------------------------------------------------------------------------------

    def confirm(self, runner):
        """Runs the program on with the failing input: does it fail again, and does it show?"""
        shadow = shadows.beside(self.failure.library)
        trace = runner.run(
            Policy(
                overrides=self.overrides,
                watch_gradients=runner.trains,
                backward_limit=1 if self.level < 4 else None,
                shadow=shadow,
                real=True,
                stop_after=runner.far_horizon,
                time_limit=runner.time_limit * 2,
            )
        )
        again = [
            failure
            for failure in trace.failures
            if failure.site == self.failure.site and failure.oracle == self.failure.oracle
        ]
        if not again:
            return False
        stale, self.failure = self.failure, again[0]
        self.after_overflow = any(
            earlier.index < self.failure.index
            and earlier.oracle == "nonfinite"
            and not earlier.domain
            for earlier in trace.failures
        )
        if stale.domain and (self.after_overflow or not self.failure.domain):
            # The values it was met with overflow every format; those that are left after shrinking do not.
            self.severity = self._severity()
        operands = next(
            (node.operands for node in trace.nodes if node.index == self.failure.index), ()
        )
        self.advice = words.advice(self.failure, trace, operands)
        self.origin = words.origin(self.failure, trace, operands)
        self.also = list(self.failure.also)
        if self.oracle == "nonfinite":
            self._follow(trace)
            if not self.visible or self.hidden_by is not None:
                self._consequence(runner, trace, shadow)
            if self.oracle == "hidden_nonfinite" and self.severity == "medium":
                self.severity = "theoretical"
                self.reason = "only with values of about %.0e, and %s covers it" % (
                    self.largest,
                    self.hidden_by,
                )
            if self.oracle == "hidden_nonfinite" and self.failure.library == "numpy":
                # No gradient goes through it either: the program has thought of it.
                self.severity = "theoretical"
                self.reason = "a later %s replaces it, and the results are right" % self.hidden_by
            if (
                self.oracle == "nonfinite"
                and self.severity == "medium"
                and not self._recoverable(trace, shadow)
            ):
                self.severity = "theoretical"
                self.reason = "the exact result does not fit the number format either"
            if (
                self.oracle == "nonfinite"
                and self.severity == "medium"
                and self.ratio > EXTREME
                and not _under_a_root(trace, self.failure.index)
            ):
                # No data are there, and squares of correct code overflow too; only lengths have a form that does not.
                self.severity = "theoretical"
                self.reason = "only with values of about %.0e" % self.largest
            if (
                self.oracle == "nonfinite"
                and self.severity != "theoretical"
                and self.space.made_up()
                and poles.right_infinity(runner, self, trace)
            ):
                self.pole = True
                self.severity = "theoretical"
                self.reason = "the right answer is infinite there, as its documentation says"
        elif self.oracle == "gradient_nonfinite" and self.severity == "medium":
            self.severity = "theoretical"
        elif self.oracle == "wraparound":
            self._wanted(trace)
        self._warned(runner, trace)
        if simulation.drawn_there(self):
            self.severity = "theoretical"
            self.reason = (
                "only in the statement that draws its own data, with draws that never come"
            )
        elif self.level > 0 and simulation.for_a_draw(runner.baseline, self.failure.site):
            self.severity = "theoretical"
            self.reason = "its result is only a parameter of a random draw"
        return True

    def _warned(self, runner, trace):
        """The author has thought of it: the code itself warns of what it makes of such an input."""
        said = [text for text in trace.warned if text not in runner.baseline.warned]
        if said and self.level > 0 and self.oracle in ("nonfinite", "gradient_nonfinite"):
            self.severity = "theoretical"
            self.reason = "its own code warns of it: %s" % said[0]

    def _wanted(self, trace):
        """Arithmetic that is meant to wrap (checksums, hashes), or whose wrapped part nobody takes."""
        made = next((node for node in trace.nodes if node.index == self.failure.index), None)
        if made is None or made.name == "cast":
            return
        users = [
            node
            for node in trace.nodes
            if node.index > made.index and any(value is made.output for value in node.inputs)
        ]
        before = [trace.producers.get(id(value)) for value in made.inputs]
        if any(
            node is not None and operations.has(node.name, "takes bits") for node in users + before
        ):
            self.severity, self.reason = "theoretical", "its bits are used, not its value"
        elif users and all(
            operations.has(node.name, "hides") and operations.has(node.name, "given")
            for node in users
        ):
            self.severity, self.reason = "theoretical", "%s takes another value" % users[0].name

    def _follow(self, trace):
        """Where the NaN or Inf went: seen by somebody, hidden, or absorbed without harm."""
        if trace.error is not None or trace.gradient_bad:
            return
        if any(value != value or value in (np.inf, -np.inf) for value in trace.observed):
            return
        hidden, absorbed = None, None
        returned = consequence.leaves(trace.result)
        fine = bool(returned) and all(bool(np.isfinite(leaf).all()) for leaf in returned)
        for node in trace.nodes:
            if node.index < self.failure.index:
                continue
            if node.output_bad and not node.consumed and not _replaced(node):
                asking = _asking(trace, node) if fine else None
                if asking is None:
                    return
                # What a target function gives back is finite: it only decides by this.
                absorbed = absorbed or asking
            if node.inputs_bad and not node.output_bad and not tests(node.outputs):
                if operations.has(node.name, "decides") or operations.has(node.name, "selects"):
                    return
                if operations.has(node.name, "hides"):
                    hidden = hidden or node
                else:
                    absorbed = absorbed or node
        if (
            hidden is None
            and absorbed is None
            and any(node.index == self.failure.index and _replaced(node) for node in trace.nodes)
        ):
            self.hidden_by = "assignment"
            self.oracle = "hidden_nonfinite"
        elif hidden is not None:
            self.hidden_by = hidden.name
            self.oracle = "hidden_nonfinite"
        elif absorbed is not None:
            self.absorbed_by = absorbed.name
            self.visible = False
            self.severity = "theoretical"
            self.reason = "%s turns it into a finite value again" % absorbed.name

    def _consequence(self, runner, trace, shadow):
        """Covered by a later operation: are the results right all the same?"""
        wrong = consequence.wrong_result(runner, self, trace, shadow)
        if wrong is None or self.failure.domain and self.hidden_by is None:
            return
        self.also.append(
            (
                self.oracle if self.oracle != "hidden_nonfinite" else "nonfinite",
                "%s covers it" % (self.absorbed_by or self.hidden_by),
            )
        )
        self.oracle = "silently_wrong"
        self.consequence = wrong
        self.visible = True
        if self.level > 1 and self.ratio > EXTREME:
            self.severity = "theoretical"
            self.reason = "only with values of about %.0e" % self.largest
        elif self.severity == "theoretical" and self.absorbed_by is not None:
            self.severity = "high" if self.ratio <= 1e4 else "medium"
            if self.level <= 1:
                self.severity = "critical"
            self.reason = None

    def _recoverable(self, trace, shadow):
        """Is there a result downstream that fits the format when computed in wider floats?"""
        if self.failure.domain or not (
            operations.has(self.failure.name, "magnitude")
            or soft_assertions.arithmetic(self.failure.name)
        ):
            return True
        # Beside NumPy nothing is computed wider.
        if shadow is None or self.failure.library == "numpy":
            return False
        for node in trace.nodes:
            backend = backends.of(node.library)
            if (
                node.output_bad
                and node.index > self.failure.index
                and backend.library == self.failure.library
                and backend.is_float(node.output)
            ):
                wide = shadow.numbers(node.output)
                limit = MAXIMUM.get(backend.dtype_name(node.output), MAXIMUM["float32"])
                # Well below the limit: the mean of squares that overflow fits by chance only.
                if bool(np.isfinite(wide).all()) and float(np.abs(wide).max()) <= limit**0.75:
                    return True
        return False

    def as_json(self, identifier):
        failure = self.failure
        changed = {}
        for key, value in self.overrides.items():
            variable = self.space.by_key[key]
            difference = value.shape != variable.own.shape or value != variable.own
            changed[variable.name] = {
                "key": key,
                "shape": list(value.shape),
                "dtype": variable.dtype,
                "words": words.pattern(value, variable.own),
                "elements_changed": int(np.count_nonzero(difference)),
                "smallest": float_text(value.min()) if value.size else None,
                "largest": float_text(value.max()) if value.size else None,
                "values": [float_text(item) for item in value.ravel()[:8]],
            }
        if self.variation is not None:
            changed.update(self.variation.entries(self.space.inputs))
        return {
            "id": identifier,
            "site": failure.site.as_json(),
            "oracle": self.oracle,
            "also": [name for name, _ in self.also],
            "details": [failure.detail]
            + ([self.consequence] if self.consequence else [])
            + [detail for _, detail in self.also],
            "level": "L%d" % self.level,
            "severity": self.severity,
            "reason": self.reason,
            "producer": failure.name,
            "hidden_by": self.hidden_by,
            "label": self.label,
            "signal": _signal(self.label),
            "training_steps": failure.after_steps,
            "ratio": float_text(self.ratio),
            "input": changed,
            "library": failure.library,
            "elapsed": self.elapsed,
            "advice": self.advice,
            "origin": self.origin,
            "sentence": words.sentence(self),
        }


def _asking(trace, made):
    """The comparison that the result of an operation goes into, if there is one."""
    held = set(map(id, made.outputs))
    for node in trace.nodes:
        if node.index > made.index and tests(node.outputs):
            if any(id(value) in held for value in node.inputs):
                return node
    return None


def _under_a_root(trace, index):
    """Is a root taken of what the operation gave, so that the result fits although the square does not?"""
    made = set()
    for node in trace.nodes:
        if node.index == index:
            made.update(map(id, node.outputs))
        elif node.index > index and any(id(value) in made for value in node.inputs):
            if node.name in ("sqrt", "rsqrt"):
                return True
            made.update(map(id, node.outputs))
    return False


def _replaced(node):
    """Was the NaN or Inf of an array overwritten in place, as `y[x == 0] = 0` does?"""
    backend = backends.of(node.library)
    return (
        node.library == "numpy"
        and node.output_bad
        and backend.is_array(node.output)
        and backend.count(node.output) > 0
        and backend.finite(node.output)
    )


def _signal(label):
    """The direction, and what gave it."""
    for word in ("increase", "decrease"):
        if label.startswith(word):
            source = re.search(r"by (\w+) soft assertion", label)
            return "%s (%s)" % (word, source.group(1)) if source else word
    return "no change" if "own data" in label else label
