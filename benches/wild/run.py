"""Scans functions of packages that others wrote, and says what became of each.

    python benches/wild/run.py FISSURE PYTHON OUTPUT [WORD...]

PYTHON is an interpreter that has the packages of `functions.txt` (`install.sh` makes one); with
words only the functions whose name contains one of them are scanned. One line per function, a table
at the end, and `results.json` in OUTPUT. No code of these packages is here.
"""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 12


def functions(words):
    with open(os.path.join(HERE, "functions.txt"), encoding="utf-8") as handle:
        names = [line.strip() for line in handle if line.strip() and not line.startswith("#")]
    return [name for name in names if not words or any(word in name for word in words)]


def scan(fissure, python, output, name):
    folder = os.path.join(output, name.replace(":", "-"))
    began = time.time()
    command = [fissure, "scan", name, "--python", python, "--output", folder, "--timeout",
               str(SECONDS), "--json"]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=output,
                             timeout=8 * SECONDS)
        report = json.loads(run.stdout.decode("utf-8", "replace"))
        code = run.returncode
    except subprocess.TimeoutExpired:
        return {"name": name, "status": "hangs", "seconds": time.time() - began, "findings": []}
    except ValueError:
        return {"name": name, "status": "broken", "seconds": time.time() - began, "findings": [],
                "problem": run.stderr.decode("utf-8", "replace")[-400:]}
    status = "could not be called" if code == 2 else "scanned"
    findings = [{"file": os.path.basename(finding["site"]["file"]), "line": finding["site"]["line"],
                 "function": finding["site"]["function"], "oracle": finding["oracle"],
                 "severity": finding["severity"], "level": finding["level"],
                 "sentence": finding["sentence"], "fix": (finding["fix"] or {}).get("title"),
                 "advice": finding["precondition"]} for finding in report["findings"]]
    return {"name": name, "status": status, "seconds": time.time() - began, "findings": findings,
            "runs": report["runs"], "notes": len(report["notes"]),
            "operations": (report.get("own_run") or {}).get("operations", 0),
            "problem": "; ".join(problem["message"] for problem in report["problems"])[:300]}


def main():
    # The scans run in the folder of their output.
    fissure, python, output = map(os.path.abspath, sys.argv[1:4])
    os.makedirs(output, exist_ok=True)
    results = []
    for name in functions(sys.argv[4:]):
        result = scan(fissure, python, output, name)
        results.append(result)
        print("%-70s %-20s %5.1f s  %d findings  %s" % (
            name, result["status"], result["seconds"], len(result["findings"]),
            result.get("problem", "") if result["status"] != "scanned" else ""), flush=True)
        with open(os.path.join(output, "results.json"), "w", encoding="utf-8") as handle:
            json.dump(results, handle, indent=1)
    scanned = [result for result in results if result["status"] == "scanned"]
    found = [result for result in scanned if result["findings"]]
    fixed = [finding for result in scanned for finding in result["findings"] if finding["fix"]]
    total = sum(len(result["findings"]) for result in scanned)
    print("%d functions, %d scanned (%.0f %%), %d with findings, %d findings, %d with a checked fix" % (
        len(results), len(scanned), 100.0 * len(scanned) / max(1, len(results)), len(found), total,
        len(fixed)))


if __name__ == "__main__":
    main()
