"""Oracles on the planted-wrong library: `python defects.py ROOT LIBRARY`, with `wrong` or `right`.

Prints one JSON object per case: what the oracle should say of the wrong one, and what it said.
"""

import importlib
import sys

from harness import fresh_process, judged, prepared, tell

LIBRARY = sys.argv[2]

import torch

from fissure_worker import functions, oracles
from fissure_worker.oracles import device

library = importlib.import_module(LIBRARY)

# A second device is seldom at hand; another dtype stands for it, `to` takes both.
device.devices = lambda library: [torch.float64]
# The planted function as the table would have it.
functions.table().twins.append(
    {
        LIBRARY: "%s.logaddexp2(input, other)" % LIBRARY,
        "numpy": "numpy.logaddexp2(input, other)",
    }
)

X = torch.randn(4, 5) * 3
NEAR_TWO = 2 + torch.randn(3, 4) * 1e-3
CASES = [
    ("contract", "sigmoid", [X], "out of its range"),
    ("contract", "softmax", [X, 1], "does not sum to one"),
    ("contract", "cosine_similarity", [X, X], "out of its range"),
    ("contract", "var", [NEAR_TWO, 1], "out of its range"),
    ("contract", "exp", [X], "not rising"),
    ("contract", "round", [X], "not idempotent: values"),
    ("contract", "flip", [X, [0]], "not undone by a second time: values"),
    ("contract", "maximum", [X, X.flip(0)], "arguments in the other order: values"),
    ("contract", "sort", [X], "not the input in ascending order"),
    ("forms", "cubed", [X], "in-place: values"),
    ("forms", "not_in_place", [X], "in-place: values"),
    ("forms", "out_ignored", [X], "out: values"),
    ("forms", "out_strides", [X], "out with gaps: values"),
    ("forms", "planted_method", [X, X + 1], "method: values"),
    ("forms", "changes_its_input", [X], "changes input"),
    ("forms", "converts", [X], "changes input"),
    (
        "sweep",
        "coarse_in_one_type",
        [X.bfloat16()],
        "far from the result in a wider type for ordinary numbers, bfloat16",
    ),
    ("meta", "meta_shape", [X], "meta: shape"),
    ("meta", "meta_dtype", [X], "meta: dtype"),
    ("meta", "meta_strides", [X], "fake tensors: strides"),
    ("meta", "meta_rejects", [X], "meta: raises ValueError"),
    ("gradient", "backward", [X], "reverse mode by input"),
    ("gradient", "forward_mode", [X], "forward mode by input"),
    ("gradient", "clipped", [X * 4], "reverse mode by input"),
    ("gradient", "second_argument", [X, X + 1], "reverse mode by other"),
    ("uninitialised", "unwritten_end", [X], "fresh memory: values"),
    ("uninitialised", "unwritten_end", [torch.randn(2, 50_000)], "fresh memory: values"),
    ("uninitialised", "unwritten_mask", [X], "fresh memory: values"),
    ("uninitialised", "unwritten_scratch", [X], "fresh memory: values"),
    ("covered-up", "unit_length", [X * 1e20], "covered up"),
    ("covered-up", "unit_length", [X.half() * 3000], "covered up"),
    ("derivatives", "double_backward", [X], "double backward by input"),
    ("derivatives", "batching_rule", [X], "vmap over input"),
    ("derivatives", "nested_transforms", [X], "jvp of grad by input"),
    ("derivatives", "complex_double_backward", [X * 1j], "double backward by input"),
    ("derivatives", "batched_gradient", [X], "vmap of grad over input"),
    ("reference", "logaddexp2", [X, X.flip(0)], "numpy: values"),
    ("device", "other_device", [X], "torch.float64: values"),
    ("jit", "traced", [X], "trace: values"),
    ("compile", "compiled", [X], "compiled"),
    ("memory-growth", "leak", [X], "grows with every call"),
    ("memory-growth", "allocates", [X], "takes much for a small input"),
    ("performance", "slow_half", [X], "float16 slower than float64"),
    ("performance", "cubic", [torch.randn(16)], "time grows faster than the length of input"),
]
#: They end the process; what was announced before is what remains.
ENDING = [
    ("meta", "crash_in_meta", [X], "meta"),
    ("forms", "crash_with_out", [X], "out with gaps"),
    ("guard", "reads_one_byte_behind", [X], "a forbidden page behind the elements"),
    ("guard", "reads_one_byte_before", [X], "a forbidden page before them"),
    ("guard", "reads_far_behind", [X], "a forbidden page behind the elements"),
    ("guard", "writes_behind", [X], "a forbidden page behind the elements"),
    ("guard", "writes_behind_out", [X], "a forbidden page behind out"),
]

for oracle, function, arguments, expected in CASES:
    tell(oracle, function, expected, judged(oracle, LIBRARY, function, arguments))
for oracle, function, arguments, expected in ENDING:
    tell(oracle, function, expected, fresh_process(oracle, LIBRARY, function, arguments))

# What another oracle would say of uninitialised memory is told as such.
call = prepared("%s.unwritten_end" % LIBRARY, [X])
memory = oracles.uninitialised_memory(call, "layout")
told = [] if memory is None else [memory["detail"]]
outcome = {"reports": told, "failures": [], "signal": 0}
tell("layout", "unwritten_end", "fresh memory: values", outcome)
