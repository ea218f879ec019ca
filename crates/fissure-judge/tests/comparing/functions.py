"""Oracles ask the table of functions: each silence that the table causes has a twin that is told.

Functions whose names contain words such as `lu` and `qr` were once never looked at. Made wrong, they are
reported; as they are, they are not.
"""

import torch
from harness import judged, tell

from fissure_worker import functions

F = torch.nn.functional
X = torch.randn(3, 4) * 2
POSITIVE = torch.rand(3, 4) + 0.5


class Twice(torch.autograd.Function):
    """The identity with a wrong derivative."""

    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


def with_wrong_gradient(function):
    def wrong(*arguments, **keywords):
        result = function(*arguments, **keywords)
        if isinstance(result, tuple):
            return (Twice.apply(result[0]),) + tuple(result[1:])
        return Twice.apply(result)

    return wrong


GRADIENTS = [
    ("torch.relu", torch.relu, [X]),
    ("torch.nn.functional.relu", F.relu, [X]),
    ("torch.nn.functional.gelu", F.gelu, [X]),
    ("torch.nn.functional.elu", F.elu, [X]),
    ("torch.nn.functional.silu", F.silu, [X]),
    ("torch.nn.functional.glu", F.glu, [X]),
    ("torch.nn.functional.softplus", F.softplus, [X]),
    ("torch.sqrt", torch.sqrt, [POSITIVE]),
    ("torch.rsqrt", torch.rsqrt, [POSITIVE]),
    ("torch.kthvalue", torch.kthvalue, [X, 2]),
    ("torch.column_stack", torch.column_stack, [(X, X + 1)]),
    ("torch.abs", torch.abs, [X]),
    ("torch.amax", torch.amax, [X, 1]),
    ("torch.log", torch.log, [POSITIVE]),
    ("torch.linalg.svdvals", torch.linalg.svdvals, [X]),
    (
        "torch.nn.functional.max_unpool1d",
        F.max_unpool1d,
        [X[None, :1], torch.tensor([[[1, 3, 4, 7]]]), 2],
    ),
]
for path, function, arguments in GRADIENTS:
    tell("silent: " + path, "gradient", judged("gradient", function, arguments, path=path))
    outcome = judged("gradient", with_wrong_gradient(function), arguments, path=path)
    outcome = outcome[0][:1], outcome[1]
    tell("reported: " + path, "gradient", outcome)

#: A function that draws its direction from one triangle stays silent, whatever its gradient.
SYMMETRIC = X @ X.T + torch.eye(3)
wrong = with_wrong_gradient(torch.linalg.cholesky)
tell(
    "silent: restricted",
    "gradient",
    judged("gradient", wrong, [SYMMETRIC], path="torch.linalg.cholesky"),
)
tell(
    "reported: not restricted",
    "gradient",
    judged("gradient", wrong, [SYMMETRIC], path="torch.linalg.det"),
)

# Which of several writes to one place counts is open; where no place is named twice it is not.
ROWS = torch.randn(2, 4)
wrong = with_wrong_gradient(torch.index_copy)
for name, index in (("silent", [1, 1]), ("reported", [0, 2])):
    arguments = [X, 0, torch.tensor(index), ROWS]
    outcome = judged("gradient", wrong, arguments, path="torch.index_copy")
    tell("%s: written %s" % (name, index), "gradient", (outcome[0][:1], outcome[1]))

# The table is asked by path, by form, and by what an object is.
QUESTIONS = [
    ("torch.Tensor.sort", None, "sort"),
    ("mine.renamed", torch.sort, "sort"),
    ("torch.nn.ReLU", None, "relu"),
    ("torch.ops.aten.linalg_qr.default", None, "qr"),
    ("mine.softmax", None, "softmax"),
    ("mine.renamed", lambda x: x, None),
    ("torch.mine.softmax", None, None),
]
for path, target, expected in QUESTIONS:
    found = functions.find(path, target)
    wrong = [] if (found.name if found else None) == expected else ["%s is %s" % (path, found)]
    tell("silent: " + path, "table", (wrong, []))
