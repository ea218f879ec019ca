"""TensorFlow and JAX: each oracle that knows their tensors finds its planted defect and is silent on
the library's own functions. `python foreign.py ROOT LIBRARY`."""

import importlib
import json
import os
import sys
import types
import warnings

ROOT, LIBRARY = sys.argv[1:3]
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
package = types.ModuleType("fissure_worker")
package.__path__ = [os.path.join(ROOT, "python", "fissure_worker")]
sys.modules["fissure_worker"] = package
# Beside it: what the oracle of sweeps asks.
sys.path.append(os.path.join(ROOT, "python"))
warnings.simplefilter("ignore")

import numpy

from fissure_worker import oracles
from fissure_worker.build import resolve
from fissure_worker import functions
from fissure_worker.oracles import equivalents
from fissure_worker.oracles.arguments import Arguments
from fissure_worker.oracles.call import Call

library = importlib.import_module(LIBRARY)
if LIBRARY == "jax":
    numbers = importlib.import_module("jax.numpy")
    tensor, is_traced = numbers.asarray, lambda x: isinstance(x, library.core.Tracer)
    add, exp, sqrt, prefix = numbers.add, numbers.exp, numbers.sqrt, "jax.numpy."
else:
    tensor, is_traced = library.constant, lambda x: not hasattr(x, "numpy")
    add, exp, sqrt, prefix = library.add, library.exp, library.sqrt, "tensorflow."

COUNT = {"calls": 0}
X = numpy.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]], dtype="float32")


def wrong_when_traced(x):
    return x + 1 if is_traced(x) else x


def wrong_when_wide_and_traced(x):
    return x + 1 if is_traced(x) and x.dtype == "float64" else x


def wrong_values(x):
    return x * 2


def another_each_time(x):
    COUNT["calls"] += 1
    return x + COUNT["calls"]


def judged(expected, oracle, function, arrays, path, several=1):
    """`several`: a defect that as many questions of one oracle show is told by the first of them here."""

    def maker():
        return Arguments([tensor(array) for array in arrays], {})

    call = Call(path, function, None, library, maker)
    call.first(call.build())
    # A crowded machine must not make an oracle pass a slow call over.
    call.seconds = 0.0
    failures = [repr(call.error)] if call.error is not None else []
    judgement = oracles.judge(call, [oracle], lambda judgement, report: None)
    line = {
        "name": "%s: %s" % (expected, path),
        "oracle": oracle,
        "reports": [report["detail"] for report in judgement.reports][: 1 if several > 1 else None],
        "failures": failures + [text for _, text in judgement.failures],
    }
    print(json.dumps(line), flush=True)


def wrong_interval(x):
    """Off by a tenth between 40 and 40.5, in types narrower than float64."""
    where = numbers.where if LIBRARY == "jax" else library.where
    off = (x > 40) & (x < 40.5) & (x.dtype != "float64")
    return where(off, exp(x) * 1.1, exp(x))


def nan_in_low_precision(x):
    """The usual naive softplus: Inf minus Inf in float32, a number in float64."""
    big = exp(x * 40.0)
    return big - big


def infinite_in_low_precision(x):
    """Overflows on the way to a number of ordinary size, in types narrower than float64."""
    return sqrt(exp(x * 40.0))


def as_large_as_it_is(x):
    return exp(x * 40.0)


def nan_everywhere(x):
    return (x - x) / (x - x)


def a_number(x):
    return exp(x)


if LIBRARY == "jax":

    @library.custom_jvp
    def wrong_tangent(x):
        return numbers.sin(x)

    @wrong_tangent.defjvp
    def wrong_rule(primals, tangents):
        return numbers.sin(primals[0]), 1.5 * numbers.cos(primals[0]) * tangents[0]

    @library.custom_jvp
    def wrong_curvature(x):
        return numbers.sin(x)

    @wrong_curvature.defjvp
    def constant_rule(primals, tangents):
        slope = library.lax.stop_gradient(numbers.cos(primals[0]))
        return numbers.sin(primals[0]), slope * tangents[0]

    @library.custom_jvp
    def wrong_for_complex(x):
        return numbers.exp(x)

    @wrong_for_complex.defjvp
    def conjugated_rule(primals, tangents):
        return numbers.exp(primals[0]), numbers.conj(numbers.exp(primals[0])) * tangents[0]

    @library.custom_batching.custom_vmap
    def wrong_batch(x):
        return numbers.sin(x)

    @wrong_batch.def_vmap
    def wrong_batching(size, batched, x):
        return 1.1 * numbers.sin(x), True


else:

    @library.custom_gradient
    def wrong_slope(x):
        return library.sin(x), lambda upstream: 1.5 * library.cos(x) * upstream

    @library.custom_gradient
    def wrong_for_complex(x):
        # TensorFlow's convention asks for the conjugate.
        return library.exp(x), lambda upstream: library.exp(x) * upstream

    @library.custom_gradient
    def wrong_bend(x):
        # Right once; the derivative of the derivative is lost.
        slope = library.stop_gradient(library.cos(x))
        return library.sin(x), lambda upstream: slope * upstream

    @library.custom_gradient
    def right_slope(x):
        return library.sin(x), lambda upstream: library.cos(x) * upstream


