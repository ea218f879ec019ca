"""What steers the scan best? Learned soft assertions, analytic regions, the gradient of the raw output,
random directions: the same programs of examples/numeric, in one run.

    python benches/scan/ablation.py --fissure target/release/fissure

Needs Python 3.11 with torch. All kinds of steering search the same program with the same budget, one
after the other in one process, so that a busy machine is as busy for each; runs of the program are
counted too, which no other work on the machine changes. A search ends at the first finding at the marked
line. Each kind searches twice: as the scan does, where values that need no direction are tried too, and
by directions alone. Learned models are asked through `fissure assertions ask`. Prints one JSON line per
program, then the tables of docs/soft-assertions.md; `--report FILE` prints the tables of such lines.
"""

import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.join(ROOT, "crates", "fissure-testing", "python"))
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
            yield (
                name,
                path,
                next(number for number, line in enumerate(lines, 1) if "# unstable" in line),
            )


def unstable_functions():
    from registry_file import unstable_functions

    return unstable_functions(ROOT)


class Asking:
    """Stands for the Rust side of a session: silent, but answers about directions."""

    def __init__(self, fissure):
        self.process = subprocess.Popen(
            [fissure, "assertions", "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.models = json.loads(self.process.stdout.readline())

    def emit(self, event, **fields):
        pass

    def ask(self, event, **fields):
        self.process.stdin.write(json.dumps(fields) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def search(asking, kind, path, line, seconds, alone):
    """The first finding at the marked line: seconds, runs, function, level; None without one."""
    from fissure_scan.search.attempts import Attempts

    import in_process

    os.chdir(os.path.dirname(path))
    session = in_process.session(
        asking,
        path,
        unstable_functions(),
        save_inputs=False,
        timeout=seconds,
        assertions=dict(asking.models, mode=kind),
    )
    first = []

    def look():
        here = in_process.found_at(session, line)
        if here and not first:
            first.append(
                {
                    "seconds": here[0].elapsed,
                    "runs": session.runner.runs,
                    "function": here[0].failure.site.function,
                    "level": here[0].level,
                    "directed": "soft assertion" in here[0].label,
                }
            )

    def note(_):
        """Ends the search as Ctrl-C does, once the marked line has failed."""
        look()
        if first:
            raise KeyboardInterrupt

    session._note = note
    attempts = Attempts.several
    if alone:
        Attempts.several = lambda *arguments, **keywords: None
    try:
        if session.start():
            session.run_search()
            # What other precisions and variations show is not noted.
            look()
    except KeyboardInterrupt:
        pass
    finally:
        Attempts.several = attempts
    return first[0] if first else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fissure")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", help="programs with this in their name")
    parser.add_argument("--part", default="0/1", help="number/parts: every so many programs")
    parser.add_argument("--report", help="print the tables of the lines in this file")
    arguments = parser.parse_args()
    if arguments.report:
        with open(arguments.report, encoding="utf-8") as handle:
            report([json.loads(line) for line in handle if line.startswith("{")])
        return
    if not arguments.fissure:
        parser.error("--fissure is needed")
    asking = Asking(os.path.abspath(arguments.fissure))
    import torch

    torch.set_num_threads(1)
    rows = []
    part, parts = (int(number) for number in arguments.part.split("/"))
    for number, (name, path, line) in enumerate(programs()):
        if arguments.only and arguments.only not in name or number % parts != part:
            continue
        row = {"program": name}
        for alone in (False, True):
            row["alone" if alone else "full"] = dict(
                (kind, search(asking, kind, path, line, arguments.seconds, alone)) for kind in KINDS
            )
        rows.append(row)
        print(json.dumps(row), flush=True)
    report(rows)


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def report(rows):
    for search, title in (("full", "the whole search"), ("alone", "directions alone")):
        print("\n%s, %d programs\n" % (title, len(rows)))
        print("| steering | found | of them by a direction | mean search time | mean runs |")
        print("|---|---|---|---|---|")
        # Times and runs over the programs that all kinds found, else the better one looks worse.
        common = [row[search] for row in rows if all(row[search][kind] for kind in KINDS)]
        for kind in KINDS:
            found = [row[search][kind] for row in rows if row[search][kind] is not None]
            print(
                "| %s | %d of %d | %d | %.3f s | %.1f |"
                % (
                    kind,
                    len(found),
                    len(rows),
                    sum(entry["directed"] for entry in found),
                    mean([entry[kind]["seconds"] for entry in common]),
                    mean([entry[kind]["runs"] for entry in common]),
                )
            )
        print("\nTime and runs: means over the %d programs that all of them found." % len(common))
    functions = {}
    for row in rows:
        entry = next(
            (
                row[search][kind]
                for search in ("full", "alone")
                for kind in KINDS
                if row[search][kind] is not None
            ),
            None,
        )
        if entry is not None:
            functions.setdefault(entry["function"], []).append(row["alone"])
    print("\ndirections alone, by function\n")
    print("| function | programs | learned: found, mean runs | analytic: found, mean runs |")
    print("|---|---|---|---|")
    for name, group in sorted(functions.items()):
        cells = []
        for kind in ("learned", "analytic"):
            found = [entry[kind] for entry in group if entry[kind] is not None]
            cells.append("%d, %.1f" % (len(found), mean([entry["runs"] for entry in found])))
        print("| %s | %d | %s |" % (name, len(group), " | ".join(cells)))


main()
