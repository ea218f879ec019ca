"""Checks the manifest: every program fails with its trigger as stated, no twin does.

Run with an interpreter (3.11 or newer) that has torch and NumPy:
    python examples/numeric/check.py [NAME ...]
    python examples/numeric/check.py --fixed LIST.json
The second form reads [[NAME, FILE], ...], runs each FILE (a repaired version of the program NAME) as a twin
is run, and prints the problems of each as JSON.
"""

import contextlib
import io
import json
import linecache
import pathlib
import sys
import tomllib
import warnings

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name

HERE = pathlib.Path(__file__).resolve().parent
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))
    elif isinstance(value, float):
        yield torch.tensor(value)


def finite(value):
    return all(bool(torch.isfinite(t).all()) for t in tensors(value) if t.dtype in FLOATS)


def has_nan(value):
    return any(bool(torch.isnan(t).any()) for t in tensors(value) if t.dtype in FLOATS)


class Watch(TorchFunctionMode):
    """Notes the first operation that turns finite values into a NaN or Inf, and infinite gradients."""

    def __init__(self, path):
        super().__init__()
        self.path = str(path)
        self.failures = []
        self.gradient = None

    def line(self):
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return frame.f_lineno if frame else None

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = resolve_name(function) or getattr(function, "__name__", str(function))
        with torch._C.DisableTorchFunctionSubclass():
            before = finite(args) and finite(kwargs)
            without_nan = not has_nan(args)
            result = function(*args, **kwargs)
            if name.endswith((".grad.__get__", ".empty", ".empty_like", ".full", ".masked_fill")):
                return result
            # A mask of -inf is no failure, a NaN made of it is.
            if (before and not finite(result)) or (without_nan and has_nan(result)):
                self.failures.append((name, self.line()))
            if name.endswith(".backward"):
                self.check_gradients(args[0])
            elif name.endswith("autograd.grad") and before and not finite(result):
                self.gradient = self.gradient or self.line()
        return result

    def check_gradients(self, loss):
        """Follows the graph to its leaves."""
        seen, queue = set(), [loss.grad_fn]
        while queue:
            node = queue.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            queue.extend(parent for parent, _ in node.next_functions)
            leaf = getattr(node, "variable", None)
            if leaf is not None and leaf.grad is not None and finite(leaf) and not finite(leaf.grad):
                self.gradient = self.gradient or self.line()


def run(path, trigger):
    """The program with `trigger` after its `# input` line; what failed and its variables."""
    lines = path.read_text().split("\n")
    inserted = False
    for index, line in enumerate(lines):
        if line.rstrip().endswith("# input"):
            lines[index] = line[: line.rindex("  # input")] + "; " + trigger
            inserted = True
            break
    assert inserted, f"{path.name} has no line marked '# input'"
    source = "\n".join(lines)
    linecache.cache[str(path)] = (len(source), None, lines, str(path))
    namespace = {"__name__": "__main__", "__file__": str(path)}
    watch = Watch(path)
    numpy_failures = []

    def note(kind, _flag):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != str(path):
            frame = frame.f_back
        if "underflow" not in kind:
            numpy_failures.append(("numpy " + kind, frame.f_lineno if frame else None))

    sys.path.insert(0, str(HERE))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), watch:
        warnings.simplefilter("ignore")
        with np.errstate(all="call", call=note):
            try:
                exec(compile(source, str(path), "exec"), namespace)
            except RuntimeError:
                # A library may refuse the NaN that was already seen; anything else is our mistake.
                if not watch.failures:
                    raise
    return watch, numpy_failures, namespace


def marked_line(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if "# unstable" in line:
            return number
    raise AssertionError(f"{path.name} has no line marked '# unstable'")


def problems_of(program):
    path, twin = HERE / program["file"], HERE / program["twin"]
    line = marked_line(path)
    problems = []

    watch, numpy_failures, namespace = run(path, program["trigger"])
    if "check" in program:
        if not eval(program["check"], namespace):
            problems.append("the result is not wrong")
    elif program["oracles"] == ["gradient_nonfinite"]:
        if watch.gradient is None:
            problems.append("no infinite gradient")
    else:
        failures = watch.failures + numpy_failures
        if not any(at == line for _, at in failures):
            problems.append(f"nothing fails at line {line}: {failures[:4]}")
    for name, at in (watch.failures + numpy_failures)[:1]:
        print(f"    {program['name']}: first {name} at line {at}, marked {line}")

    return problems + problems_of_stable(program, twin)


def problems_of_stable(program, path):
    """What goes wrong in a program that should survive the trigger."""
    problems = []
    for statement in (program["trigger"], "pass"):
        watch, numpy_failures, namespace = run(path, statement)
        failures = watch.failures + numpy_failures
        if failures:
            problems.append(f"{path.name} fails with {statement!r}: {failures[:3]}")
        if watch.gradient is not None:
            problems.append(f"{path.name} has an infinite gradient with {statement!r} at line {watch.gradient}")
        if "check" in program and eval(program["check"], namespace):
            problems.append(f"the result of {path.name} is wrong with {statement!r}")
    return problems


def check_fixed(programs, list_file):
    by_name = {program["name"]: program for program in programs}
    answers = []
    for name, path in json.loads(pathlib.Path(list_file).read_text()):
        try:
            answers.append(problems_of_stable(by_name[name], pathlib.Path(path)))
        except Exception as error:  # a repaired program may fail in any way
            answers.append([f"{type(error).__name__}: {error}"])
    print(json.dumps(answers))


def main():
    manifest = tomllib.loads((HERE / "manifest.toml").read_text())
    if sys.argv[1:2] == ["--fixed"]:
        check_fixed(manifest["program"], sys.argv[2])
        return 0
    wanted = sys.argv[1:]
    failed = 0
    programs = [p for p in manifest["program"] if not wanted or p["name"] in wanted]
    for program in programs:
        for problem in problems_of(program):
            failed += 1
            print(f"{program['name']}: {problem}")
    print(f"{len(programs)} programs, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
