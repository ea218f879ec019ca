"""Calls of functions that others wrote, with the arguments that the scan makes up for them. Two uses:

    python benches/wild/calls.py whole [--every N] FISSURE ENVIRONMENTS OUTPUT [WORD...]
    python benches/wild/calls.py fixes ENVIRONMENTS OUTPUT [--inputs N]

`whole` measures the processor time of `fissure scan` beside a plain script that imports the function and calls it
once, for every Nth function of the list (6). `fixes` takes the checked fixes in the `results.json` that `run.py` left in
OUTPUT, and runs each on so many sets of ordinary data (1,000; half to 300 times the values of the call, inside the ranges that
the scan told) beside the unchanged package, in the arguments' own floats and in float64: worse is where the unchanged package was right (1 %)
and the changed one is not.
"""

import argparse
import json
import math
import os
import pickle
import resource
import shutil
import subprocess
import tempfile
import time

import run as corpus

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCALES = (0.5, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0)
RELATIVE, ABSOLUTE = 0.01, 1e-5
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "MPLBACKEND": "Agg",
    "PYTHONDONTWRITEBYTECODE": "1",
}

# Run in the interpreter of the library: prints the call as source text.
CAPTURE = """
import os, sys
sys.path[:0] = {paths!r}
import in_process
from registry_file import unstable_functions
from fissure_scan.run import targets
from fissure_scan.steer import registry
registry.load(unstable_functions({root!r}))
folder = os.getcwd()
module, _, function = {name!r}.partition(":")
session = in_process.session(in_process.Events(), None, unstable_functions({root!r}), module=module,
    function=function, root=folder, directory=folder, timeout=30.0, output=folder)
problem = targets.choose_arguments(session.program, None, 10.0)
text = session.program.call_text()
with open({file!r}, "w", encoding="utf-8") as handle:
    handle.write("" if problem or text is None else text)
"""

# A plain script: the call itself.
PLAIN = """
import importlib
def target():
    owner, value = None, importlib.import_module({module!r})
    for part in {function!r}.split("."):
        owner, value = value, getattr(value, part)
    if isinstance(owner, type):
        values = dict(CONSTRUCTOR or {{}})
        ordered = [values.pop(name) for name in (CONSTRUCTOR_POSITIONAL if CONSTRUCTOR else [])]
        value = getattr(owner(*(ordered + list(CONSTRUCTOR_REST if CONSTRUCTOR else [])), **values), part)
    return value
def call(change=lambda name, value: value):
    values = dict((name, change(name, value)) for name, value in CALL.items())
    ordered = [values.pop(name) for name in POSITIONAL]
    return target()(*(ordered + [change("argument_%d" % place, value) for place, value in enumerate(REST)]), **values)
"""

# The call on other data, again and again; the results go into a file.
MANY = """
import pickle, warnings
RANGES, WIDE, COUNT, FILE = {ranges!r}, {wide!r}, {count!r}, {file!r}
SCALES = {scales!r}
warnings.simplefilter("ignore")
numpy.seterr(all="ignore")
def plain(value):
    return value.detach().double().numpy() if hasattr(value, "detach") else numpy.asarray(value)
def other(number):
    def change(name, value):
        if not hasattr(value, "dtype") or "float" not in str(value.dtype) or not value.shape:
            if isinstance(value, (list, tuple)):
                return type(value)(change("%s[%d]" % (name, place), item) for place, item in enumerate(value))
            return value
        own = plain(value).astype(numpy.float64)
        if not own.size:
            return value
        generator = numpy.random.Generator(numpy.random.PCG64([number, len(name)]))
        size = float(numpy.abs(own).max()) or 1.0
        moved = own + (SCALES[number % len(SCALES)] - 1.0) * size * generator.uniform(-1.0, 1.0, own.shape)
        low, high = RANGES.get(name, (None, None))
        if (low, high) != (None, None):
            moved = numpy.clip(moved, low, high)
        held = moved.astype(numpy.float32).astype(numpy.float64)
        if type(value).__module__.startswith("torch"):
            import torch
            return torch.from_numpy(held).to(torch.float64 if WIDE else value.dtype)
        kind = "float64" if WIDE else str(getattr(value.dtype, "name", value.dtype))
        if type(value).__module__.startswith("tensorflow"):
            import tensorflow
            return tensorflow.constant(held.astype(kind))
        if type(value).__module__.startswith("jax"):
            import jax
            jax.config.update("jax_enable_x64", WIDE)
            return jax.numpy.asarray(held.astype(kind))
        return held.astype(kind)
    return change
def leaves(value):
    if isinstance(value, float) or hasattr(value, "dtype") and "float" in str(value.dtype):
        held = plain(value).astype(numpy.float64)
        return [(held.shape, held.ravel().tolist())]
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else []
answers = []
for number in range(COUNT):
    try:
        answers.append(leaves(call(other(number))))
    except Exception:
        answers.append(None)
with open(FILE, "wb") as handle:
    pickle.dump(answers, handle)
"""


