"""Every function and class of a file, folder or package that can be a target, the most promising
first: those with unstable call sites, those named like a loss or a metric."""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import sys

from ..steer import registry
from . import instrument
from .scratch import Scratch

# Modules of a package that are looked at; parts of a name that say what is none of its library.
_MODULES = 300
_ASIDE = {
    "test",
    "tests",
    "testing",
    "conftest",
    "setup",
    "example",
    "examples",
    "__main__",
    "benchmarks",
    "benchmark",
    "docs",
    "_vendor",
    "vendored",
    "scripts",
}
# Words of a name, not parts of words.
_PROMISING = {
    "loss",
    "losses",
    "criterion",
    "entropy",
    "divergence",
    "kl",
    "likelihood",
    "nll",
    "softmax",
    "sigmoid",
    "logits",
    "log",
    "norm",
    "normalize",
    "distance",
    "similarity",
    "metric",
    "score",
    "prob",
    "density",
    "attention",
    "kernel",
    "variance",
    "std",
    "correlation",
    "mean",
    "reward",
    "advantage",
    "energy",
    "potential",
}
_UNLIKELY = {
    "plot",
    "show",
    "save",
    "load",
    "print",
    "main",
    "parse",
    "download",
    "read",
    "write",
    "log_dir",
    "setup",
    "train",
    "fetch",
    "register",
    "get",
    "set",
    "repr",
    "format",
}
# Methods that are called with arrays, of classes whose objects are made first.
_CALLED = ("forward", "__call__", "call")


class Found:
    """A target: where it is and how the program reaches it."""

    def __init__(self, function, module, path, file, line, score):
        self.function = function  # dotted, inside its module
        self.module = module  # imported by this name, or None
        self.path = path  # else the file it is in
        self.file = file
        self.line = line
        self.score = score
        self.name = (
            "%s:%s" % (module, function)
            if module
            else "%s::%s" % (os.path.basename(path), function)
        )


def of(plan):
    """(targets in the order they are worth scanning, (name, why not) of what cannot be)."""
    registry.load(plan["registry"])
    targets, problems, seen = [], [], set()
    for module, path, problem in _modules(plan):
        found = list(_of_module(module, path, seen)) if module is not None else []
        if problem is not None and not found:
            problems.append((module.__name__ if module is not None else path, problem))
        targets.extend(found)
    targets.sort(key=lambda target: -target.score)
    for target in targets:
        if target.score < 0:
            problems.append(
                (target.name, "it computes nothing with its parameters that could fail")
            )
    return [target for target in targets if target.score >= 0], problems


# Modules -----------------------------------------------------------------------------------------


def _modules(plan):
    """(module, path of a file that has no name of its own, problem)."""
    if plan.get("kind") == "module":
        yield from _package(plan["module"])
    elif plan.get("kind") == "folder":
        yield from _folder(plan["folder"])
    else:
        yield _file(plan["file"])


def _package(name):
    module, problem = imported(name)
    if module is None:
        yield None, name, problem
        return
    yield module, None, None
    count = 0
    for folder in getattr(module, "__path__", []):
        for entry in pkgutil.walk_packages([folder], name + ".", onerror=lambda name: None):
            if set(entry.name.split(".")) & _ASIDE:
                continue
            count += 1
            if count > _MODULES:
                return
            inner, problem = imported(entry.name)
            yield inner, entry.name, problem


def _folder(folder):
    if os.path.isfile(os.path.join(folder, "__init__.py")):
        parent, name = os.path.split(folder.rstrip(os.sep))
        if parent not in sys.path:
            sys.path.insert(0, parent)
        yield from _package(name)
        return
    if folder not in sys.path:
        sys.path.insert(0, folder)
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        stem = os.path.splitext(entry)[0]
        if entry.endswith(".py") and stem not in _ASIDE and not stem.startswith("test_"):
            yield _file(path)
        elif os.path.isfile(os.path.join(path, "__init__.py")) and entry not in _ASIDE:
            yield from _package(entry)


def _file(path):
    name = os.path.splitext(os.path.basename(path))[0]
    held = sys.modules.get(name)
    if held is not None and os.path.realpath(
        getattr(held, "__file__", None) or ""
    ) == os.path.realpath(path):
        return held, path, None
    module, problem = None, None
    sys.argv = [path]
    with _quietly():
        try:
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            if held is None:
                sys.modules[name] = module
            with open(path, "rb") as handle:
                source = handle.read()
            error = instrument.execute(source, path, module.__dict__)
        except (OSError, ValueError, ImportError) as raised:
            error = raised
        if error is not None:
            problem = not_imported(error)
    return module, path, problem


