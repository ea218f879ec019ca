"""Search time of `fissure scan` on examples/numeric, and what other searches find in the same time.

    python benches/scan/compare.py --tools fissure,random,hypothesis,atheris --seconds 1
    python benches/scan/compare.py --tools total --fissure target/release/fissure
    python benches/scan/compare.py --tools fissure --library jax --processor

Needs Python 3.11 with the library (torch unless another is named); Hypothesis and Atheris from PyPI for their rows. Every tool changes the
same inputs in the same ranges (`--reach` bounds the unbounded ones) and is judged by the same
oracles at the line marked `# unstable`, operation by operation (not by the comparisons in wider
floats, which only the scan makes). Prints one JSON line per program and tool, then a summary.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(ROOT, "examples", "numeric")
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.join(ROOT, "crates", "fissure-testing", "python"))


TF1 = set()  # names of programs that mean TensorFlow 1 by `import tensorflow`


def programs(library):
    """(name, file) of the faulty programs, from the manifest of the library."""
    if library not in ("torch", "numpy"):
        import tomllib

        with open(os.path.join(EXAMPLES, "libraries.toml"), "rb") as handle:
            entries = [
                entry for entry in tomllib.load(handle)["program"] if entry["library"] == library
            ]
        TF1.update(entry["name"] for entry in entries if entry.get("tf1"))
        return [(entry["name"], entry["name"] + ".py") for entry in entries]
    with open(os.path.join(EXAMPLES, "manifest.toml"), encoding="utf-8") as handle:
        text = handle.read()
    found = re.findall(r'^name = "(.*)"\nfile = "(.*)"$', text, re.MULTILINE)
    return [row for row in found if library == "torch" or row[0].startswith("numpy_")]


def unstable_functions():
    """The registry, which the program hands to the runtime with its plan."""
    from registry_file import unstable_functions

    return unstable_functions(ROOT)


def marked_line(file):
    with open(file, encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            if "# unstable" in line:
                return number
    raise ValueError("%s has no marked line" % file)


REACH = ["medium"]


class Subject:
    """A program, its inputs, and the question whether values make it fail at the marked line."""

    def __init__(self, file):
        from fissure_scan.search.candidates import Variable
        from fissure_scan.watch.monitor import Policy
        from fissure_scan.steer import registry
        from fissure_scan.run.program import Program

        registry.load(unstable_functions())
        self.policy = Policy
        self.line = marked_line(file)
        os.chdir(os.path.dirname(file))
        self.program = Program({"file": file, "root": os.path.dirname(file)})
        self.baseline = self.program.run(Policy(watch_gradients=True, time_limit=60))
        self.program.settings.infos = self.baseline.inputs
        free = [info for info in self.baseline.inputs.values() if not info.frozen]
        self.inputs = [Variable(info) for info in free if info.kind != "weight"]
        self.weights = [Variable(info) for info in free if info.kind == "weight"]
        last = max(list(self.baseline.first_hit.values()) or [0])
        self.horizon = max(60, 2 * last)
        self.runs = 0

    def fails(self, values):
        self.runs += 1
        trace = self.program.run(
            self.policy(
                overrides=values,
                stop_after=self.horizon,
                backward_limit=1,
                time_limit=5.0,
                watch_gradients=self.baseline.backward_calls > 0,
            )
        )
        return any(failure.site.line == self.line for failure in trace.failures)

    def bounds(self, variable):
        """What the scan counts: up to 10⁴ times the own values (`high`), or up to ten times the
        root of the largest number (`medium`). Beyond that, correct code overflows too."""
        low, high = variable.inner_range()
        limit = 1e4 * variable.scale if REACH[0] == "high" else 10.0 * variable.limit**0.5
        return (
            low if variable.low is not None else -limit,
            high if variable.high is not None else limit,
        )


class Silence:
    """Stands for the Rust side of a session."""

    def emit(self, event, **fields):
        pass


def with_fissure(file, seconds):
    """The scan's own search, up to the confirmed finding at the marked line."""
    import in_process

    os.chdir(os.path.dirname(file))
    session = in_process.session(
        in_process.Events(),
        file,
        unstable_functions(),
        save_inputs=False,
        timeout=30.0,
        tf1=os.path.basename(file)[: -len(".py")] in TF1,
    )
    if not session.start():
        return None, 0
    session.run_search()
    times = [found.elapsed for found in in_process.found_at(session, marked_line(file))]
    return (min(times) if times else None), session.runner.runs


def with_random(file, seconds):
    """Normal draws whose size is drawn over twelve magnitudes around the program's own."""
    import numpy

    subject = Subject(file)
    state = numpy.random.RandomState(1)
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        values = {}
        for variable in subject.inputs:
            low, high = subject.bounds(variable)
            drawn = (
                state.standard_normal(variable.own.shape)
                * variable.scale
                * 10.0 ** state.uniform(-6, 6)
            )
            if variable.low is not None and variable.high is not None:
                drawn = low + (high - low) * state.random_sample(variable.own.shape)
            values[variable.key] = numpy.clip(drawn, low, high)
        if subject.fails(values):
            return time.perf_counter() - started, subject.runs
    return None, subject.runs


class OutOfTime(BaseException):
    pass


class Hit(Exception):
    pass


def with_hypothesis(file, seconds):
    import numpy
    from hypothesis import HealthCheck, Phase, given, settings, strategies
    from hypothesis.extra import numpy as arrays

    subject = Subject(file)
    parts = {}
    for variable in subject.inputs:
        low, high = subject.bounds(variable)
        width = 64 if variable.dtype == "float64" else 32
        if width == 32:
            low, high = float(numpy.float32(low)), float(numpy.float32(high))
        parts[variable.key] = arrays.arrays(
            numpy.float64,
            variable.own.shape,
            elements=strategies.floats(
                low, high, width=width, allow_nan=False, allow_infinity=False
            ),
        )
    started = time.perf_counter()

    @settings(
        max_examples=1000000,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.fixed_dictionaries(parts))
    def search(values):
        if time.perf_counter() - started > seconds:
            raise OutOfTime()
        if subject.fails(values):
            raise Hit()

    try:
        search()
    except Hit:
        return time.perf_counter() - started, subject.runs
    except OutOfTime:
        return None, subject.runs
    return None, subject.runs


