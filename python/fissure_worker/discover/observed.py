"""Calls of a callable that the user's own tests and scripts make (`--observe`).

A file is run as it stands, with every call in it going through the observer; then its test functions
are called, as pytest would: those without parameters, and those whose parameters a mark lists.
"""

import ast
import contextlib
import importlib
import inspect
import io
import itertools
import os
import sys
import types

#: Names of files and folders, separated like those of `PATH`.
VARIABLE = "FISSURE_OBSERVE"
#: Files of a folder that are run.
FILES = 200
#: Sets of parameters of one test.
SETS = 6


def files():
    """The files that the user named, and the tests in the folders."""
    found = []
    for place in os.environ.get(VARIABLE, "").split(os.pathsep):
        if os.path.isfile(place):
            found.append(place)
        elif place:
            for folder, inner, names in os.walk(place):
                inner[:] = sorted(one for one in inner if not one.startswith((".", "__")))
                found += [os.path.join(folder, one) for one in sorted(names) if is_test(one)]
    return found[:FILES]


def is_test(name):
    stem, ending = os.path.splitext(name)
    return ending == ".py" and (stem.startswith("test") or stem.endswith("_test"))


def run(observer, rewriter, call_name):
    """Runs all of them; the observer keeps what it sees. A file that fails says what it said before."""
    stand_in()
    for file in files():
        names = scope(file, observer, call_name)
        try:
            with open(file, encoding="utf-8") as stream:
                tree = rewriter.visit(ast.parse(stream.read(), file))
            ast.fix_missing_locations(tree)
        except (OSError, SyntaxError, ValueError):
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            for statement in tree.body:
                part = ast.parse("")
                part.body = [statement]
                attempt(exec, compile(part, file, "exec"), names)
            for test in list(tests(names)):
                attempt(test)
        if observer.is_full():
            return


def stand_in():
    """What tests use of pytest, where the target's interpreter does not have it."""
    try:
        importlib.import_module("pytest")
    except ImportError:
        module = types.ModuleType("pytest")
        module.mark = Marks()
        module.fixture = lambda *given, **named: given[0] if given else (lambda function: function)
        module.raises = lambda *given, **named: contextlib.suppress(Exception)
        module.warns = module.raises
        module.param = lambda *values, **named: Values(values)
        module.approx = lambda value, **named: value
        module.importorskip = importlib.import_module
        sys.modules["pytest"] = module


class Values:
    def __init__(self, values):
        self.values = values


class Mark:
    def __init__(self, name, args):
        self.name = name
        self.args = args

    def __call__(self, function, *rest):
        if rest or not callable(function):
            return Mark(self.name, (function,) + rest)
        function.pytestmark = getattr(function, "pytestmark", []) + [self]
        return function


class Marks:
    def __getattr__(self, name):
        return Mark(name, ())


def scope(file, observer, call_name):
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        # Helpers that lie beside the tests.
        sys.path.insert(0, folder)
    stem = os.path.splitext(os.path.basename(file))[0]
    return {"__name__": stem, "__file__": file, call_name: observer.call}


def attempt(function, *arguments):
    try:
        function(*arguments)
    except (Exception, SystemExit):
        # A test that fails or is skipped has made its calls all the same.
        return


def tests(names):
    """Test functions and methods, ready to be called without arguments."""
    for name, value in list(names.items()):
        if inspect.isfunction(value) and name.startswith("test"):
            for ready in with_parameters(value, value):
                yield ready
        elif isinstance(value, type) and (name.startswith("Test") or is_case(value)):
            for method in sorted(one for one in dir(value) if one.startswith("test")):
                function = getattr(value, method, None)
                if inspect.isfunction(function):
                    for ready in of_class(value, method, function):
                        yield ready


def is_case(found):
    return any(base.__name__ == "TestCase" for base in inspect.getmro(found)[1:])


def of_class(owner, name, function):
    def prepared(**given):
        made = owner(name) if is_case(owner) else owner()
        for before in ("setUp", "setup_method"):
            ready = getattr(made, before, None)
            if ready is not None:
                attempt(ready)
        getattr(made, name)(**given)

    return with_parameters(function, prepared, own=1)


def with_parameters(function, call, own=0):
    """One call for each set of parameters that marks list; none where a fixture is wanted."""
    wanted = list(inspect.signature(function).parameters.values())[own:]
    wanted = [one.name for one in wanted if one.default is one.empty and one.kind.value < 4]
    sets = [listed(mark) for mark in getattr(function, "pytestmark", ()) or ()]
    sets = [one for one in sets if one]
    for chosen in itertools.islice(itertools.product(*sets), SETS):
        given = {name: value for part in chosen for name, value in part.items()}
        if all(name in given for name in wanted):
            yield lambda given=given: call(**given)


def listed(mark):
    """The sets of values of a `parametrize` mark."""
    if getattr(mark, "name", None) != "parametrize" or len(mark.args) < 2:
        return []
    names = mark.args[0]
    if isinstance(names, str):
        names = [one.strip() for one in names.split(",")]
    found = []
    for values in list(mark.args[1])[:SETS]:
        values = getattr(values, "values", values)
        values = values if len(names) > 1 or isinstance(values, tuple) else [values]
        if len(values) == len(names):
            found.append(dict(zip(names, values)))
    return found
