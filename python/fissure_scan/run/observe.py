"""Real calls of a target function, seen while the file's own code runs.

The tests that `--observe` names come first, then the file as a program (`__main__` block and module
level), its test functions without parameters, the examples of the docstrings. A profile function sees the target being entered and
keeps a copy of its arguments. Only calls whose arguments are plain data are taken: a finding has to
be written down as a script.
"""

import ast
import builtins
import contextlib
import doctest
import inspect
import io
import os
import runpy
import sys
import types

from .arguments import Arguments, is_array
from ..watch.monitor import StopRun
from .scratch import Scratch

# Calls that are looked at before giving up on plain arguments.
_PATIENCE = 200


class _Enough(BaseException):
    """A usable call was seen."""


class _EnoughTests(KeyboardInterrupt):
    """The same in a test runner, which ends only by this."""


class _Watcher:
    """The profile function: keeps the arguments of the target and of its class's constructor."""

    def __init__(self, function, owner):
        self.code = code_of(function)
        self.constructor = code_of(owner.__init__) if owner is not None else None
        self.bound = owner is not None
        self.objects = {}  # id of an object -> arguments it was made with
        self.held = []
        self.call = None
        self.made_with = None
        self.seen = 0
        self.enough = _Enough

    def __call__(self, frame, event, argument):
        if event != "call":
            return
        if self.constructor is not None and _same(frame.f_code, self.constructor):
            arguments = _arguments(frame, True)
            holder = frame.f_locals.get(frame.f_code.co_varnames[0])
            self.objects[id(holder)] = arguments
            self.held.append(holder)
        elif _same(frame.f_code, self.code):
            self.seen += 1
            arguments = _arguments(frame, self.bound)
            holder = frame.f_locals.get(frame.f_code.co_varnames[0]) if self.bound else None
            made_with = self.objects.get(id(holder)) if self.bound else None
            if arguments is not None and (made_with is not None or self.constructor is None):
                self.call, self.made_with = arguments, made_with
                raise self.enough()
            if self.seen > _PATIENCE:
                raise self.enough()


def code_of(function):
    """The code of the plain function behind decorators; None for a built-in."""
    with contextlib.suppress(ValueError):
        function = inspect.unwrap(function)
    return getattr(getattr(function, "__func__", function), "__code__", None)


def _same(code, other):
    return (
        code.co_name == other.co_name
        and code.co_firstlineno == other.co_firstlineno
        and code.co_filename == other.co_filename
    )


def _arguments(frame, bound):
    """The frame's arguments as copies of plain data; None when there is something else."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[:count])[1 if bound else 0 :]
    only = getattr(code, "co_posonlyargcount", 0)
    position = count
    try:
        values = dict((name, _copy(frame.f_locals[name])) for name in names)
        rest = ()
        if code.co_flags & inspect.CO_VARARGS:
            rest = _copy(tuple(frame.f_locals[code.co_varnames[position]]))
            position += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            values.update(_copy(dict(frame.f_locals[code.co_varnames[position]])))
    except (KeyError, TypeError):
        return None
    positional = list(code.co_varnames[:only])[1 if bound else 0 :]
    if rest:
        positional = list(code.co_varnames[: code.co_argcount])[1 if bound else 0 :]
    return Arguments(values, {}, positional, rest, observed=_place(frame.f_back))


def _place(frame):
    """The line of the caller in a file of the user; libraries may stand between."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == "<example>":
            return "of the docstring"
        if "site-packages" not in name and "dist-packages" not in name:
            return "at line %d" % frame.f_lineno
        frame = frame.f_back
    return "of the program"


def _copy(value):
    if is_array(value):
        if hasattr(value, "detach"):
            return value.detach().clone()
        # TensorFlow's arrays cannot be changed.
        return value.copy() if hasattr(value, "copy") else value
    if value is None or type(value) in (int, float, bool, str):
        return value
    if type(value) in (list, tuple):
        return type(value)(_copy(item) for item in value)
    if type(value) is dict:
        return dict((_copy(key), _copy(item)) for key, item in value.items())
    if type(value).__module__ == "torch" and type(value).__name__ in ("dtype",):
        return value
    raise TypeError("no plain data")


