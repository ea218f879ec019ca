"""How many findings of examples/numeric get a checked fix, and whether a fix is ever worse than the program.

    python benches/scan/fixes.py FISSURE OUTPUT [--inputs 1000] [--seconds N] [NAME...]

Needs Python 3.11 with torch. Each faulty program is scanned; each checked fix is then run on so many sets of ordinary
data (half to 300 times the program's own values, inside the range of their source) beside the unchanged program,
in the program's own floats and in float64. Nothing of the scan's own check is used for that: scripts are run as they are, and
the numbers they leave in their variables and print are compared; data on which nothing can be compared are counted apart. A fix is worse where the program was right (1 %) and the
fixed one is not. Results are kept in OUTPUT, so that a run that was ended goes on where it was.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "numeric")
SCALES = (0.5, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0)
RELATIVE, ABSOLUTE = 0.01, 1e-5
NUMBER, PRINTED = re.compile(r"(?<![\w.])-?(?:\d+\.\d+(?:e[+-]?\d+)?|inf|nan)\b"), "what is printed"


def programs(wanted):
    with open(os.path.join(EXAMPLES, "manifest.toml"), encoding="utf-8") as handle:
        named = re.findall(r'^name = "(.*)"\nfile = "(.*)"$', handle.read(), re.MULTILINE)
    return [(name, file) for name, file in named if not wanted or name in wanted]


# Scans -----------------------------------------------------------------------------------------


def scan(fissure, file, output):
    command = [fissure, "scan", file, "--python", sys.executable, "--json", "--output", output]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=EXAMPLES)
    report = json.loads(run.stdout.decode("utf-8"))
    return {
        "inputs": [
            dict((key, entry.get(key)) for key in ("name", "low", "high", "line"))
            for entry in report["inputs"]
        ],
        "findings": [
            {
                "line": finding["site"]["line"],
                "function": finding["site"]["function"],
                "oracle": finding["oracle"],
                "title": (finding["fix"] or {}).get("title"),
                "diff": (finding["fix"] or {}).get("diff"),
                "ordinary_inputs": (finding["fix"] or {}).get("ordinary_inputs"),
                "advice": finding["precondition"],
                "refused": len(finding.get("refused_fixes") or []),
            }
            for finding in report["findings"]
        ],
    }


def patched(source, diff):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(source)
        subprocess.run(
            ["patch", "-s", path], input=diff.encode("utf-8"), check=True, stdout=subprocess.DEVNULL
        )
        with open(path, encoding="utf-8") as handle:
            return handle.read()


# Runs ------------------------------------------------------------------------------------------


def with_other_data(source, names):
    """The source with a statement after each assignment to one of the inputs."""
    lines = source.split("\n")
    places = [
        (node.end_lineno, node.col_offset, node.targets[0].id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in names
    ]
    seen = set()
    for line, column, name in sorted(places):
        if name not in seen:
            seen.add(name)
            lines[line - 1] += "\n%s%s = __other__(%r, %s)" % (" " * column, name, name, name)
    return "\n".join(lines), seen


class Data:
    """Ordinary data number so and so, the same in each precision."""

    def __init__(self, number, ranges, wide):
        self.number, self.ranges, self.wide = number, ranges, wide

    def __call__(self, name, value):
        tensor = isinstance(value, torch.Tensor)
        own = value.detach().double().numpy() if tensor else numpy.asarray(value)
        floating = value.is_floating_point() if tensor else own.dtype.kind == "f"
        if not floating or not own.ndim or not own.size:
            return value
        generator = numpy.random.Generator(numpy.random.PCG64([self.number, len(name)]))
        scale = SCALES[self.number % len(SCALES)]
        size = float(numpy.abs(own).max()) or 1.0
        moved = own + (scale - 1.0) * size * generator.uniform(-1.0, 1.0, own.shape)
        low, high = self.ranges[name]
        if high is not None:
            # Sources are half-open.
            high = float(numpy.nextafter(numpy.float32(high), numpy.float32(-numpy.inf)))
        moved = numpy.clip(moved, low, high) if (low, high) != (None, None) else moved
        # What float32 holds, in both precisions.
        held = torch.from_numpy(numpy.ascontiguousarray(moved)).float().double()
        if not tensor:
            return held.numpy().astype(own.dtype)
        held = held.to(torch.float64 if self.wide else value.dtype)
        return held.requires_grad_(value.requires_grad)


@contextlib.contextmanager
def in_doubles():
    """New tensors are doubles, with the random numbers that they would have as floats."""
    saved = [(torch, name, getattr(torch, name)) for name in ("rand", "randn")]
    saved += [(torch.Tensor, name, getattr(torch.Tensor, name)) for name in ("uniform_", "normal_")]

    def drawn(original):
        def draw(*arguments, **keywords):
            keywords.setdefault("dtype", torch.float32)
            wanted = keywords.pop("requires_grad", False)
            return original(*arguments, **keywords).double().requires_grad_(wanted)

        return draw

    def filled(original):
        def fill(self, *arguments, **keywords):
            made = original(torch.empty(self.shape, dtype=torch.float32), *arguments, **keywords)
            with torch.no_grad():
                return self.copy_(made)

        return fill

    torch.set_default_dtype(torch.float64)
    try:
        for owner, name, original in saved:
            setattr(owner, name, (drawn if owner is torch else filled)(original))
        yield
    finally:
        torch.set_default_dtype(torch.float32)
        for owner, name, original in saved:
            setattr(owner, name, original)


def numbers(code, number, ranges, wide=False):
    """What a run leaves in its variables, by name; None when it raises."""
    namespace = {"__name__": "__main__", "__other__": Data(number, ranges, wide)}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with in_doubles() if wide else contextlib.suppress():
            try:
                with numpy.errstate(all="ignore"):
                    exec(code, namespace)
            except Exception:
                return None
    found = {}
    for name, value in namespace.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            found[name] = value.detach().double().numpy()
        elif isinstance(value, (float, numpy.floating)) or (
            isinstance(value, numpy.ndarray) and value.dtype.kind == "f"
        ):
            found[name] = numpy.asarray(value, dtype=numpy.float64)
    found = dict((name, value) for name, value in found.items() if name not in ranges)
    shown = [float(text) for text in NUMBER.findall(printed.getvalue())]
    # With the digits that are shown.
    found[PRINTED] = numpy.asarray(shown)
    return found


def right(held, exact, names):
    for name in names:
        one, two = held[name], exact[name]
        if one.shape != two.shape:
            return False
        bound = RELATIVE * float(numpy.abs(two).max()) if two.size else 0.0
        bound += 1e-2 if name == PRINTED else ABSOLUTE
        if not bool((numpy.abs(one - two) <= bound).all()):
            return False
    return True


def compare(source, diff, inputs, count):
    """Counts of a fix over ordinary data."""
    ranges = dict((entry["name"], (entry["low"], entry["high"])) for entry in inputs)
    before, moved = with_other_data(source, set(ranges))
    after, _ = with_other_data(patched(source, diff), set(ranges))
    first, second = compile(before, "before", "exec"), compile(after, "after", "exec")
    tally = {"inputs": 0, "compared": 0, "right before": 0, "right after": 0, "worse": 0}
    worse = []
    for number in range(count if moved else 0):
        exact = numbers(first, number, ranges, wide=True)
        held, fixed = numbers(first, number, ranges), numbers(second, number, ranges)
        tally["inputs"] += 1
        if exact is None or held is None:
            continue
        names = set(
            name
            for name in set(exact) & set(held) & set(fixed or exact)
            if exact[name].size
            and exact[name].shape == held[name].shape
            and numpy.isfinite(exact[name]).all()
        )
        if not names:
            continue
        tally["compared"] += 1
        good, better = right(held, exact, names), fixed is not None and right(fixed, exact, names)
        tally["right before"] += good
        tally["right after"] += better
        if good and not better:
            tally["worse"] += 1
            worse.append(number)
    tally["worse numbers"] = worse[:5]
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fissure")
    parser.add_argument("output")
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    torch.set_num_threads(1)
    store, ends = os.path.join(options.output, "fixes.json"), time.monotonic() + options.seconds
    results = {}
    if os.path.exists(store):
        with open(store, encoding="utf-8") as handle:
            results = json.load(handle)
    for name, file in programs(options.names):
        if time.monotonic() > ends:
            break
        path = os.path.join(EXAMPLES, file)
        if name not in results:
            results[name] = scan(
                os.path.abspath(options.fissure),
                path,
                os.path.join(os.path.abspath(options.output), name),
            )
        with open(path, encoding="utf-8") as handle:
            source = handle.read()
        sys.path[0] = EXAMPLES
        for finding in results[name]["findings"]:
            if finding["diff"] and finding.get("tally", {}).get("inputs", -1) < options.inputs:
                finding["tally"] = compare(
                    source, finding["diff"], results[name]["inputs"], options.inputs
                )
            print(
                "%-24s line %d %s: %s"
                % (
                    name,
                    finding["line"],
                    finding["function"],
                    "%s; %s" % (finding["title"], finding["tally"])
                    if finding["diff"]
                    else "no fix; " + str(finding["advice"]),
                ),
                flush=True,
            )
        with open(store, "w", encoding="utf-8") as handle:
            json.dump(results, handle, indent=1)
    table(results)


def table(results):
    findings = [finding for result in results.values() for finding in result["findings"]]
    fixed = [finding for finding in findings if finding["diff"]]
    tallies = [finding["tally"] for finding in fixed if "tally" in finding]
    print(
        "%d programs, %d findings, %d with a checked fix (%.0f %%), %d with advice; %d fixes on %d sets of data in all, "
        "compared %d, right before %d, right after %d, worse %d"
        % (
            len(results),
            len(findings),
            len(fixed),
            100.0 * len(fixed) / max(1, len(findings)),
            len(findings) - len(fixed),
            len(tallies),
            *[
                sum(tally[key] for tally in tallies)
                for key in ("inputs", "compared", "right before", "right after", "worse")
            ],
        )
    )


if __name__ == "__main__":
    main()
