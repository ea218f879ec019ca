"""Every formula with a stable form on a value where it goes wrong and on one where it does not. Run
by oracles.rs with the runtime's folder as the argument; prints one line per formula and ends with 1
if one of them is wrong."""

import atexit
import os
import shutil
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import torch

from fissure_scan.judge import patterns
from fissure_scan.judge.formulas import RULES
from fissure_scan.watch.monitor import Policy
from fissure_scan.run.program import Program

FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

# (formula as the report names it, program of the values X, known-bad values, known-good values)
FORMULAS = [
    ("log(1 + x)", "torch.log(1 + X)", "[1e-9, 2e-9]", "[0.1, 0.2]"),
    ("log(1 + exp(x))", "torch.log(1 + torch.exp(X))", "[-16.8, -17.0]", "[1.0, -3.0]"),
    ("log(softmax(x))", "torch.log(torch.softmax(X.half(), dim=0))", "[0.0, -17.0]", "[1.0, 2.0]"),
    ("log(sigmoid(x))", "torch.log(torch.sigmoid(X.half()))", "[-17.0, -16.9]", "[1.0, 2.0]"),
    ("log(1 - sigmoid(x))", "torch.log(1 - torch.sigmoid(X))", "[16.0, 15.5]", "[1.0, 2.0]"),
    (
        "log(1 - sigmoid(x))",
        "torch.log(1 - 1 / (1 + torch.exp(-X)))",
        "[16.0, 15.5]",
        "[1.0, 2.0]",
    ),
    (
        "log(sigmoid(x))",
        "e = torch.exp(X.half())\ntorch.log(e / (1 + e))",
        "[-17.0, -16.9]",
        "[1.0, 2.0]",
    ),
    ("log(1 - exp(x))", "torch.log(1 - torch.exp(X))", "[-1e-7, -1.6e-7]", "[-1.0, -2.0]"),
    ("log(sum(exp(x)))", "torch.log(torch.exp(X).sum())", "[-103.0, -103.0]", "[1.0, 2.0]"),
    (
        "log(exp(a) + exp(b))",
        "a = X\ntorch.log(torch.exp(a) + torch.exp(a + 0.1))",
        "[-103.2, -103.1]",
        "[1.0, 2.0]",
    ),
    ("log(cosh(x))", "torch.log(torch.cosh(X))", "[1e-4, 1.2e-4]", "[1.0, 2.0]"),
    ("exp(x) - 1", "torch.exp(X) - 1", "[1e-9, 2e-9]", "[0.1, 0.2]"),
    ("1 - cos(x)", "1 - torch.cos(X)", "[1e-4, 2e-4]", "[1.0, 2.0]"),
    ("1 - erf(x)", "1 - torch.erf(X)", "[3.9, 3.8]", "[0.5, 1.0]"),
    ("1 + erf(x)", "x = X\n0.5 * x * (1 + torch.erf(x / 2 ** 0.5))", "[-5.5, -5.4]", "[0.5, -1.0]"),
    (
        "x - log(sum(exp(x)))",
        "x = X\nx - torch.log(torch.exp(x).sum(0, keepdim=True))",
        "[-103.0, -103.0]",
        "[1.0, 2.0]",
    ),
    (
        "E[x*x] - E[x]**2",
        "x = X\n(x * x).mean() - x.mean() ** 2",
        "[10000.0, 10001.0, 10002.0]",
        "[1.0, 2.0, 3.0]",
    ),
    (
        "|a|**2 + |b|**2 - 2 a.b",
        "a = X.reshape(2, 2)\nb = a + 0.05\n"
        "(a * a).sum(1)[:, None] + (b ** 2).sum(1)[None, :] - 2 * (a @ b.t())",
        "[3000.0, 3000.1, 3000.2, 3000.3]",
        "[1.0, 2.0, 3.0, 5.0]",
    ),
    (
        "y*log(p) + (1 - y)*log(1 - p)",
        "x = X\ny = torch.tensor([0.25, 0.25])\n"
        "p = torch.sigmoid(x)\ny * torch.log(p) + (1 - y) * torch.log(1 - p)",
        "[16.0, 15.5]",
        "[1.0, 2.0]",
    ),
    (
        "sum(p * (log(p) - log(softmax(z))))",
        "p = torch.tensor([0.5, 0.5])\n"
        "(p * (torch.log(p) - torch.log(torch.softmax(X, dim=0)))).sum()",
        "[0.0, -103.0]",
        "[1.0, 2.0]",
    ),
    ("sqrt(sum(x * x))", "x = X\ntorch.sqrt((x * x).sum())", "[1e-23, 2e-23]", "[3.0, 4.0]"),
    ("sqrt(mean(x * x))", "torch.sqrt(X.pow(2).mean())", "[1e-23, 2e-23]", "[3.0, 4.0]"),
    (
        "sqrt(x*x + y*y)",
        "x = X\ny = 2 * x\ntorch.sqrt(x ** 2 + y ** 2)",
        "[1e-23, 2e-23]",
        "[3.0, 4.0]",
    ),
    ("exp(x) / sum(exp(x))", "e = torch.exp(X)\ne / e.sum()", "[-103.0, -102.6]", "[1.0, 2.0]"),
    (
        "(exp(x) - exp(-x)) / 2",
        "x = X\n(torch.exp(x) - torch.exp(-x)) / 2",
        "[1e-6, 1.1e-6]",
        "[0.5, 1.0]",
    ),
    (
        "(exp(x) - exp(-x)) / (exp(x) + exp(-x))",
        "x = X\n(torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))",
        "[1e-6, 1.1e-6]",
        "[0.5, 1.0]",
    ),
    (
        "a.b / (|a| |b|)",
        "x = X\nz = x * 2\n(x * z).sum() / (x.norm() * z.norm() + 1e-8)",
        "[1e-5, 2e-5]",
        "[1.0, 2.0]",
    ),
    (
        "prod(x) ** (1/n)",
        "X.prod() ** 0.25",
        "[1e-12, 2e-12, 1e-12, 3e-12]",
        "[1.0, 2.0, 3.0, 4.0]",
    ),
]

