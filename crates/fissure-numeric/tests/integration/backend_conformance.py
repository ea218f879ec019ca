"""What every backend has to answer, whichever library it is for.

    python backend_conformance.py RUNTIME_FOLDER LIBRARY

Prints one line per sentence and ends with 1 if one of them is wrong.
"""

import importlib
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, sys.argv[1])
LIBRARY = sys.argv[2]
importlib.import_module(LIBRARY)

import numpy as np

from fissure_scan.backends import library
from fissure_scan.backends.base import Backend
from fissure_scan.watch.monitor import Monitor, Policy
from fissure_scan.watch.trace import InputInfo, Node, Site
from fissure_scan.watch.users import UserFiles

BACKEND = library.of(LIBRARY)
VALUES = np.array([[0.5, -2.0, 3.0], [1.0, 0.0, 4.0]])
FLOATS = ("float32", "float64") if LIBRARY != "jax" else ("float32",)
CASES = []


def case(sentence):
    def register(function):
        CASES.append((sentence, function))
        return function

    return register


def made(values=VALUES, dtype="float32"):
    return BACKEND.from_numpy(np.asarray(values), dtype)


def nodes(name, function, arguments, keywords=None):
    return Node(
        1,
        name,
        function,
        tuple(arguments),
        keywords or {},
        tuple(arguments),
        [value for value in arguments if BACKEND.is_array(value)],
        Site("program.py", 1, name, "main"),
        LIBRARY,
    )


@case("it is a backend and names its library")
def _():
    assert isinstance(BACKEND, Backend) and BACKEND.library == LIBRARY


@case("values go in and come out with their type")
def _():
    for dtype in FLOATS:
        array = made(dtype=dtype)
        assert BACKEND.is_array(array) and BACKEND.is_float(array)
        assert BACKEND.dtype_name(array) == dtype
        numbers = BACKEND.numbers(array)
        assert type(numbers) is np.ndarray and np.array_equal(numbers, VALUES)
        assert BACKEND.count(array) == 6


@case("narrow floats come out in a type that NumPy computes with")
def _():
    if LIBRARY == "numpy":
        return
    array = made(dtype="bfloat16")
    assert BACKEND.dtype_name(array) == "bfloat16" and BACKEND.is_float(array)
    assert BACKEND.numbers(array).dtype.kind == "f"


@case("integers are arrays but no floats, and have limits")
def _():
    array = made([1, 2, 300], "int32")
    assert BACKEND.is_array(array) and not BACKEND.is_float(array)
    assert BACKEND.integer_limits(array) == (-(2**31), 2**31 - 1)
    assert BACKEND.integer_limits(made()) is None
    assert BACKEND.finite(array)


@case("plain numbers, texts and None are no arrays")
def _():
    for value in (1.5, 3, "x", None, [1.0]):
        assert not BACKEND.is_array(value) and not BACKEND.is_float(value)


@case("NaN and Inf are seen and told apart")
def _():
    good, bad = made(), made([1.0, np.nan, np.inf, -np.inf])
    assert BACKEND.finite(good) and not BACKEND.has_nan(good)
    assert not BACKEND.finite(bad) and BACKEND.has_nan(bad)
    assert not BACKEND.has_nan(made([1.0, np.inf]))
    assert BACKEND.describe_bad(bad) == "NaN/inf/-inf in 3 of 4 elements"
    # Finite values whose sum is not.
    assert BACKEND.finite(made([3e38, 3e38, 3e38]))


@case("statistics and extremes are those of the values")
def _():
    assert BACKEND.statistics(made()) == (-2.0, 4.0, False, 6)
    assert BACKEND.statistics(made([1.0, 2.0]))[2] is True
    assert BACKEND.statistics(made(np.zeros((0, 3))))[3] == 0
    assert BACKEND.extremes(made()) == (-2.0, 4.0)


@case("epsilon and largest number follow the type")
def _():
    for dtype in FLOATS:
        assert BACKEND.epsilon(made(dtype=dtype)) == np.finfo(dtype).eps
        assert np.isclose(BACKEND.largest(made(dtype=dtype)), np.finfo(dtype).max)


