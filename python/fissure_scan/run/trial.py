"""Arguments by trial: guesses are called, and what the function says leads to better ones.

How far a call came is the number of different lines of the user's files that it executed; a change
that comes further is kept, one that does not is not.
"""

import contextlib
import dataclasses
import functools
import inspect
import linecache
import re
import sys

from . import guess, objects, repair, signatures, specs
from .arguments import Arguments

# Calls per target at most.
CALLS = 400
# Optional arguments that are tried where the required ones do not help.
OPTIONAL = 4
# Elements of a vector in the place of a number.
ROWS = 6
# States that repair begins from.
BEGINNINGS = 4


class Outcome:
    def __init__(self, state, error, operations, lines, last_line):
        self.state = state
        self.error = error
        self.operations = operations
        self.lines = lines
        self.last_line = last_line  # text of the user's line that failed

    def accepted(self):
        return self.error is None and self.operations > 0

    def rank(self):
        return (self.error is None, self.lines, self.operations)


class Trial:
    """The search for a call that is accepted. `attempt(arguments)` makes one and gives the error
    (class, message, file, line) or None, and the number of array operations."""

    def __init__(self, function, skip_first, documented, users, attempt, budget, depth=0):
        self.documented = documented
        self.users = users
        self.attempt = attempt
        self.budget = budget  # see search/runner.py
        self.tried = {}
        self.calls = 0
        plain = function.__init__ if isinstance(function, type) else function
        with contextlib.suppress(ValueError):
            plain = inspect.unwrap(signatures.behind(plain))
        self.library = guess.library(plain)
        self.objects = objects.Objects(users, getattr(plain, "__globals__", None), depth)
        self.choices = signatures.compared(plain)
        self.parameters = []
        self.rest = None
        for position, parameter in enumerate(signatures.parameters(function)):
            if position == 0 and skip_first:
                continue
            if parameter.kind == parameter.VAR_POSITIONAL:
                self.rest = parameter
            elif parameter.kind != parameter.VAR_KEYWORD:
                self.parameters.append(parameter)
        self.last = None  # the most telling refusal

    # States --------------------------------------------------------------------------------------

    def first_state(self, shape, labels):
        guesser = guess.Guesser(self.library, shape, labels, self.objects)
        state = {}
        for parameter in self.parameters:
            if parameter.default is dataclasses._HAS_DEFAULT_FACTORY:
                # Made anew for each object; nobody can pass it.
                continue
            if parameter.default is not guess.EMPTY:
                state[parameter.name] = specs.constant(parameter.default)
            else:
                state[parameter.name] = guesser.spec(parameter, self.documented.get(parameter.name))
        if self.rest is not None and not any(
            parameter.default is guess.EMPTY for parameter in self.parameters
        ):
            state["*"] = guesser.spec(self.rest, None)
        return state

    def arguments(self, state):
        values, sources, makers, rest = {}, {}, {}, ()
        for seed, (name, spec) in enumerate(state.items()):
            value, source = specs.build(spec, seed + 1)
            if name == "*":
                more = range(1, max(1, spec.count if spec.container is None else 1))
                rest = (value,) + tuple(specs.build(spec, seed + 11 * at)[0] for at in more)
                continue
            values[name] = value
            if source is not None:
                sources[name] = source
                makers[name] = functools.partial(specs.build, spec, seed + 1)
        positional = [
            parameter.name
            for parameter in self.parameters
            if parameter.kind == parameter.POSITIONAL_ONLY
        ]
        if rest:
            positional = [
                parameter.name
                for parameter in self.parameters
                if parameter.kind != parameter.KEYWORD_ONLY
            ]
        made = Arguments(values, self.documented, positional=positional, rest=rest)
        made.sources, made.makers = sources, makers
        return made

    # Calls ---------------------------------------------------------------------------------------

    def call(self, state):
        key = tuple((name, _mark(spec)) for name, spec in state.items())
        held = self.tried.get(key)
        if held is not None:
            return held
        self.calls += 1
        coverage = Coverage(self.users)
        try:
            arguments = self.arguments(state)
        except Exception as error:
            outcome = Outcome(
                state, (type(error).__name__, str(error)[:300], None, None), 0, -1, ""
            )
        else:
            with coverage.active():
                error, operations = self.attempt(arguments)
            text = linecache.getline(error[2], error[3]) if error and error[2] and error[3] else ""
            outcome = Outcome(state, error, operations, len(coverage.lines), text)
        self.tried[key] = outcome
        if outcome.error is not None and (self.last is None or outcome.rank() > self.last.rank()):
            self.last = outcome
        return outcome

    def over(self):
        return self.calls >= CALLS or self.budget.over()

    def search(self, beginnings):
        """The first accepted outcome, or None. `beginnings` are states."""
        outcomes = []
        for state in beginnings:
            if self.over():
                break
            outcome = self.call(state)
            if outcome.accepted():
                return outcome
            outcomes.append(outcome)
        outcomes.sort(key=lambda outcome: outcome.rank(), reverse=True)
        quiet = None
        for outcome in outcomes[:BEGINNINGS]:
            found = self._climb(outcome)
            if found is not None and found.accepted():
                return found
            quiet = quiet or found
            if self.over():
                break
        # Nothing with an array operation: a call that passes is better than none.
        return quiet or next((outcome for outcome in outcomes if outcome.error is None), None)

    def with_rows(self, outcome):
        """The same call on vectors, where it was accepted on single numbers only: a function of numbers
        (angles, coordinates, prices) mostly takes many at once, and a search then sees many cases in a run."""
        state = outcome.state
        arrays = [spec for spec in state.values() if specs.is_array(spec)]
        if not arrays or any(spec.shape or spec.container for spec in arrays):
            return outcome
        unknown = set(
            parameter.name
            for parameter in self.parameters
            if parameter.default is guess.EMPTY and parameter.annotation is guess.EMPTY
        )
        changed = {}
        for name, spec in state.items():
            if specs.is_array(spec):
                changed[name] = spec._replace(shape=(ROWS,))
            elif specs.is_number(spec) and name in unknown:
                changed[name] = specs.array("float", (ROWS,), self.library)
        for numbers_too in (True, False):
            other = dict(state)
            other.update(
                (name, spec)
                for name, spec in changed.items()
                if numbers_too or specs.is_array(state[name])
            )
            reached = self.call(other)
            if reached.accepted() and reached.lines >= outcome.lines:
                return reached
        return outcome

    def _climb(self, outcome):
        """Repairs a state step by step while it comes further."""
        library = self.library
        for _ in range(12):
            better = None
            for changes in self._changes(outcome, library):
                if self.over():
                    return outcome if outcome.error is None else None
                state = dict(outcome.state)
                state.update(changes)
                reached = self.call(state)
                if reached.accepted():
                    return reached
                if reached.rank() > outcome.rank() and (
                    better is None or reached.rank() > better.rank()
                ):
                    better = reached
                    if reached.lines > outcome.lines:
                        break
                elif (
                    better is None
                    and reached.error is not None
                    and outcome.error is not None
                    and reached.lines == outcome.lines
                    and _other(reached, outcome)
                    and len(changes) == 1
                ):
                    # As far, but another complaint: the next step may get through.
                    better = reached
            if better is None:
                return outcome if outcome.error is None else None
            outcome = better
        return None

    def _changes(self, outcome, library):
        names = set(re.findall(r"[A-Za-z_]\w*", outcome.last_line))
        if outcome.error is not None:
            yield from repair.proposals(
                outcome.state, outcome.error, names, library, self.objects, self.choices
            )
        required = set(
            parameter.name for parameter in self.parameters if parameter.default is guess.EMPTY
        ) | {"*"}
        for name, spec in outcome.state.items():
            if name in required:
                for other in alternatives(spec, library):
                    yield {name: other}
        if "*" in outcome.state and outcome.state["*"].container is None:
            for count in (2, 3, 4):
                yield {"*": outcome.state["*"]._replace(count=count)}
        optional = [name for name, spec in outcome.state.items() if spec == specs.constant(None)]
        if outcome.error is not None:
            # It raises whatever its required arguments are: one of the others has to be given.
            rows = next(
                (spec.shape[:1] for spec in outcome.state.values() if specs.is_array(spec)), (4,)
            )
            for name in optional[:OPTIONAL]:
                yield {name: specs.array("labels", rows, library)}
                yield {name: specs.array("unit", (4, 3), library)}
                yield {name: specs.constant(1.0)}
        if outcome.error is None:
            # It passes without an operation: an optional array may be what it computes with.
            for name in optional:
                yield {name: specs.array("float", (4, 3), library)}