def observe(program, function, owner, seconds=5.0):
    """Arguments of a real call (with those of the object's constructor), or None."""
    watcher = _Watcher(function, owner)
    if watcher.code is None:
        return None
    sys.argv = [program.file or program.module or ""]
    for stage in (_project_tests, _as_program, _tests, _examples):
        with contextlib.suppress(Exception):
            stage(program, function, owner, watcher, seconds)
        if watcher.call is not None:
            watcher.call.constructor = watcher.made_with
            return watcher.call
    return None


@contextlib.contextmanager
def _watching(watcher, program, seconds):
    from .surroundings import alarm

    def no_input(prompt=""):
        raise EOFError("no input during observation")

    kept = builtins.input
    builtins.input = no_input
    sink = io.StringIO()
    scratch = Scratch()
    program.reseed()
    program.forget_modules()
    try:
        with alarm(seconds, None), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(
            sink
        ), scratch.active():
            sys.setprofile(watcher)
            try:
                yield
            except (_Enough, _EnoughTests, StopRun, SystemExit):
                pass
            finally:
                sys.setprofile(None)
    finally:
        builtins.input = kept


def _mentions(program, name):
    """Does the file call the target outside of its definition? Saves running it for nothing."""
    text = program.text()
    return text is None or text.count(name) > 1


def _as_program(program, function, owner, watcher, seconds):
    name = (owner or function).__name__
    if not _mentions(program, name):
        return
    with _watching(watcher, program, seconds):
        if program.module:
            runpy.run_module(program.module, run_name="__main__", alter_sys=True)
        else:
            program.execute_as_main()


def _tests(program, function, owner, watcher, seconds):
    name = (owner or function).__name__
    for value in _test_functions(program.namespace()):
        if watcher.call is None and name in value.__code__.co_names:
            with contextlib.suppress(Exception), _watching(watcher, program, seconds):
                value()


def _test_functions(space):
    """The test functions of a namespace that need no arguments."""
    for key, value in list(space.items()):
        if key.lower().startswith("test") and isinstance(value, types.FunctionType):
            parameters = inspect.signature(value).parameters.values()
            if all(parameter.default is not inspect.Parameter.empty for parameter in parameters):
                yield value


def _project_tests(program, function, owner, watcher, seconds):
    """The tests of the project (`--observe`), those that name the target first."""
    place = program.plan.get("observe")
    if place is None:
        return
    name = (owner or function).__name__
    for file in _naming(place, name):
        if watcher.call is not None:
            break
        watcher.enough = _EnoughTests
        if os.path.dirname(file) not in sys.path:
            sys.path.insert(0, os.path.dirname(file))
        with contextlib.suppress(Exception), _watching(watcher, program, seconds):
            _run_tests(file)
    watcher.enough = _Enough


def _naming(place, name):
    """The test files below a place that mention the target, the shortest first."""
    files = [place] if os.path.isfile(place) else []
    for folder, _, names in os.walk(place):
        files += [
            os.path.join(folder, found)
            for found in names
            if found.endswith(".py")
            and found.startswith(("test", "check", "example"))
            or found.endswith("_test.py")
        ]
    found = []
    for file in sorted(files):
        with open(file, encoding="utf-8", errors="replace") as handle:
            text = handle.read()
        if name in text:
            found.append((len(text), file))
    return [file for _, file in sorted(found)]


def _run_tests(file):
    """One test file: by pytest where there is one, which knows fixtures and parameters."""
    try:
        import pytest
    except ImportError:
        pytest = None
    if pytest is not None:
        pytest.main(["-q", "-x", "-p", "no:cacheprovider", file])
        return
    space = runpy.run_path(file, run_name="tests")
    for value in _test_functions(space):
        with contextlib.suppress(Exception):
            value()
    import unittest

    for value in list(space.values()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            tests = unittest.defaultTestLoader.loadTestsFromTestCase(value)
            tests.run(unittest.TestResult())


def _examples(program, function, owner, watcher, seconds):
    space = program.namespace()
    for holder in (function, owner):
        text = getattr(holder, "__doc__", None) or ""
        try:
            examples = doctest.DocTestParser().get_examples(text)
        except ValueError:
            continue
        with contextlib.suppress(Exception), _watching(watcher, program, seconds):
            for example in examples:
                # An example that fails (a missing import) does not stop the next one.
                with contextlib.suppress(Exception):
                    exec(compile(ast.parse(example.source), "<example>", "exec"), space)
