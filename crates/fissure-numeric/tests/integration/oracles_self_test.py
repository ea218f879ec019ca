"""Every oracle on a known-bad and a known-good value. Run by oracles.rs with the runtime's folder
and the registry as JSON; prints one line per oracle and ends with 1 if one of them is wrong."""

import atexit
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import torch

from fissure_scan.judge import oracles, patterns, precision
from fissure_scan.steer import registry
from fissure_scan.report.findings import Found
from fissure_scan.watch.monitor import Policy
from fissure_scan.run.program import Program
from fissure_scan.search.runner import Runner
from fissure_scan.search.space import Space
from fissure_scan.judge.shadow import Shadow
from fissure_scan.backends.torch_backend import TorchBackend
from fissure_scan.watch.trace import Node, Site

with open(sys.argv[2], encoding="utf-8") as handle:
    registry.load(json.load(handle))
BACKEND = TorchBackend()
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def run(text, shadow=None):
    file = os.path.join(FOLDER, "program.py")
    with open(file, "w") as handle:
        handle.write("import torch\n" + text)
    program = Program({"file": file, "root": FOLDER})
    program.home = FOLDER
    trace = program.run(Policy(watch_gradients=True, shadow=shadow))
    assert trace.error is None, trace.error
    return program, trace


def fires(text, name):
    return any(
        failure.oracle == name or name in [also for also, _ in failure.also]
        for failure in run(text)[1].failures
    )


def hidden(text):
    program, trace = run(text)
    runner = Runner(program, trace, 10, None)
    space = Space([], [], trace.inputs)
    for failure in trace.failures:
        found = Found(failure, {}, 0, "", space)
        assert found.confirm(runner)
        if found.oracle == "hidden_nonfinite":
            return True
    return False


def node(name, operands, output, function=None):
    made = Node(
        1,
        name,
        function or getattr(torch, name, None),
        operands,
        {},
        operands,
        [value for value in operands if isinstance(value, torch.Tensor)],
        Site("file.py", 1, name),
        "torch",
    )
    made.output = output
    return made


def composite(text):
    answer = patterns.examine(run(text)[1])
    return answer[0] if answer else None


def digits(text):
    shadow = Shadow(torch.float64)
    trace = run(text, shadow)[1]
    return precision.cancellation(trace, shadow) is not None


def half(text):
    shadow = Shadow(torch.float16)
    run(text, shadow)
    return any(oracles.produces(made) for made in shadow.nonfinite)


def wider(text):
    shadow = Shadow(torch.float64)
    trace = run(text, shadow)[1]
    blamed = precision.cancellation(trace, shadow)
    return blamed is not None and blamed[0].name == "solve"


x = torch.tensor([0.25, 2.0])
NEAR = "a = torch.tensor([[1.0, 1.0], [1.0, 1.0001]])\na = a.t() @ a\n"
CHECKS = [
    (
        "nonfinite",
        fires("torch.log(torch.tensor([0.0, 1.0]))", "nonfinite"),
        fires("torch.log(torch.tensor([0.5, 1.0]))", "nonfinite"),
    ),
    (
        "range",
        bool(oracles.out_of_range(BACKEND, node("sigmoid", (x,), torch.tensor([1.1, 0.5])))),
        bool(oracles.out_of_range(BACKEND, node("sigmoid", (x,), torch.sigmoid(x)))),
    ),
    (
        "rewrite",
        composite("z = torch.tensor([16.0, 15.5])\ny = torch.log(1 - torch.sigmoid(z))")
        == "rewrite",
        composite("z = torch.tensor([1.0, 2.0])\ny = torch.log(1 - torch.sigmoid(z))") == "rewrite",
    ),
    (
        "stable_algorithm",
        composite("x = torch.tensor([1e-9, 2e-9])\ny = torch.log(1 + x)") == "stable_algorithm",
        composite("x = torch.tensor([0.1, 0.2])\ny = torch.log(1 + x)") == "stable_algorithm",
    ),
    (
        "other_framework",
        bool(oracles.other_framework(BACKEND, node("log", (x,), torch.log(x) + 0.001))),
        bool(oracles.other_framework(BACKEND, node("log", (x,), torch.log(x)))),
    ),
    (
        "wider_float",
        wider(NEAR + "y = torch.linalg.solve(a, torch.tensor([1.0, 2.0]))"),
        wider(
            "y = torch.linalg.solve(torch.tensor([[2.0, 1.0], [1.0, 3.0]]), "
            "torch.tensor([1.0, 2.0]))"
        ),
    ),
    (
        "gradient_nonfinite",
        fires(
            "x = torch.zeros(2, requires_grad=True)\ntorch.sqrt(x).sum().backward()",
            "gradient_nonfinite",
        ),
        fires(
            "x = torch.ones(2, requires_grad=True)\ntorch.sqrt(x).sum().backward()",
            "gradient_nonfinite",
        ),
    ),
    (
        "hidden_nonfinite",
        hidden(
            "x = torch.tensor([0.0, 1.0])\nprint(torch.clamp(torch.log(x), -5.0, 5.0).sum().item())"
        ),
        hidden("x = torch.tensor([0.0, 1.0])\nprint(torch.log(x).sum().item())"),
    ),
    (
        "absorbed_epsilon",
        fires("p = torch.tensor([1.0, 0.5])\ntorch.log(1e-10 + 1 - p)", "absorbed_epsilon")
        or fires(
            "p = torch.tensor([1.0, 0.5])\ntorch.log((1 - p + 1e-10) - 1e-10)", "absorbed_epsilon"
        )
        or bool(oracles.epsilon_absorbed(BACKEND, node("add", (x, 1e-10), x + 1e-10))),
        bool(oracles.epsilon_absorbed(BACKEND, node("add", (x, 1e-4), x + 1e-4))),
    ),
    (
        "cancellation",
        digits(
            "x = torch.tensor([10000.0, 10001.0, 10002.0])\n"
            "v = (x * x).mean() - x.mean() * x.mean()\nprint(v.item())"
        ),
        digits(
            "x = torch.tensor([1.0, 2.0, 3.0])\n"
            "v = (x * x).mean() - x.mean() * x.mean()\nprint(v.item())"
        ),
    ),
    (
        "wraparound",
        fires("y = torch.tensor([300.0, 1.0]).to(torch.uint8)", "wraparound"),
        fires("y = torch.tensor([255.9, 1.0]).to(torch.uint8)", "wraparound"),
    ),
    (
        "low_precision",
        half("y = torch.tensor([400.0, 1.0]) ** 2"),
        half("y = torch.tensor([4.0, 1.0]) ** 2"),
    ),
]

wrong = 0
for name, bad, good in CHECKS:
    right = bad and not good
    wrong += not right
    print("%-20s %s" % (name, "ok" if right else "known-bad %s, known-good %s" % (bad, good)))
sys.exit(1 if wrong else 0)
