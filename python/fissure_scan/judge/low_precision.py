"""The same program in lower precision: float16, bfloat16, and under autocast.

Three questions about the program's own data. Would an operation overflow if the computation before it
and itself were done in float16, or in bfloat16 (a shadow beside the real run)? Does the program fail
when it really runs under `torch.autocast`? A program that asks for such a precision itself (it enters
`autocast`, or has a `.half()` that only runs where there is a GPU) gets a finding, every other one a
note: its author chose float32.
"""

import ast

from . import oracles, points
from ..report.findings import Found
from ..watch import operations
from ..watch.monitor import Policy
from ..watch.trace import Failure
from ..search.changes import AutocastChange


class Asked:
    """The low precisions that a program asks for."""

    def __init__(self, program, trace):
        self.autocasts = trace.autocasts  # (device, dtype name) of the contexts it made
        self.executed = set()
        for node in trace.nodes:
            if node.library == "torch" and node.output is not None:
                name = str(node.output.dtype).replace("torch.", "")
                if name in ("float16", "bfloat16"):
                    self.executed.add(name)
        self.written = _written(program.text())

    def shadow(self, name):
        """Does the program ask for the whole computation in this precision, where we cannot see it
        run? What does run in it is judged by the ordinary oracles, and a program that widens its
        numbers again knows what it does."""
        return (
            name in self.written
            and name not in self.executed
            and "float32" not in self.written
            and not self.autocasts
        )


def _written(text):
    """Names of precisions in the source."""
    found = set()
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = {"half": "float16", "float": "float32"}.get(node.attr, node.attr)
            if name in ("float16", "bfloat16", "float32"):
                found.add(name)
    return found


def examine(runner, space, collected, torch):
    asked = Asked(runner.program, runner.baseline)
    # What the program asks for comes first: of one site only the first failure is kept.
    for device, name in dict.fromkeys(asked.autocasts):
        if not runner.over():
            _autocast(runner, space, collected, device, name, True)
    for dtype in (torch.float16, torch.bfloat16):
        if not runner.over():
            _shadowed(runner, space, collected, asked, dtype)
    if not asked.autocasts and not runner.over():
        _autocast(runner, space, collected, "cpu", "bfloat16", False)


def _shadowed(runner, space, collected, asked, dtype):
    from .shadow import Shadow

    name = str(dtype).replace("torch.", "")
    shadow = Shadow(dtype)
    trace = points.shadowed(runner, {}, shadow)
    if trace.failures or trace.error is not None:
        return
    node = first_producer(shadow)
    if node is None or node.site.key() in collected:
        return
    arguments, keywords = shadow.operands[id(node)]
    failure = Failure(
        "low_precision",
        node,
        "%s of the program's own data is not finite in %s" % (node.name, name),
        tuple(arguments),
        keywords,
        None,
    )
    found = Found(failure, {}, 0, "the program's own data in %s" % name, space)
    if not asked.shadow(name):
        found.severity = "theoretical"
        found.reason = "the program's own data would not survive %s here" % name
    collected.keep(node.site.key(), found)


def first_producer(shadow):
    """The first operation that is finite in the program and not in the shadow."""
    for node in shadow.nonfinite:
        if oracles.produces(node):
            return node
    return None


def _autocast(runner, space, collected, device, name, asked):
    change = AutocastChange(name)
    policy = Policy(
        watch_gradients=runner.trains,
        backward_limit=1,
        time_limit=runner.time_limit,
        stop_after=runner.far_horizon,
    )
    trace = runner.run(policy, change)
    for failure in trace.failures:
        if (
            failure.oracle != "nonfinite"
            or failure.after_steps > 0
            or failure.site.key() in collected
        ):
            continue
        if asked and device == "cuda" and operations.has(failure.name, "wide on a GPU"):
            continue
        failure.oracle = "low_precision"
        failure.detail += " under autocast to %s" % name
        found = Found(failure, {}, 0, "the program's own data " + change.label, space)
        found.variation = change
        if not asked:
            found.severity = "theoretical"
            found.reason = "the program's own data would not survive autocast to %s here" % name
        collected.keep(failure.site.key(), found)
        return
