"""Objects of the program's own classes, where a parameter wants one: made with what their constructors take."""

import inspect

from . import specs
from ..search.runner import Effort

# Classes inside classes (a trainer that takes a model that takes settings).
_DEPTH = 3
# Seconds of processor time for finding out how an object of one class is made.
_SECONDS = 1.0


class Objects:
    """What the classes of the user's files are made with, found once each."""

    def __init__(self, users, namespace=None, depth=0):
        self.users = users
        self.depth = depth
        self._namespace = namespace or {}
        self._made = {}

    def spec(self, annotation):
        """A spec for a parameter with this annotation, where it names a class of the user's files; else None."""
        owner = self._named(annotation)
        return self.of_class(owner) if owner is not None else None

    def with_attribute(self, attribute):
        """Specs of objects that have an attribute, of the classes that the target's file knows."""
        for owner in list(self._namespace.values()):
            if self._own(owner) and _has(owner, attribute):
                made = self.of_class(owner)
                if made is not None:
                    yield made

    def value(self, name):
        """What a name stands for in the target's file; None where it is not known there."""
        first, _, rest = name.partition(".")
        value = self._namespace.get(first)
        for part in rest.split(".") if rest else ():
            value = getattr(value, part, None)
        return value

    def of_class(self, owner):
        if owner not in self._made:
            self._made[owner] = None  # also for a class that wants one of its own
            self._made[owner] = self._constructed(owner)
        return self._made[owner]

    def _named(self, annotation):
        """The class behind an annotation: itself, its name as a text, or the one beside None."""
        if isinstance(annotation, str):
            annotation = self._namespace.get(annotation.strip("'\" "))
        parts = [
            part for part in getattr(annotation, "__args__", None) or () if part is not type(None)
        ]
        if len(parts) == 1 and not isinstance(annotation, type):
            annotation = parts[0]
        return annotation if self._own(annotation) else None

    def _own(self, owner):
        if not isinstance(owner, type) or inspect.isabstract(owner):
            return False
        try:
            return self.users.owns(inspect.getfile(owner))
        except (TypeError, OSError):
            return False

    def _constructed(self, owner):
        from .trial import Trial

        if self.depth >= _DEPTH:
            return None

        def attempt(arguments):
            try:
                arguments.construct(owner)
            except Exception as error:
                frames = inspect.getinnerframes(error.__traceback__)
                own = [frame for frame in frames if self.users.owns(frame.filename)]
                place = (own[-1].filename, own[-1].lineno) if own else (None, None)
                return (type(error).__name__, str(error)[:300]) + place, 0
            return None, 1

        try:
            trial = Trial(
                owner, False, {}, self.users, attempt, Effort(_SECONDS), depth=self.depth + 1
            )
            outcome = trial.search([trial.first_state((4, 3), "numbers")])
        except (TypeError, ValueError):
            return None
        if outcome is None or not outcome.accepted():
            return None
        required = [
            (parameter.name, outcome.state[parameter.name])
            for parameter in trial.parameters
            if parameter.name in outcome.state
            and outcome.state[parameter.name] != specs.constant(parameter.default)
        ]
        return specs.plain("object", (owner, tuple(required)))


def _has(owner, attribute):
    """A method, a field, or what the constructor sets."""
    code = getattr(owner.__init__, "__code__", None)
    return (
        hasattr(owner, attribute)
        or attribute in getattr(owner, "__annotations__", {})
        or code is not None
        and attribute in code.co_names
    )
