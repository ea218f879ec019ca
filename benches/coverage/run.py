"""Native coverage: what it costs, and what each way of making inputs reaches.

    python3 benches/coverage/run.py overhead FISSURE ENVIRONMENT [--apis 30] [--rounds 3] [--inputs 20000]
    python3 benches/coverage/run.py guided FISSURE ENVIRONMENT [--apis 30] [--seeds 5] [--api-time 10s]
    python3 benches/coverage/run.py deep FISSURE [--seeds 5] [--api-time 20s]
    python3 benches/coverage/run.py makers FISSURE ENVIRONMENT --specs DIR [--apis 30] [--api-time 20s] [--plot FILE]
    python3 benches/coverage/run.py samples FISSURE ENVIRONMENT [--total-time 10m]

`overhead` compares processor time with and without `--coverage`, after the inputs that run blocks for the first time.
`guided` and `makers` give each API the same time by the clock, one worker each, and run what is compared at the same
time, so give them as many idle cores. `deep` fuzzes `deep.c`, whose functions die behind nested conditions on rank,
sizes, element type, elements and numbers. `samples` runs the samples of PyTorch's own tests (OpInfo) under coverage and
then a campaign over the same operators.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

import two_builds

#: Inputs of which the first visits of blocks are: they count for neither side.
WARM = 2000
PLAIN = ["--judge-share", "0", "--oracles", "nan", "--max-iter", "-1", "--quiet"]


def with_rules(count, seed=0):
    """Functions of PyTorch with shipped rules, drawn at random."""
    names = sorted(os.listdir(os.path.join(ROOT, "data/invariants/torch")))
    rules = [name[: -len(".rules")] for name in names if name.endswith(".rules")]
    functions = [name for name in rules if re.search(r"\.[a-z_0-9]+$", name)]
    return sorted(random.Random(seed).sample(functions, count))


def started(program, words, folder, more=PLAIN):
    command = [program, *words, *more, "--output", folder]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=os.path.dirname(folder))


def ended(process):
    if process.wait() not in (0, 1):
        raise SystemExit("%s ended with %d" % (process.args, process.returncode))


def reached(program, *folders):
    """What `fissure coverage` says of runs: blocks of each API, of all, and their growth."""
    command = [program, "coverage", *folders, "--json"]
    record = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return record


def blocks_of(record):
    return {api[0]: api[1] for api in record["apis"]}


def native(record):
    """Blocks of machine code; lines of Python are blocks too."""
    return sum(
        it["reached_blocks"]
        for it in record["summary"]["modules"]
        if "(Python)" not in it["module"]
    )


def overhead(arguments):
    ratios = []
    print("%-44s %9s %9s %6s" % ("µs of the processor per input", "without", "with", "ratio"))
    for api in with_rules(arguments.apis):
        target = "%s@%s" % (api, arguments.environment)
        taken = {"without": [], "with": []}
        for number in range(arguments.rounds):
            sides = [("without", []), ("with", ["--coverage"])]
            for side, more in sides if number % 2 == 0 else sides[::-1]:
                few, many = (
                    two_builds.seconds(arguments.fissure, target, inputs, "nan", more)[1]
                    for inputs in (WARM, WARM + arguments.inputs)
                )
                taken[side].append((many - few) / arguments.inputs * 1e6)
        plain, armed = (statistics.median(taken[side]) for side in ("without", "with"))
        ratios.append(armed / plain)
        print("%-44s %9.1f %9.1f %6.3f" % (api, plain, armed, armed / plain), flush=True)
    print("geometric mean of %d: %.3f" % (len(ratios), statistics.geometric_mean(ratios)))


def guided(arguments):
    apis = with_rules(arguments.apis)
    gains, totals = collections.defaultdict(list), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seeds):
            words = [
                "fuzz",
                *apis,
                "--env",
                arguments.environment,
                "--api-time",
                arguments.api_time,
            ]
            words += ["--workers", "1", "--seed", str(seed)]
            sides = {"plain": ["--coverage"], "guided": ["--guide", "coverage"]}
            folders = {side: os.path.join(folder, "%s-%d" % (side, seed)) for side in sides}
            running = [started(arguments.fissure, words + sides[it], folders[it]) for it in sides]
            for process in running:
                ended(process)
            records = {side: reached(arguments.fissure, folders[side]) for side in sides}
            each = {side: blocks_of(records[side]) for side in sides}
            for api in apis:
                if each["plain"].get(api) and each["guided"].get(api):
                    gains[api].append(each["guided"][api] / each["plain"][api])
            for side in sides:
                totals[side].append(native(records[side]))
            print(
                "seed %d: all APIs together %s" % (seed, {it: totals[it][-1] for it in sides}),
                flush=True,
            )
    print("%-44s %s" % ("blocks guided / not guided, each seed", "geometric mean"))
    means = []
    for api, ratios in sorted(gains.items()):
        means.append(statistics.geometric_mean(ratios))
        print("%-44s %.3f  (%s)" % (api, means[-1], " ".join("%.3f" % it for it in ratios)))
    better, worse = (
        sum(1 for it in means if test(it)) for test in (lambda it: it > 1.01, lambda it: it < 0.99)
    )
    print(
        "%d APIs: geometric mean %.3f; more than 1 %% better %d, worse %d"
        % (len(means), statistics.geometric_mean(means), better, worse)
    )
    print(
        "all APIs together, median over seeds: %s"
        % {it: statistics.median(totals[it]) for it in totals}
    )


def deep(arguments):
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "package")
        os.mkdir(package)
        shutil.copy(os.path.join(HERE, "deep.py"), package)
        library = os.path.join(package, "libdeep.so")
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "deep.c")],
            check=True,
        )
        with open(os.path.join(HERE, "deep.py")) as file:
            names = re.findall(r"^def ([a-z]\w*)\(", file.read(), re.M)
        sides = {"plain": ["--coverage"], "guided": ["--guide", "coverage"]}
        for seed in range(arguments.seeds):
            words = [
                "fuzz",
                *("deep." + name for name in names),
                "--env",
                "numpy",
                "--workers",
                "1",
            ]
            words += [
                "--pythonpath",
                package,
                "--api-time",
                arguments.api_time,
                "--seed",
                str(seed),
            ]
            folders = {side: os.path.join(folder, "%s-%d" % (side, seed)) for side in sides}
            for process in [
                started(arguments.fissure, words + sides[it], folders[it]) for it in sides
            ]:
                ended(process)
            for side in sides:
                with open(os.path.join(folders[side], "summary.json")) as file:
                    for api in json.load(file)["apis"]:
                        found[side, api["api"]["title"]] += bool(api["tally"]["counts"]["crash"])
    for name in names:
        counts = [
            "%s %d of %d" % (side, found[side, "deep." + name], arguments.seeds) for side in sides
        ]
        print("%-20s %s" % (name, ", ".join(counts)), flush=True)


def makers(arguments):
    """Random inputs, constraint files, learned rules, guided: blocks after equal time, and their growth."""
    files = {
        name[: -len(".yaml")] for name in os.listdir(arguments.specs) if name.endswith(".yaml")
    }
    apis = [api for api in with_rules(600) if api in files][
        :: max(1, len(files & set(with_rules(600))) // arguments.apis)
    ]
    apis = apis[: arguments.apis]
    paths = [os.path.join(os.path.abspath(arguments.specs), api + ".yaml") for api in apis]
    sides = {
        "random": [*apis, "--generator", "random", "--coverage"],
        "constraint files": [*paths, "--generator", "constraints", "--coverage"],
        "learned rules": [*apis, "--generator", "rules", "--coverage"],
        "guided": [*apis, "--guide", "coverage"],
    }
    curves = {}
    with tempfile.TemporaryDirectory() as folder:
        words = ["--env", arguments.environment, "--workers", "1", "--api-time", arguments.api_time]
        for pair in (list(sides)[:2], list(sides)[2:]):
            folders = {side: os.path.join(folder, side.replace(" ", "-")) for side in pair}
            for process in [
                started(arguments.fissure, ["fuzz", *sides[it], *words], folders[it]) for it in pair
            ]:
                ended(process)
            for side in pair:
                record = reached(arguments.fissure, folders[side])
                each = blocks_of(record)
                mean = statistics.geometric_mean([each[api] for api in apis if each.get(api)])
                curves[side] = [
                    (it["milliseconds"] / 1000, it["blocks"]) for it in record["growth"]
                ]
                print(
                    "%-18s %d APIs, geometric mean of blocks %.0f, all together %d"
                    % (side, len(each), mean, native(record)),
                    flush=True,
                )
    if arguments.plot:
        with open(arguments.plot, "w") as file:
            file.write(plot(curves))


def plot(curves):
    """Blocks over seconds, as SVG."""
    width, height, left, colours = 720, 360, 70, ("#888", "#c60", "#06c", "#080")
    longest = max(points[-1][0] for points in curves.values())
    most = max(points[-1][1] for points in curves.values())
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">'
        % (width, height)
    ]
    parts.append('<rect width="%d" height="%d" fill="white"/>' % (width, height))
    for share in (0.25, 0.5, 0.75, 1):
        y = 320 - 290 * share
        parts.append(
            '<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="#ddd"/>' % (left, y, width, y)
        )
        parts.append('<text x="5" y="%.0f">%d</text>' % (y + 4, most * share))
        parts.append(
            '<text x="%.0f" y="340">%.0f s</text>'
            % (left + (width - left) * share - 40, longest * share)
        )
    for place, (side, points) in enumerate(curves.items()):
        colour = colours[place % len(colours)]
        line = " ".join(
            "%.1f,%.1f" % (left + (width - left) * at / longest, 320 - 290 * blocks / most)
            for at, blocks in points
        )
        parts.append(
            '<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colour, line)
        )
        parts.append(
            '<text x="%d" y="%d" fill="%s">%s</text>' % (left + 10, 20 + 16 * place, colour, side)
        )
    return "\n".join([*parts, "</svg>", ""])


def operators(arguments):
    """Public functions that PyTorch's tests have samples for."""
    known = subprocess.run(
        [arguments.fissure, "env", "list", "--json"], stdout=subprocess.PIPE, check=True
    )
    library, version = arguments.environment.split("==")
    (python,) = (
        it["python"]
        for it in json.loads(known.stdout)
        if (it["distribution"], it["version"]) == (library, version)
    )
    found = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
    script = [python, os.path.join(HERE, "samples.py")]
    names = subprocess.run(script, stdout=subprocess.PIPE, check=True, env=found, text=True)
    return sorted(set(names.stdout.split()))


