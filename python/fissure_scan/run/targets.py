"""The target function of a scan: found by its name, bound to an object where it is a method, and
called with arguments it accepts."""

import contextlib
import inspect
import io

from . import observe, synthesis
from ..watch.monitor import Policy


class TargetError(Exception):
    """The program cannot be started at all; the message says what to do."""


class Target:
    """What a name such as `Class.method` leads to."""

    def __init__(self, owner, function):
        self.owner = owner          # the class, for a method that needs an object
        self.function = function    # the plain function of such a method, else what is called

    def bound(self, constructor):
        """What is called: for a method, that of an object made now."""
        if self.owner is None:
            return self.function
        try:
            made = self.owner() if constructor is None else constructor.construct(self.owner)
        except Exception as error:
            raise TargetError("no object of `%s` could be made: %s: %s" % (
                self.owner.__name__, type(error).__name__, error)) from error
        return getattr(made, self.function.__name__)


def resolve(namespace, path):
    parts = path.split(".")
    if parts[0] not in namespace:
        raise TargetError("there is no `%s` in it" % parts[0])
    value, owner = namespace[parts[0]], None
    for part in parts[1:]:
        owner = value
        if not hasattr(value, part):
            raise TargetError("`%s` has no `%s`" % (getattr(value, "__name__", value), part))
        value = getattr(value, part)
    if isinstance(owner, type) and inspect.isfunction(value) and not isinstance(
            inspect.getattr_static(owner, parts[-1]), staticmethod):
        return Target(owner, value)
    if not callable(value):
        raise TargetError("`%s` cannot be called" % path)
    return Target(None, value)


def choose_arguments(program, tensor_size):
    """The first set of arguments the target accepts; a text when there is none."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            target = program.resolve()
    except TargetError as error:
        return str(error)
    except Exception as error:
        return "importing it raises %s: %s" % (type(error).__name__, error)
    last = None
    try:
        sets = list(_sets(program, target, tensor_size))
    except (TypeError, ValueError) as error:
        return "its signature cannot be read: %s" % error
    code = observe.code_of(target.function)
    for arguments in sets:
        program.synthesised = arguments
        arguments.line = code.co_firstlineno if code is not None else 0
        trace = program.run(Policy(time_limit=2.0))
        if trace.error is None and trace.operations > 0:
            return None
        last = trace.error or last
    return "no arguments were found that it accepts; the last attempt raised %s" % (
        "%s: %s" % last[:2] if last else "nothing, but no array operation was seen")


def _sets(program, target, tensor_size):
    """Sets of arguments in the order they are worth trying."""
    documented = synthesis.documentation(target.function)
    seen = observe.observe(program, target.function, target.owner)
    if seen is not None:
        seen.facts = documented
        yield seen
    constructors = [None]
    if target.owner is not None:
        constructors = _constructors(target.owner)
        if seen is not None and seen.constructor is not None:
            constructors.insert(0, seen.constructor)
    # Hints of forward references are texts; the generator reads texts as well.
    bare = target.function
    for constructor in constructors[:3]:
        for shape, labels in synthesis.plans(tensor_size):
            arguments = synthesis.arguments_for(bare, shape, labels, documented)
            if target.owner is not None:
                # The first parameter is the object, whatever it is called.
                first = next(iter(inspect.signature(bare).parameters))
                arguments.values.pop(first, None)
                if first in arguments.positional:
                    arguments.positional.remove(first)
            arguments.constructor = constructor
            yield arguments


def _constructors(owner):
    """Ways to make an object of a class."""
    if owner.__init__ is object.__init__:
        return [None]
    documented = synthesis.documentation(owner.__init__, owner)
    # What a layer or model is made with are sizes, unless its parameters say otherwise.
    return [synthesis.arguments_for(owner, (4, 3), labels, documented)
            for labels in ("numbers", "integers")]
