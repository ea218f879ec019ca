"""pytest: `@pytest.mark.fissure` fuzzes what a test names, and fails it with the smallest call.

    @pytest.mark.fissure(target=losses.focal_loss, reference=slow_focal_loss, max_inputs=500)
    def test_focal_loss():
        \"\"\"The body runs first, then the target is fuzzed.\"\"\"

    def test_addition(fissure_fuzz):
        result = fissure_fuzz(mypackage.add, max_inputs=200)
        assert not result

The library runs in processes that Fissure watches: a crash in native code fails one test, not the
session. Runs are kept below `.fissure/`, one folder for each test, so that workers of pytest-xdist
do not meet. What an earlier session found there is tried first: a failure that is still there fails
the test at once.
"""

import hashlib
import inspect
import os
import shutil

import pytest

import fissure

# Inputs by the name of a profile; a mark that says a number is obeyed.
PROFILES = {"smoke": 100, "default": 500, "ci": 2000, "nightly": 100000}


def pytest_addoption(parser):
    group = parser.getgroup("fissure")
    group.addoption(
        "--fissure-profile",
        choices=sorted(PROFILES),
        default=None,
        help="how many inputs a fuzzed test gets where its mark says nothing: "
        + ", ".join("%s %d" % item for item in sorted(PROFILES.items(), key=lambda it: it[1])),
    )
    group.addoption(
        "--fissure-seed", default=None, help="seed of all inputs (the same seed, the same inputs)"
    )
    group.addoption(
        "--fissure-folder", default=None, help="where runs are kept [default: ROOT/.fissure]"
    )
    parser.addini("fissure_profile", "profile of fuzzed tests", default="default")
    parser.addini("fissure_seed", "seed of fuzzed tests", default="0")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "fissure(target, max_inputs, reference, seed, max_time, timeout, oracles, options): "
        "fuzz a function; the test fails with the smallest call that fails",
    )


class FissureFailure(Exception):
    """What a fuzzed function failed with, as text for the terminal."""


def _settings(config):
    profile = config.getoption("--fissure-profile") or config.getini("fissure_profile")
    if profile not in PROFILES:
        raise pytest.UsageError(
            "fissure_profile is `%s`; there are %s" % (profile, ", ".join(sorted(PROFILES)))
        )
    seed = config.getoption("--fissure-seed") or config.getini("fissure_seed")
    return {"max_inputs": PROFILES[profile], "seed": seed}


def _folder(item, target):
    """One folder for each test and target, the same in every session."""
    config = item.config
    base = config.getoption("--fissure-folder") or os.path.join(str(config.rootpath), ".fissure")
    name = item.nodeid + " " + str(target)
    short = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in item.name)
    return os.path.join(base, "%s-%s" % (short, hashlib.sha256(name.encode()).hexdigest()[:8]))


def _fuzz(item, function, **settings):
    chosen = dict(_settings(item.config))
    chosen.update((name, value) for name, value in settings.items() if value is not None)
    name = function if isinstance(function, str) else getattr(function, "__qualname__", function)
    folder = _folder(item, name)
    known = fissure.still_failing(folder, python=chosen.get("python"))
    if known:
        return known
    shutil.rmtree(folder, ignore_errors=True)
    _database(os.path.dirname(folder))
    return fissure.fuzz(function, output=folder, **chosen)


def _database(base):
    """The folder of all runs; what is in it is of this machine, and nothing for a repository."""
    os.makedirs(base, exist_ok=True)
    ignore = os.path.join(base, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="utf-8") as file:
            file.write("*\n")


@pytest.fixture
def fissure_fuzz(request):
    """`fissure.fuzz` with the profile, the seed and the folder of this test."""

    def fuzz(function, **settings):
        return _fuzz(request.node, function, **settings)

    return fuzz


class FuzzedFunction(pytest.Item):
    """A function of a test file that is no test itself and has the mark: it is what is fuzzed."""

    def runtest(self):
        for mark in self.marks:
            settings = dict(mark.kwargs)
            settings.pop("target", None)
            result = _fuzz(self, self.function, **settings)
            if result:
                raise FissureFailure(_text(result))

    def reportinfo(self):
        return self.path, self.function.__code__.co_firstlineno - 1, self.name


def pytest_pycollect_makeitem(collector, name, obj):
    if collector.funcnamefilter(name) or not inspect.isfunction(obj):
        return None
    # A function that is imported was not marked for this file.
    if not isinstance(collector, pytest.Module) or obj.__module__ != collector.obj.__name__:
        return None
    marks = [mark for mark in getattr(obj, "pytestmark", []) if mark.name == "fissure"]
    if not marks:
        return None
    item = FuzzedFunction.from_parent(collector, name=name)
    item.function, item.marks = obj, marks
    return item


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    mark = pyfuncitem.get_closest_marker("fissure")
    if mark is None or outcome.excinfo is not None:
        return
    settings = dict(mark.kwargs)
    targets = list(mark.args)
    if "target" in settings:
        targets.append(settings.pop("target"))
    try:
        if not targets:
            raise fissure.FissureError("the mark names no function: @pytest.mark.fissure(target=f)")
        for target in targets:
            result = _fuzz(pyfuncitem, target, **settings)
            if result:
                raise FissureFailure(_text(result))
    except Exception as error:
        _force(outcome, error)


def _force(outcome, error):
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(error)
    else:
        outcome._excinfo = (type(error), error, error.__traceback__)


def _text(result):
    lines = []
    for finding in result:
        lines += [str(finding), "  replay: " + finding.replay, ""]
    return "\n".join(lines + [result._summary()])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, (FissureFailure, fissure.FissureError)):
        report.longrepr = "fissure: " + str(error)