def samples(arguments):
    words = ["--env", arguments.environment]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("forward", "backward"):
            run = os.path.join(folder, name)
            command = [
                "fuzz",
                "samples." + name,
                "--pythonpath",
                HERE,
                "--coverage",
            ]
            command += ["--timeout", "3000", "--workers", "1", *words]
            ended(started(arguments.fissure, command, run, ["--max-iter", "1", "--quiet"]))
            record = reached(arguments.fissure, run)
            print("samples, %s: %d blocks" % (name, native(record)), flush=True)
        run = os.path.join(folder, "campaign")
        apis = operators(arguments)
        command = ["campaign", "torch", "--coverage", "--total-time", arguments.total_time, *words]
        for api in apis:
            command += ["--api", api]
        ended(started(arguments.fissure, command, run, ["--quiet"]))
        record = reached(arguments.fissure, run)
        print("campaign over %d operators: %d blocks" % (len(apis), native(record)))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for run in (overhead, guided, deep, makers, samples):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("fissure", type=os.path.abspath)
        if run is not deep:
            command.add_argument("environment")
        command.add_argument("--apis", type=int, default=30)
        command.add_argument("--rounds", type=int, default=3)
        command.add_argument("--inputs", type=int, default=20000)
        command.add_argument("--seeds", type=int, default=5)
        command.add_argument("--api-time", default="10s")
        command.add_argument("--total-time", default="10m")
        command.add_argument("--specs", help="a folder of constraint files")
        command.add_argument("--plot")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