sys.modules["planted"] = planted = types.ModuleType("planted")
planted.wrong_when_traced = wrong_when_traced
planted.wrong_interval = wrong_interval
judged("reported", "sweep", wrong_interval, [X], "planted.wrong_interval")
if LIBRARY == "jax":
    # Sweeps compute in 64 bits; what comes after them must not.
    assert numbers.asarray([1.0]).dtype == "float32"
judged("silent", "sweep", exp, [X], prefix + "exp")
judged("silent", "sweep", resolve("%snn.softmax" % prefix.replace("numpy.", "")), [X], "softmax")
judged("reported", "nan", nan_in_low_precision, [X], "planted.nan_in_low_precision")
judged("silent", "nan", nan_everywhere, [X], "planted.nan_everywhere")
judged("silent", "nan", nan_in_low_precision, [X * 1e30], "planted.nan_in_low_precision")
judged("silent", "nan", a_number, [X], "planted.a_number")
for name in ("float32", "float16"):
    narrow = X.astype(name) if name == "float32" else (X / 8.0).astype(name)
    judged("reported", "placement", infinite_in_low_precision, [narrow], "planted.infinite")
    judged("silent", "placement", as_large_as_it_is, [narrow * 2], "planted.as_large_as_it_is")
judged("silent", "placement", infinite_in_low_precision, [X * 1e30], "planted.infinite")
judged("silent", "placement", exp, [X * 0.0 + numpy.inf], prefix + "exp")
if LIBRARY == "tensorflow":
    judged("reported", "derivatives", wrong_slope, [X], "planted.wrong_slope", 3)
    judged("reported", "derivatives", wrong_bend, [X], "planted.wrong_bend", 2)
    judged("silent", "derivatives", right_slope, [X], "planted.right_slope")
    judged("reported", "derivatives", wrong_for_complex, [X * 1j], "planted.wrong_for_complex", 3)
    judged("silent", "derivatives", library.exp, [X * 1j], "tensorflow.exp")
    judged("silent", "derivatives", library.gather, [X, numpy.array([1, 0])], "tensorflow.gather")
    for name in ("sin", "tanh", "exp", "cumsum", "maximum", "matmul"):
        arrays = {"maximum": [X, X + 1], "matmul": [X, X.T.copy()]}.get(name, [X])
        function = getattr(library, name)
        judged("silent", "derivatives", function, arrays, "tensorflow." + name)
if LIBRARY == "jax":
    judged("reported", "derivatives", wrong_curvature, [X], "planted.wrong_curvature", 2)
    judged("reported", "derivatives", wrong_batch, [X], "planted.wrong_batch", 2)
    judged("reported", "derivatives", wrong_tangent, [X], "planted.wrong_tangent", 2)
    judged("reported", "derivatives", wrong_for_complex, [X * 1j], "planted.wrong_for_complex", 3)
    judged("silent", "derivatives", numbers.exp, [X * 1j], "jax.numpy.exp")
    judged("silent", "derivatives", numbers.take, [X, numpy.array([1, 0])], "jax.numpy.take")
    for name in ("sin", "tanh", "exp", "cumsum", "maximum"):
        arrays = [X, X + 1] if name == "maximum" else [X]
        judged("silent", "derivatives", getattr(numbers, name), arrays, "jax.numpy." + name)
    judged("silent", "derivatives", library.nn.gelu, [X], "jax.nn.gelu")
judged("reported", "compile", wrong_when_traced, [X], "planted.wrong_when_traced")
if LIBRARY == "jax":
    planted.wrong_when_wide_and_traced = wrong_when_wide_and_traced
    judged(
        "reported", "compile", wrong_when_wide_and_traced, [X], "planted.wrong_when_wide_and_traced"
    )
judged("reported", "reference", wrong_values, [X], prefix + "exp")
judged("reported", "determinism", another_each_time, [X], "planted.another_each_time")
judged("silent", "compile", add, [X, X], prefix + "add")
judged("silent", "compile", another_each_time, [X], "planted.another_each_time")
judged("silent", "compile", exp, [X * 1e6], prefix + "exp")
judged(
    "silent",
    "nan",
    resolve("jax.numpy.log" if LIBRARY == "jax" else "tensorflow.math.log"),
    [-X],
    prefix + "log",
)

# Every function of the table that takes tensors alone.
for path, forms in equivalents.index(functions.table().twins, LIBRARY).items():
    function = resolve(path)
    for form, row in forms:
        if len(form.required) > 2 or set(form.required) & {"dim", "dims", "n", "q", "shape", "A"}:
            continue
        if path.endswith(
            ("clip_by_value", "tile", "roll", "searchsorted", "bincount", "dot", "kron")
        ):
            continue
        whole = "bitwise" in path or "gcd" in path or "lcm" in path or "invert" in path
        array = (X * 4).astype("int32") if whole else X
        array = X > 0 if "logical" in path else array
        array = array.reshape(-1) if path.endswith(("sorted", "outer")) else array
        arrays = [array, array[:, ::-1].T] if path.endswith("matmul") else [array, array[::-1]]
        judged("silent", "reference", function, arrays[: len(form.required)], path)
