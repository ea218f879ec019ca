"""The figures of a timed campaign: breadth, speed, judging, what was found.

    python3 benches/economy.py target/release/fissure campaign torch --env torch==2.15.0 --total-time 20m --workers 2

Runs the command (in a folder of its own, unless `--output` names one) and reads its `summary.json`. Processor time is
that of all processes below it.
"""

import collections
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

#: Inputs that each cheap oracle should have looked at.
JUDGED = 64
#: Inputs that each API should have.
INPUTS = 150


def main(command):
    workers = int(command[command.index("--workers") + 1]) if "--workers" in command else 1
    with tempfile.TemporaryDirectory() as folder:
        if "--output" not in command:
            command = command + ["--output", os.path.join(folder, "run")]
        output = command[command.index("--output") + 1]
        begun = time.monotonic()
        ended = subprocess.run(command + ["--quiet"], stdout=subprocess.DEVNULL)
        took = time.monotonic() - begun
        if ended.returncode not in (0, 1):
            sys.exit("the command ended with %d" % ended.returncode)
        with open(os.path.join(output, "summary.json")) as file:
            summary = json.load(file)
        small, all_findings = made_small(os.path.join(output, "findings"))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime
    apis = summary["apis"]
    reached = [api["tally"]["inputs"] for api in apis]
    offered = len(apis) + sum("time" in reason for _, reason in summary["skipped"])
    print("%.1f s, load now %.1f" % (took, os.getloadavg()[0]))
    print("APIs offered %d, with inputs %d" % (offered, sum(count > 0 for count in reached)))
    print("  with at least %d inputs: %d" % (INPUTS, sum(count >= INPUTS for count in reached)))
    print("inputs %d, %.0f/s over all" % (sum(reached), sum(reached) / took))
    share = processor / (took * workers)
    print("processor time %.0f s: %.0f %% of %d cores" % (processor, 100 * share, workers))
    judged(apis, cheap(command[0]))
    print("findings %d, notes %d" % (summary["findings"], summary["notes"]))
    print("  made small or as small as they were: %d of %d" % (small, all_findings))


def cheap(program):
    """Names of the oracles that `fissure oracles` calls cheap."""
    told = subprocess.run([program, "oracles", "--json"], stdout=subprocess.PIPE, check=True)
    return {row["name"] for row in json.loads(told.stdout)["oracles"] if row["tier"] == "cheap"}


def judged(apis, cheap):
    inputs, seconds = collections.Counter(), collections.Counter()
    for api in apis:
        for oracle, tally in api["oracles"].items():
            inputs[oracle] += tally["inputs"]
            seconds[oracle] += tally["time"]
    cheap = [name for name in inputs if name in cheap]
    enough = 0
    accepting = [api for api in apis if api["tally"]["counts"]["accepted"] >= JUDGED]
    for api in accepting:
        least = min((api["oracles"].get(name, {}).get("inputs", 0) for name in cheap), default=0)
        enough += least >= JUDGED
    print(
        "judged by each of %d cheap oracles %d times or more: %d of %d APIs with that many accepted inputs"
        % (len(cheap), JUDGED, enough, len(accepting))
    )
    for name in sorted(inputs, key=lambda name: -seconds[name]):
        mean = 1e3 * seconds[name] / max(1, inputs[name])
        print(
            "  %-16s %8d inputs %8.1f s %7.2f ms each" % (name, inputs[name], seconds[name], mean)
        )


def made_small(folder):
    """How many findings were made small, or say that they could not be; and how many there are."""
    small = count = 0
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        try:
            with open(os.path.join(folder, name, "finding.json")) as file:
                finding = json.load(file)
        except OSError:
            continue
        if finding["verdict"].get("note"):
            continue
        count += 1
        small += not any("not made smaller" in remark for remark in finding.get("remarks", ()))
    return small, count


if __name__ == "__main__":
    main(sys.argv[1:])
