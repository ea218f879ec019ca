"""Two builds of Fissure beside each other: the same runs, in turn, and the ratio of their medians.

    python3 benches/two_builds.py OLD NEW API@ENVIRONMENT... [--rounds 5] [--inputs 10000]

Each round runs OLD and NEW once for each API and each set of oracles, in an order that changes from round to round.
Wall and processor time are those of the whole command with all processes below it; what a run of one batch of the same
library took in that round is taken off, so that what is left is the time of the inputs.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

#: `nan` looks at results that are there; `default` makes calls again.
ORACLES = ("nan", "default")
#: What a run costs that makes next to no inputs.
FEW = 64
#: Calls of oracles for each plain call; the default changed.
SHARE = "0.03"


def folder_flag(program):
    """What the flag for the folder of a run is called: it had another name once."""
    text = subprocess.run([program, "fuzz", "--help"], stdout=subprocess.PIPE).stdout
    return "--output" if b"--output" in text else "--workdir"


def seconds(program, target, inputs, oracles, more=()):
    """Wall and processor seconds of one run, with more flags."""
    api, environment = target.split("@")
    command = [program, "fuzz", api, "--max-iter", str(inputs), "--seed", "1", "--workers", "1"]
    command += ["--mode", "conform", "--oracles", oracles, "--judge-share", SHARE, "--quiet"]
    command += [*more, "--env", environment, folder_flag(program)]
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        ended = subprocess.run(
            command + [os.path.join(folder, "run")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        wall = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode not in (0, 1):
        raise SystemExit("%s ended with %d: %s" % (command, ended.returncode, ended.stderr[-800:]))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def measured(programs, arguments):
    """(target, oracles, build) → wall and processor seconds of the inputs, one pair a round."""
    taken = {}
    for number in range(arguments.rounds):
        begun = {}
        for target in arguments.targets:
            for oracles in ORACLES:
                for build, program in programs if number % 2 == 0 else programs[::-1]:
                    start = (target.split("@")[1], oracles, build)
                    if start not in begun:
                        begun[start] = seconds(program, target, FEW, oracles)
                    many = seconds(program, target, arguments.inputs, oracles)
                    left = [a - b for a, b in zip(many, begun[start])]
                    taken.setdefault((target, oracles, build), []).append(left)
    return taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("targets", nargs="+", metavar="API@ENVIRONMENT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=10000)
    arguments = parser.parse_args()
    taken = measured([("old", arguments.old), ("new", arguments.new)], arguments)
    count = arguments.inputs - FEW
    print("µs per input            oracles  processor old, new, ratio    wall old, new, ratio")
    ratios = {(oracles, clock): [] for oracles in ORACLES for clock in (0, 1)}
    for target in arguments.targets:
        for oracles in ORACLES:
            shown = []
            for clock in (1, 0):
                old, new = (
                    statistics.median(one[clock] for one in taken[target, oracles, build]) / count
                    for build in ("old", "new")
                )
                ratios[oracles, clock].append(new / old)
                shown.append("%8.1f %8.1f %5.2f" % (1e6 * old, 1e6 * new, new / old))
            print("%-23s %-8s %s  %s" % (target.split("@")[0], oracles, *shown))
    for oracles in ORACLES:
        middle = [statistics.geometric_mean(ratios[oracles, clock]) for clock in (1, 0)]
        print("geometric mean, %s: processor %.2f, wall %.2f of old" % (oracles, *middle))


if __name__ == "__main__":
    main()
