"""Public functions and operators of JAX and TensorFlow that report what they compute.

They are replaced once and stay replaced: without a run that goes on they only pass the call on. A
watched function is one operation, whatever it calls inside; functions that call the program's own
code (`grad`, `scan`, `map_fn`, …) must not be among them.
"""

import functools
import inspect

from ..watch import operations
from .arrays import unwatched
from ..watch.monitor_tools import flatten

OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "neg", "abs")


class Watched:
    """A function of a module. Attributes (`jnp.add.reduce`) are those of the original."""

    def __init__(self, backend, original, name, kind):
        functools.update_wrapper(self, original, updated=())
        self._backend = backend
        self._original = original
        self._name = name
        self._kind = kind

    def __call__(self, *arguments, **keywords):
        backend = self._backend
        if backend.monitor is None or backend.inside or not backend.monitor.active:
            return self._original(*arguments, **keywords)
        if self._kind == "passed on":
            return _pass_on(backend, self._original, arguments, keywords)
        if self._kind == "source":
            return source(backend, self._name, self._original, arguments, keywords)
        return operation(backend, self._name, self._original, arguments, keywords, False)

    def __getattr__(self, name):
        return getattr(self._original, name)

    def __reduce__(self):
        return self._original.__reduce__()


def method(backend, original, name, swapped=False):
    """A method of the library's arrays, operators among them."""

    @functools.wraps(original)
    def call(*arguments, **keywords):
        if backend.monitor is None or backend.inside or not backend.monitor.active:
            return original(*arguments, **keywords)
        return operation(backend, name, original, arguments, keywords, swapped)

    return call


def replace_method(backend, owner, attribute, name, swapped=False):
    call = method(backend, getattr(owner, attribute), name, swapped)
    is_static = isinstance(inspect.getattr_static(owner, attribute), staticmethod)
    setattr(owner, attribute, staticmethod(call) if is_static else call)


def kind_of(name):
    return "operation" if operations.source(name) is None else "source"


def operation(backend, name, original, arguments, keywords, swapped):
    """One operation, seen from the function that replaces the library's (two frames up)."""
    monitor = backend.monitor
    frame, _, optimizer = monitor.users.locate(3)
    if frame is None or optimizer:
        result = _pass_on(backend, original, arguments, keywords)
        backend.mark(backend.values(result))
        return result
    if any(
        backend.is_symbolic(value)
        for value in flatten(list(arguments) + list(keywords.values()), [])
    ):
        return _pass_on(backend, original, arguments, keywords)
    arguments = tuple(backend.exchanged(value, frame) for value in arguments)
    keywords = dict((key, backend.exchanged(value, frame)) for key, value in keywords.items())
    real = []

    def call():
        real.append(_pass_on(backend, original, arguments, keywords))
        return backend.values(real[0])

    function = backend.replayable(original, arguments)
    monitor.operation(
        backend,
        name,
        function,
        backend.values(arguments),
        backend.values(keywords),
        swapped,
        frame,
        call,
    )
    return real[0]


def source(backend, name, original, arguments, keywords):
    monitor = backend.monitor
    frame, direct, optimizer = monitor.users.locate(3)
    first = backend.native(arguments[0]) if arguments else None
    if (
        operations.source(name) == "literal"
        and flatten((first,), [])
        and (
            backend.is_array(first)
            or getattr(first, "fissure_traced", False)
            or type(first) in (list, tuple)
        )
    ):
        # What it was made from stays the input.
        arguments = (first,) + tuple(arguments[1:])
        return operation_at(backend, original, arguments, keywords, frame, optimizer)
    result = _pass_on(backend, original, arguments, keywords)
    value = backend.values(result)
    if (
        frame is None
        or not direct
        or optimizer
        or not backend.is_array(value)
        or value is not result
        or backend.is_symbolic(value)
    ):
        backend.mark(value)
        return result
    called, low, high = backend.source_facts(name, arguments, keywords)
    return monitor.created(backend, called, (), {"low": low, "high": high}, value, frame)


def operation_at(backend, original, arguments, keywords, frame, optimizer):
    """A conversion: recorded, so that slopes pass through it."""
    if frame is None or optimizer or backend.is_symbolic(arguments[0]):
        return _pass_on(backend, original, arguments, keywords)
    arguments = (backend.exchanged(arguments[0], frame),) + tuple(arguments[1:])
    real = []

    def call():
        real.append(_pass_on(backend, original, arguments, keywords))
        return backend.values(real[0])

    backend.monitor.operation(
        backend,
        "convert",
        original,
        backend.values(arguments),
        backend.values(keywords),
        False,
        frame,
        call,
    )
    return real[0]


def _pass_on(backend, original, arguments, keywords):
    backend.inside = True
    try:
        return backend.execute(
            original, [unwatched(value) for value in arguments], unwatched(keywords)
        )
    finally:
        backend.inside = False


def watch_module(backend, module, only=None):
    """Replaces the public functions of a module."""
    for attribute in dir(module):
        original = getattr(module, attribute, None)
        if (
            attribute.startswith("_")
            or (
                operations.unwatched(attribute, backend.library)
                if only is None
                else attribute not in only
            )
            or isinstance(original, type)
            or not callable(original)
            or isinstance(original, Watched)
        ):
            continue
        name = operations.called(attribute, backend.library)
        # A second name for the same thing is only told apart by its module.
        setattr(module, attribute, Watched(backend, original, name, kind_of(name)))


def watch_operators(backend, owner, pattern="__%s__"):
    """Replaces the operators of a class; `pattern` is how the class names them."""
    for base in OPERATORS:
        for prefix, swapped in (("", False), ("r", True)):
            attribute = pattern % (prefix + base)
            original = getattr(owner, attribute, None)
            if original is not None:
                name = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}.get(
                    base, base
                )
                replace_method(backend, owner, attribute, name, swapped)