def interpreter(environments, library):
    return os.path.join(environments, library, "bin", "python")


def captured(environments, output, library, name):
    """The source text of a call; empty where none is accepted."""
    folder = os.path.join(output, "calls")
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, name.replace(":", "-") + ".txt")
    if not os.path.exists(file):
        paths = [
            os.path.join(ROOT, "python"),
            os.path.join(ROOT, "benches", "scan"),
            os.path.join(ROOT, "crates", "fissure-testing", "python"),
        ]
        text = CAPTURE.format(paths=paths, root=ROOT, name=name, file=file)
        measured([interpreter(environments, library), "-c", text], folder, 120)
    if not os.path.exists(file):
        return ""
    with open(file, encoding="utf-8") as handle:
        text = handle.read()
    module, _, function = name.partition(":")
    return text and text + PLAIN.format(module=module, function=function)


def measured(command, folder, limit):
    """(processor time, time on the clock, exit code) of a command and all that it starts."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        code = subprocess.run(
            command,
            cwd=folder,
            env=dict(os.environ, **QUIET),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=limit,
        ).returncode
    except subprocess.TimeoutExpired:
        code = None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.monotonic() - began, code


def whole(options):
    rows = []
    for library, name in corpus.functions(options.words)[:: options.every]:
        python = interpreter(options.environments, library)
        text = captured(options.environments, options.output, library, name)
        if not text:
            print("%-60s no call" % name, flush=True)
            continue
        script = os.path.join(options.output, "plain.py")
        with open(script, "w", encoding="utf-8") as handle:
            handle.write(text + "\ncall()\n")
        plain = measured([python, script], options.output, 120)
        command = [options.fissure, "scan", name, "--python", python, "--json", "--output"]
        command += [os.path.join(options.output, "whole"), "--total-time", "10s"]
        scan = measured(command, options.output, 200)
        rows.append((name, plain, scan))
        print(
            "%-60s plain %5.1f s, scan %5.1f s of processor time, %.1f times; clock %.1f and %.1f s; exit codes %s and %s"
            % (name, plain[0], scan[0], scan[0] / plain[0], plain[1], scan[1], plain[2], scan[2]),
            flush=True,
        )
    good = [(plain[0], scan[0]) for _, plain, scan in rows if plain[2] == 0 and scan[2] in (0, 1)]
    ratios = sorted(two / one for one, two in good)
    print(
        "%d functions, %d measured: plain %.1f s, scan %.1f s of processor time in all (%.1f times); "
        "per function median %.1f times, least %.1f, most %.1f"
        % (
            len(rows),
            len(good),
            sum(one for one, _ in good),
            sum(two for _, two in good),
            sum(two for _, two in good) / sum(one for one, _ in good),
            ratios[len(ratios) // 2],
            ratios[0],
            ratios[-1],
        )
    )


def answers(python, text, folder, ranges, wide, count, first=None):
    """What the function gives for so many sets of data; `first` is a folder that packages come from first."""
    file = os.path.join(folder, "answers")
    if os.path.exists(file):
        os.remove(file)
    many = MANY.format(ranges=ranges, wide=wide, count=count, file=file, scales=SCALES)
    path = "import sys\nsys.path.insert(0, %r)\n" % first if first else ""
    script = os.path.join(folder, "many.py")
    with open(script, "w", encoding="utf-8") as handle:
        handle.write(path + text + many)
    measured([python, script], folder, 600)
    if not os.path.exists(file):
        return None
    with open(file, "rb") as handle:
        return pickle.load(handle)


def patched(python, name, diff, folder):
    """A folder with the package, changed."""
    package = name.partition(":")[0].split(".")[0]
    place = subprocess.run(
        [
            python,
            "-c",
            "import importlib.util; print(importlib.util.find_spec(%r).origin)" % package,
        ],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    origin = place.decode().strip().split("\n")[-1]
    shutil.copytree(os.path.dirname(origin), os.path.join(folder, package))
    subprocess.run(["patch", "-s", "-p1"], input=diff.encode("utf-8"), cwd=folder, check=True)
    return folder


def right(held, exact):
    """Answers are lists of (shape, elements)."""
    if held is None or [shape for shape, _ in held] != [shape for shape, _ in exact]:
        return False
    for (_, one), (_, two) in zip(held, exact):
        bound = RELATIVE * max(map(abs, two), default=0.0) + ABSOLUTE
        if not all(abs(first - second) <= bound for first, second in zip(one, two)):
            return False
    return True


def finite(answer):
    return all(math.isfinite(value) for _, values in answer for value in values)


def fixes(options):
    with open(os.path.join(options.output, "results.json"), encoding="utf-8") as handle:
        results = json.load(handle)
    libraries = dict((name, library) for library, name in corpus.functions([]))
    whole_tally = [0, 0, 0, 0, 0]
    for result in results:
        for finding in result["findings"]:
            if not finding.get("diff"):
                continue
            library, name = libraries[result["name"]], result["name"]
            text = captured(options.environments, options.output, library, name)
            tally = judged(
                interpreter(options.environments, library), text, result, finding, options.inputs
            )
            print(
                "%-60s line %d: %s: %s" % (name, finding["line"], finding["fix"], tally), flush=True
            )
            whole_tally = [one + two for one, two in zip(whole_tally, tally or [0] * 5)]
    print(
        "%d sets of data, %d compared, right before %d, right after %d, worse %d"
        % tuple(whole_tally)
    )


def judged(python, text, result, finding, count):
    """[sets, compared, right before, right after, worse] of a fix; None where it could not be run."""
    ranges = dict((entry["name"], (entry["low"], entry["high"])) for entry in result["inputs"])
    with tempfile.TemporaryDirectory() as folder:
        exact = answers(python, text, folder, ranges, True, count)
        before = answers(python, text, folder, ranges, False, count)
        changed = patched(python, result["name"], finding["diff"], os.path.join(folder, "changed"))
        after = answers(python, text, folder, ranges, False, count, changed)
    if not exact or not before or not after:
        return None
    tally = [count, 0, 0, 0, 0]
    for one, two, three in zip(exact, before, after):
        if not one or two is None or not finite(one):
            continue
        good, better = right(two, one), right(three, one)
        tally = [
            tally[0],
            tally[1] + 1,
            tally[2] + good,
            tally[3] + better,
            tally[4] + (good and not better),
        ]
    return tally


def main():
    parser = argparse.ArgumentParser()
    kinds = parser.add_subparsers(dest="kind", required=True)
    first = kinds.add_parser("whole")
    first.add_argument("fissure")
    second = kinds.add_parser("fixes")
    for kind in (first, second):
        kind.add_argument("environments")
        kind.add_argument("output")
    first.add_argument("--every", type=int, default=6)
    first.add_argument("words", nargs="*")
    second.add_argument("--inputs", type=int, default=1000)
    options = parser.parse_args()
    options.environments, options.output = map(
        os.path.abspath, (options.environments, options.output)
    )
    os.makedirs(options.output, exist_ok=True)
    if options.kind == "whole":
        options.fissure = os.path.abspath(options.fissure)
        whole(options)
    else:
        fixes(options)


if __name__ == "__main__":
    main()