@case("a copy and a snapshot do not follow later changes")
def _():
    array = made()
    copied, held = BACKEND.copy(array), BACKEND.snapshot((array, [array, "text"], 3))
    BACKEND.assign(array, np.zeros((2, 3)))
    for value in (copied, held[0], held[1][0]):
        assert np.array_equal(BACKEND.numbers(value), VALUES)
    assert held[1][1] == "text" and held[2] == 3


@case(
    "an input is replaced in its own type, and values of another shape are made to fit unless sizes vary"
)
def _():
    array = made()
    chosen = np.full((2, 3), 7.0)
    monitor = Monitor(UserFiles("/nowhere", []), Policy(overrides={"source:0": chosen}), Settings())
    monitor.trace.inputs["source:0"] = InputInfo(
        "source:0", "source", "x", "rand", "program.py", 1, array, None, None, ""
    )
    fresh = BACKEND.replace(array, chosen, monitor, "source:0")
    assert BACKEND.dtype_name(fresh) == "float32"
    assert np.array_equal(BACKEND.numbers(fresh), chosen)
    assert np.array_equal(BACKEND.numbers(array), VALUES)
    other = BACKEND.replace(array, np.full(4, 9.0), monitor, "source:0")
    assert np.array_equal(BACKEND.numbers(other), np.full((2, 3), 9.0))
    monitor.settings.resize = ("source:0", 0)
    assert BACKEND.replace(array, np.zeros(4), monitor, "source:0") is None


@case("an operation can be computed in wider floats")
def _():
    module = {"numpy": "numpy", "torch": "torch", "jax": "jax.numpy", "tensorflow": "tensorflow"}[
        LIBRARY
    ]
    function = importlib.import_module(module).exp
    # The square of the largest float32 does not fit, its exponential's logarithm does.
    wide = BACKEND.call_wider(nodes("exp", function, [made([100.0])]))
    assert np.isclose(float(np.asarray(BACKEND.numbers(wide)).ravel()[0]), np.exp(100.0))


@case("the derivative of one operation goes to each operand, also to one that it has twice")
def _():
    if LIBRARY not in ("jax", "tensorflow"):
        return  # autograd and differences, see steer/tape.py
    module = importlib.import_module({"jax": "jax.numpy"}.get(LIBRARY, LIBRARY))
    array, cotangent = made([1.0, -2.0, 3.0]), np.ones(3, dtype=np.float32)

    def pulled(function, *operands):
        """The slope of the first operand, over all places where the operation has it."""
        pairs = BACKEND.vjp(nodes(function.__name__, function, operands), [cotangent])
        assert any(to is operands[0] for to, _ in pairs)
        return sum(slope for to, slope in pairs if to is operands[0])

    assert np.allclose(pulled(module.multiply, array, array), [2.0, -4.0, 6.0])
    # A NumPy array is no operand of which the library keeps a tape.
    plain = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    assert np.allclose(pulled(module.multiply, array, plain), plain)
    arccos = module.arccos if LIBRARY == "jax" else module.acos
    slope = pulled(arccos, made([1.0, 0.0, 0.5]))
    assert not np.isfinite(slope[0]) and np.isfinite(slope[1:]).all(), slope


@case("a constant that rounding takes away is noticed, one that stays is not")
def _():
    one, ten = made([1.0, 2.0]), made([10.0, 20.0])
    assert BACKEND.any_equal_nonzero_or_lost(one, one, 1e-12)
    assert not BACKEND.any_equal_nonzero_or_lost(ten, one, 1.0)


class Settings:
    regions, resize, infos = False, None, {}
    reshaped, leaf_sources = set(), set()


def main():
    wrong = 0
    for sentence, function in CASES:
        try:
            function()
            print("%s: ok" % sentence)
        except Exception as error:
            wrong += 1
            print("%s: %s: %s" % (sentence, type(error).__name__, error))
    sys.exit(1 if wrong else 0)


main()
