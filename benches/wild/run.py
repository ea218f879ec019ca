"""Scans functions of packages that others wrote, and says what became of each.

    python benches/wild/run.py FISSURE ENVIRONMENTS OUTPUT [--seconds N] [--each N] [WORD...]

ENVIRONMENTS is the folder in which `install.sh` made the interpreters; with words only the functions
whose name contains one of them are scanned. One line per function, a table at the end, and
`results.json` in OUTPUT; functions that are in it already are not scanned again, so a run that was
ended (by itself after `--seconds`) goes on where it was; each scan gets 10 s or what `--each` says. No code of these packages is here.
"""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 10


def functions(words):
    """(library, name) pairs."""
    library, found = None, []
    with open(os.path.join(HERE, "functions.txt"), encoding="utf-8") as handle:
        for line in map(str.strip, handle):
            if line.startswith("# ") and ": " in line:
                library = line[2:].partition(":")[0]
            elif line and not line.startswith("#"):
                found.append((library, line))
    found = [pair for pair in found if not words or any(word in pair[1] for word in words)]
    # One of each package first, so that a run that is ended has seen something of all.
    seen, order = {}, []
    for pair in found:
        package = pair[1].partition(":")[0].split(".")[0]
        seen[package] = seen.get(package, 0) + 1
        order.append(seen[package])
    return [pair for _, pair in sorted(zip(order, found), key=lambda item: item[0])]


def scan(fissure, python, output, name, seconds=SECONDS):
    folder = os.path.join(output, name.replace(":", "-"))
    began, before = time.time(), os.times()
    command = [
        fissure,
        "scan",
        name,
        "--python",
        python,
        "--output",
        folder,
        "--total-time",
        str(seconds),
        "--json",
    ]
    try:
        run = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=output,
            timeout=max(20 * SECONDS, 4 * seconds),
        )
        report = json.loads(run.stdout.decode("utf-8", "replace"))
        code = run.returncode
    except subprocess.TimeoutExpired:
        return {"name": name, "status": "hangs", "seconds": time.time() - began, "findings": []}
    except ValueError:
        return {
            "name": name,
            "status": "broken",
            "seconds": time.time() - began,
            "findings": [],
            "problem": run.stderr.decode("utf-8", "replace")[-400:],
        }
    status = "could not be called" if code == 2 else "scanned"
    findings = [
        {
            "file": os.path.basename(finding["site"]["file"]),
            "line": finding["site"]["line"],
            "function": finding["site"]["function"],
            "oracle": finding["oracle"],
            "severity": finding["severity"],
            "level": finding["level"],
            "sentence": finding["sentence"],
            "same_cause": [site["line"] for site in finding["same_cause"]],
            "reproduced": finding["reproduced"],
            "fix": (finding["fix"] or {}).get("title"),
            "diff": (finding["fix"] or {}).get("diff"),
            "ordinary_inputs": (finding["fix"] or {}).get("ordinary_inputs"),
            "advice": finding["precondition"],
        }
        for finding in report["findings"]
    ]
    return {
        "name": name,
        "status": status,
        "seconds": time.time() - began,
        "processor": os.times().children_user - before.children_user,
        "findings": findings,
        "inputs": [
            dict((key, entry.get(key)) for key in ("name", "low", "high"))
            for entry in report["inputs"]
        ],
        "runs": report["runs"],
        "notes": len(report["notes"]),
        "operations": (report.get("own_run") or {}).get("operations", 0),
        "problem": "; ".join(problem["message"] for problem in report["problems"])[:300],
    }


def main():
    # The scans run in the folder of their output.
    fissure, environments, output = map(os.path.abspath, sys.argv[1:4])
    words, ends, each = sys.argv[4:], None, SECONDS
    if words[:1] == ["--seconds"]:
        ends, words = time.time() + float(words[1]), words[2:]
    if words[:1] == ["--each"]:
        each, words = int(words[1]), words[2:]
    os.makedirs(output, exist_ok=True)
    store = os.path.join(output, "results.json")
    results = []
    if os.path.exists(store):
        with open(store, encoding="utf-8") as handle:
            results = json.load(handle)
    done = set(result["name"] for result in results)
    for library, name in functions(words):
        if name in done:
            continue
        if ends is not None and time.time() > ends:
            break
        python = os.path.join(environments, library, "bin", "python")
        result = scan(fissure, python, output, name, each)
        results.append(result)
        tell(result)
        with open(store, "w", encoding="utf-8") as handle:
            json.dump(results, handle, indent=1)
    table(results)


def tell(result):
    print(
        "%-70s %-20s %5.1f s  %d findings  %s"
        % (
            result["name"],
            result["status"],
            result["seconds"],
            len(result["findings"]),
            result.get("problem", "") if result["status"] != "scanned" else "",
        ),
        flush=True,
    )


def table(results):
    scanned = [result for result in results if result["status"] == "scanned"]
    found = [finding for result in scanned for finding in result["findings"]]
    print(
        "%d functions of %d packages, %d scanned (%.0f %%), %d with findings, %d findings, "
        "%d shown by their scripts, %d with a checked fix"
        % (
            len(results),
            len(set(result["name"].partition(":")[0].split(".")[0] for result in results)),
            len(scanned),
            100.0 * len(scanned) / max(1, len(results)),
            sum(bool(result["findings"]) for result in scanned),
            len(found),
            sum(bool(finding.get("reproduced")) for finding in found),
            sum(bool(finding["fix"]) for finding in found),
        )
    )


if __name__ == "__main__":
    main()
