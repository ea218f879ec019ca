"""Each oracle on its planted defect and on the correct twin."""

import numpy
import torch
from harness import judged, tell

import right
import wrong

CASES = [
    ("kernel-path", "last_element", [torch.randn(7)]),
    ("kernel-path", "over_32", [torch.randn(50)]),
    ("kernel-path", "over_32", [torch.randn(2, 3)]),
    ("layout", "odd_stride", [torch.randn(3, 4)]),
    ("layout", "negative_stride", [numpy.array([[1.0, -2.0], [3.0, 4.0]])]),
    ("reference64", "half", [torch.randn(5).half()]),
    ("nan", "nan_for_finite", [torch.tensor([1.0, 100.0, 2.0])]),
    ("placement", "nan_for_finite", [torch.tensor([1.0, 100.0, 2.0])]),
    ("determinism", "nondeterministic", [torch.randn(5)]),
    ("determinism", "batch_dependent", [torch.rand(4, 3)]),
    # Nothing of these inputs is near the interval that is wrong.
    ("sweep", "wrong_interval", [torch.zeros(2)]),
    ("sweep", "wrong_interval", [torch.zeros(2).bfloat16(), 0.1]),
]

for oracle, function, arguments in CASES:
    for library in (wrong, right):
        name = "%s.%s" % (library.__name__, function)
        tell(name, oracle, judged(oracle, getattr(library, function), arguments, path=name))