def atheris_process(file, seconds):
    """Runs in a process of its own: libFuzzer ends it."""
    import atheris
    import numpy

    subject = Subject(file)
    started = [None]

    def one_input(data):
        if started[0] is None:
            started[0] = time.perf_counter()
        passed = time.perf_counter() - started[0]
        if passed > seconds:
            print("MISS %d" % subject.runs, flush=True)
            os._exit(0)
        provider = atheris.FuzzedDataProvider(data)
        values = {}
        for variable in subject.inputs:
            low, high = subject.bounds(variable)
            count = variable.own.size
            drawn = [provider.ConsumeRegularFloat() for _ in range(min(count, 64))]
            filled = numpy.resize(numpy.array(drawn), variable.own.shape)
            values[variable.key] = numpy.clip(numpy.nan_to_num(filled), low, high)
        if subject.fails(values):
            print("HIT %.6f %d" % (time.perf_counter() - started[0], subject.runs), flush=True)
            os._exit(0)

    atheris.Setup([sys.argv[0], "-max_len=8192", "-rss_limit_mb=0"], one_input)
    atheris.Fuzz()


def with_atheris(file, seconds):
    run = subprocess.run(
        [
            sys.executable,
            os.path.abspath(__file__),
            "--atheris-process",
            file,
            "--seconds",
            str(seconds),
            "--reach",
            REACH[0],
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = re.search(r"^(HIT|MISS)(?: ([0-9.]+))?(?: (\d+))?$", run.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(run.stdout[-500:] + run.stderr[-1500:])
    if found.group(1) == "HIT":
        return float(found.group(2)), int(found.group(3))
    return None, int(float(found.group(2)))


def totals(fissure, chosen, repeat):
    """The plain script and the whole scan, each the best of some: time on the clock, and processor
    time, which other work on the machine does not change."""
    rows = []
    output = tempfile.mkdtemp()
    for name, file in chosen:
        path = os.path.join(EXAMPLES, file)
        plain = _best([sys.executable, path], repeat)
        scan = _best(
            [fissure, "scan", path, "--python", sys.executable, "--output", output], repeat
        )
        rows.append((name, scan[0] - plain[0], scan[1] - plain[1]))
        print(
            json.dumps(
                {
                    "program": name,
                    "plain": plain[0],
                    "scan": scan[0],
                    "plain_processor": plain[1],
                    "scan_processor": scan[1],
                }
            ),
            flush=True,
        )
    for what, column in (("time on the clock", 1), ("processor time", 2)):
        more = sorted((row[column], row[0]) for row in rows)
        print(
            "scan minus plain script, %s: mean %.2f s, median %.2f s, worst %.2f s (%s)"
            % (
                what,
                sum(value for value, _ in more) / len(more),
                more[len(more) // 2][0],
                more[-1][0],
                more[-1][1],
            )
        )


def _best(command, repeat):
    runs = [_measured(command) for _ in range(repeat)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def _measured(command):
    """(seconds on the clock, seconds of processor time with all children)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    passed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(library):
    """What a library imports or compiles at first use is no search time of whoever comes first."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if library in ("tensorflow", "tensorflow1"):
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    elif library == "jax":
        import jax.numpy

        jax.numpy.ones(1).sum()
    elif library == "torch":
        import torch

        torch.set_num_threads(1)
        layer = torch.nn.Linear(1, 1)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.ones(1, 1)).sum().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="fissure,random,hypothesis,atheris")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--reach", choices=("high", "medium"), default="medium")
    parser.add_argument("--fissure", default="fissure")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--only", default="", help="names of programs, with commas")
    parser.add_argument(
        "--library", default="torch", choices=("torch", "numpy", "tensorflow", "tensorflow1", "jax")
    )
    parser.add_argument(
        "--processor",
        action="store_true",
        help="processor time, which other work on the machine does not change",
    )
    parser.add_argument("--atheris-process")
    arguments = parser.parse_args()
    REACH[0] = arguments.reach
    wanted = arguments.only.split(",") if arguments.only else None
    chosen = [row for row in programs(arguments.library) if wanted is None or row[0] in wanted]
    if arguments.tools == "total":
        totals(arguments.fissure, chosen, arguments.repeat)
        return
    prepare(arguments.library)
    if arguments.processor:
        time.perf_counter = time.process_time
    if arguments.atheris_process:
        atheris_process(arguments.atheris_process, arguments.seconds)
        return
    searches = {
        "fissure": with_fissure,
        "random": with_random,
        "hypothesis": with_hypothesis,
        "atheris": with_atheris,
    }
    for tool in arguments.tools.split(","):
        times = []
        for name, file in chosen:
            seconds, runs = searches[tool](os.path.join(EXAMPLES, file), arguments.seconds)
            print(
                json.dumps({"tool": tool, "program": name, "seconds": seconds, "runs": runs}),
                flush=True,
            )
            if seconds is not None:
                times.append(seconds)
        times.sort()
        print(
            "%s: %d of %d found; mean %.3f s, median %.3f s, worst %.3f s"
            % (
                tool,
                len(times),
                len(chosen),
                sum(times) / max(1, len(times)),
                times[len(times) // 2] if times else 0.0,
                times[-1] if times else 0.0,
            ),
            flush=True,
        )


main()