def _other(one, two):
    return one.error[:2] != two.error[:2]


def _mark(spec):
    if spec.kind in ("constant", "object"):
        return spec.kind, repr(spec.extra)[:200]
    return spec


def alternatives(spec, library):
    """Other kinds of value for a parameter that nothing said anything about."""
    if specs.is_array(spec):
        for shape in guess.SHAPES + ((4, 4), (4, 1), (1,), (2, 3, 16, 16), (1, 3, 32, 32)):
            if shape != spec.shape:
                yield spec._replace(shape=shape)
        for kind in ("labels", "unit", "binary", "positive", "bool", "psd", "onehot"):
            if kind != spec.kind:
                yield spec._replace(kind=kind, dtype=None)
        if spec.container is None:
            yield spec._replace(container="list", count=2)
        else:
            yield spec._replace(container=None)
        for value in (3, 0.5, 1, None, True):
            yield specs.constant(value)
        yield specs.plain("callable")
        return
    for value in (3, 1, 0.5, 8, None, True, 0, "mean", (4, 3), [3, 3], {}, 16, 32):
        yield specs.constant(value)
    for shape in ((4, 3), (4,), (3, 3), (2, 3, 4), (2, 3, 8, 8)):
        yield specs.array("float", shape, library)
    yield specs.plain("callable")


class Coverage:
    """The lines of the user's files that a call executes."""

    LIMIT = 20000

    def __init__(self, users):
        self._users = users
        self.lines = set()
        self._events = 0

    @contextlib.contextmanager
    def active(self):
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _call(self, frame, event, argument):
        if self._events > self.LIMIT or not self._users.owns(frame.f_code.co_filename):
            return None
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _line(self, frame, event, argument):
        self._events += 1
        if self._events > self.LIMIT:
            frame.f_trace_lines = False
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def refusal(outcome):
    """What is said about a target that nothing was accepted by."""
    if outcome is None:
        return "no arguments were found that it accepts: the time was over before a call was tried"
    if outcome.error is None:
        return "no arguments were found that it accepts; no array operation was seen"
    return (
        "no arguments were found that it accepts; the closest attempt raised %s: %s"
        % outcome.error[:2]
    )