# The same rules on another library, in doubles.
NUMPY = [
    ("log(1 + x)", "np.log(1 + X)", "[1e-17, 2e-17]", "[0.1, 0.2]"),
    ("log(1 + exp(x))", "np.log(1 + np.exp(X))", "[-38.0, -39.0]", "[1.0, -3.0]"),
    ("log(1 - exp(x))", "np.log(1 - np.exp(X))", "[-6e-17, -6.1e-17]", "[-1.0, -2.0]"),
    ("log(sum(exp(x)))", "np.log(np.exp(X).sum())", "[-744.0, -744.4]", "[1.0, 2.0]"),
    ("log(cosh(x))", "np.log(np.cosh(X))", "[1e-8, 1.2e-8]", "[1.0, 2.0]"),
    ("exp(x) - 1", "np.exp(X) - 1", "[1e-17, 2e-17]", "[0.1, 0.2]"),
    ("1 - cos(x)", "1 - np.cos(X)", "[1e-9, 2e-9]", "[1.0, 2.0]"),
    (
        "x - log(sum(exp(x)))",
        "x = X\nx - np.log(np.exp(x).sum(0, keepdims=True))",
        "[-744.0, -744.4]",
        "[1.0, 2.0]",
    ),
    (
        "E[x*x] - E[x]**2",
        "x = X\n(x * x).mean() - x.mean() ** 2",
        "[1e9, 1e9+1, 1e9+2]",
        "[1.0, 2.0, 3.0]",
    ),
    ("sqrt(sum(x * x))", "x = X\nnp.sqrt((x * x).sum())", "[1e-162, 1.2e-162]", "[3.0, 4.0]"),
    ("sqrt(mean(x * x))", "x = X\nnp.sqrt(np.mean(x ** 2))", "[1e-162, 2e-162]", "[3.0, 4.0]"),
    (
        "sqrt(x*x + y*y)",
        "x = X\ny = 1.1 * x\nnp.sqrt(x ** 2 + y ** 2)",
        "[1e-162, 1.2e-162]",
        "[3.0, 4.0]",
    ),
    (
        "(exp(x) - exp(-x)) / 2",
        "x = X\n(np.exp(x) - np.exp(-x)) / 2",
        "[1e-17, 2e-17]",
        "[0.5, 1.0]",
    ),
    (
        "prod(x) ** (1/n)",
        "x = X\nnp.prod(x) ** (1.0 / 3)",
        "[1e-108, 1.1e-108, 1.2e-108]",
        "[1.0, 2.0, 3.0]",
    ),
]


def named(text, values, library="torch", make="torch.tensor"):
    """The formulas that differ when the program runs on these values."""
    file = os.path.join(FOLDER, "program.py")
    with open(file, "w") as handle:
        handle.write("import %s\n" % library + text.replace("X", "%s(%s)" % (make, values)))
    program = Program({"file": file, "root": FOLDER})
    program.home = FOLDER
    trace = program.run(Policy())
    assert trace.error is None, (text, trace.error)
    return [detail.split(": ")[0] for _, _, detail in patterns.differences(trace)]


def judged(title, formulas, *library):
    """How many of the formulas are wrong, each told in a line."""
    wrong = 0
    for formula, text, bad, good in formulas:
        found = [named(text, values, *library) for values in (bad, good)]
        right = formula in found[0] and not found[1]
        wrong += not right
        print("%s%-45s %s" % (title, formula, "ok" if right else "bad %s, good %s" % tuple(found)))
    return wrong


wrong = judged("", FORMULAS) + judged("NumPy: ", NUMPY, "numpy as np", "np.array")
covered = len(FORMULAS) >= sum(len(rules) for rules in RULES.values())
print("every rule has its values%s" % (" ok" if covered else ": more rules than formulas"))
sys.exit(1 if wrong or not covered else 0)
