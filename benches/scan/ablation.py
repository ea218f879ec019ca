"""What steers the scan best? Learned soft assertions, analytic regions, the gradient of the raw output,
random directions: the same programs of examples/numeric, in one run.

    python benches/scan/ablation.py --fissure target/release/fissure

Needs Python 3.11 with torch. All kinds of steering search the same program with the same budget, one
after the other in one process, so that a busy machine is as busy for each; runs of the program are
counted too, which no other work on the machine changes. Learned models are asked through
`fissure assertions ask`. Prints one JSON line per program, then the tables of docs/soft-assertions.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, HERE)

EXAMPLES = os.path.join(ROOT, "examples", "numeric")
KINDS = ("learned", "analytic", "output", "random")


def programs():
    """(name, file, marked line) of the faulty torch programs."""
    with open(os.path.join(EXAMPLES, "manifest.toml"), encoding="utf-8") as handle:
        named = re.findall(r'^name = "(.*)"\nfile = "(.*)"$', handle.read(), re.MULTILINE)
    for name, file in named:
        path = os.path.join(EXAMPLES, file)
        with open(path, encoding="utf-8") as handle:
            lines = handle.read().split("\n")
        if any(re.match(r"\s*(import|from) torch", line) for line in lines):
            yield name, path, next(number for number, line in enumerate(lines, 1)
                                   if "# unstable" in line)


def unstable_functions():
    import tomllib
    with open(os.path.join(ROOT, "data", "unstable-functions.toml"), "rb") as handle:
        return dict((entry["name"], entry) for entry in tomllib.load(handle)["function"])


class Asking:
    """Stands for the Rust side of a session: silent, but answers about directions."""

    def __init__(self, fissure):
        self.process = subprocess.Popen([fissure, "assertions", "ask"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.models = json.loads(self.process.stdout.readline())

    def emit(self, event, **fields):
        pass

    def ask(self, event, **fields):
        self.process.stdin.write(json.dumps(fields) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def search(asking, kind, path, line, seconds):
    """The first finding at the marked line: (seconds, runs, label, function), or None."""
    from fissure_scan.session import Session
    folder = os.path.dirname(path)
    os.chdir(folder)
    config = {"tensor_size": None, "min_value": None, "max_value": None, "stop_on_failure": False,
              "oscillation_threshold": None, "max_fuzz_iterations": None, "mutation_rate": None,
              "gradient_backprop": True, "save_inputs": False}
    session = Session({
        "file": path, "module": None, "function": None, "arguments": [], "root": folder,
        "directory": folder, "regions": False, "timeout": seconds, "own_run_timeout": 60.0,
        "level": 3, "inputs": {}, "freeze": [], "weights": False, "strict": False,
        "output": tempfile.mkdtemp(), "registry": unstable_functions(), "config": config,
        "assertions": dict(asking.models, mode=kind)}, asking)
    runs = {}
    session._note = lambda text: runs.setdefault(text, session.search.runs)
    if not session.start():
        return None
    session.run_search()
    here = [found for found in session.search.found.values()
            if found.failure.site.line == line and found.severity != "theoretical"
            and found.elapsed is not None]
    if not here:
        return None
    first = min(here, key=lambda found: found.elapsed)
    noted = [count for text, count in runs.items() if ":%d " % line in text]
    return {"seconds": first.elapsed, "runs": min(noted) if noted else 0,
            "function": first.failure.site.function, "level": first.level,
            "directed": "soft assertion" in first.label}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fissure", required=True)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    asking = Asking(os.path.abspath(arguments.fissure))
    import torch
    torch.set_num_threads(1)
    rows = []
    for name, path, line in programs():
        if arguments.only and arguments.only not in name:
            continue
        row = dict((kind, search(asking, kind, path, line, arguments.seconds)) for kind in KINDS)
        row["program"] = name
        rows.append(row)
        print(json.dumps(row), flush=True)
    report(rows)


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def report(rows):
    print("\n| steering | found | of them by a direction | mean search time | mean runs |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        found = [row[kind] for row in rows if row[kind] is not None]
        print("| %s | %d of %d | %d | %.3f s | %.1f |" % (
            kind, len(found), len(rows), sum(entry["directed"] for entry in found),
            mean([entry["seconds"] for entry in found]), mean([entry["runs"] for entry in found])))
    functions = {}
    for row in rows:
        entry = row["analytic"] or row["learned"]
        if entry is not None:
            functions.setdefault(entry["function"], []).append(row)
    print("\n| function | programs | learned: directed, mean runs | analytic: directed, mean runs |")
    print("|---|---|---|---|")
    for name, group in sorted(functions.items()):
        cells = []
        for kind in ("learned", "analytic"):
            found = [row[kind] for row in group if row[kind] is not None]
            cells.append("%d of %d, %.1f" % (sum(entry["directed"] for entry in found), len(group),
                                             mean([entry["runs"] for entry in found])))
        print("| %s | %d | %s |" % (name, len(group), " | ".join(cells)))


main()