def imported(name):
    """(module, None) or (None, why it cannot be imported)."""
    with _quietly():
        try:
            return importlib.import_module(name), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not isinstance(error, ImportError) and _compiling_again():
                return _imported_anew(name)
            return None, not_imported(error, name)


def _compiling_again():
    """Lets numba compile after all: some packages refuse functions that are not. False where it does already."""
    numba = sys.modules.get("numba")
    if numba is None or not getattr(numba.config, "DISABLE_JIT", 0):
        return False
    numba.config.DISABLE_JIT = 0
    os.environ["NUMBA_DISABLE_JIT"] = "0"
    return True


def _imported_anew(name):
    """As `imported`, of a package whose functions were made without being compiled."""
    package = name.partition(".")[0]
    for each in list(sys.modules):
        if each == package or each.startswith(package + "."):
            del sys.modules[each]
    try:
        return importlib.import_module(name), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, not_imported(error, name)


def not_imported(error, module=None):
    """Why there is nothing to scan; a target that is no file was taken for the name of this module."""
    missing = getattr(error, "name", None) if isinstance(error, ImportError) else None
    if module and missing and (module + ".").startswith(missing + "."):
        text = "there is no such file, and no module `%s`" % missing
        package, _, name = module.rpartition(".")
        if package and missing == module:
            text += "; a function of a module is named `%s:%s`" % (package, name)
        return text
    return "importing it raises %s: %s" % (type(error).__name__, str(error)[:300])


@contextlib.contextmanager
def _quietly():
    sink = io.StringIO()
    with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink), Scratch().active():
        yield


# Functions ---------------------------------------------------------------------------------------


def _of_module(module, path, seen):
    scores = _Scores(module)
    name = module.__name__ if path is None or not path.endswith(".py") else None
    for key, value in sorted(vars(module).items(), key=lambda pair: str(pair[0])):
        if getattr(value, "__module__", None) != module.__name__ or key == "main":
            continue
        plain = _plain(value)
        if inspect.isclass(value):
            if issubclass(value, BaseException):
                continue
            found = list(_of_class(key, value, scores))
        elif inspect.isfunction(plain):
            found = [(key, plain)]
        else:
            continue
        for function, code in found:
            mark = (getattr(code, "__code__", code), function)
            if mark in seen:
                continue
            seen.add(mark)
            line = getattr(getattr(code, "__code__", None), "co_firstlineno", None)
            yield Found(
                function,
                name,
                None if name else path,
                getattr(module, "__file__", None),
                line,
                scores.of(function, code),
            )


def _plain(value):
    with contextlib.suppress(ValueError, AttributeError):
        return inspect.unwrap(value)
    return value


def _of_class(name, owner, scores):
    for method in _CALLED:
        held = owner.__dict__.get(method)
        if inspect.isfunction(_plain(held)):
            yield "%s.%s" % (name, method), _plain(held)
            break
    else:
        method = None
    for key, held in owner.__dict__.items():
        if isinstance(held, (staticmethod, classmethod)):
            held = held.__func__
        held = _plain(held)
        if (
            key != method
            and not key.startswith("_")
            and inspect.isfunction(held)
            and len(inspect.signature(held).parameters) > 1
            and scores.sites(held) > 0
        ):
            yield "%s.%s" % (name, key), held


class _Scores:
    """How promising the functions of a module are, from its source."""

    def __init__(self, module):
        self._sites = {}
        try:
            with open(module.__file__, "rb") as handle:
                tree = ast.parse(handle.read())
        except (AttributeError, TypeError, OSError, SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno] + [item.lineno for item in node.decorator_list])
                self._sites[first] = self._sites[node.lineno] = sum(map(_unstable, ast.walk(node)))

    def sites(self, function):
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
        return self._sites.get(line, 0)

    def of(self, function, code):
        words = set(function.lower().replace(".", "_").split("_"))
        score = min(20.0, self.sites(code))
        score += 5.0 * bool(words & _PROMISING) - 6.0 * bool(words & _UNLIKELY)
        last = function.rpartition(".")[2]
        if last.startswith("_") and not last.startswith("__"):
            score -= 2.0
        try:
            if not inspect.signature(code).parameters and score <= 0.0:
                return -1.0
        except (TypeError, ValueError):
            return -1.0
        return max(score, 0.0)


def _unstable(node):
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        return bool(name) and registry.known(name) and not registry.arithmetic(name)
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Pow))
