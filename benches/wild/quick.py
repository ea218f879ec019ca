"""The functions of one library in forks of one process, which imports their packages once:

    LIBRARY_PYTHON benches/wild/quick.py LIBRARY OUTPUT [WORD...]

As `run.py` it adds to `results.json` in OUTPUT what is not in it yet; fixes are not looked for. On a machine that
is busy the imports are most of the time of `run.py`. JAX and TensorFlow have threads that a fork does not
take along: only torch and NumPy functions can be scanned in this way.
"""

import importlib
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "benches", "scan"))
sys.path.insert(0, os.path.join(ROOT, "crates", "fissure-testing", "python"))
sys.path.insert(0, os.path.join(ROOT, "python"))
import in_process
import run as corpus
from registry_file import unstable_functions

os.environ.setdefault("PYTORCH_JIT", "0")
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("MPLBACKEND", "Agg")
SECONDS = 10


def scan(name, registry, output):
    """What `run.py` keeps of a function, by a session in this process."""
    module, _, function = name.partition(":")
    began, processor, events = time.time(), time.process_time(), in_process.Events()
    session = in_process.session(
        events,
        None,
        registry,
        module=module,
        function=function,
        root=output,
        directory=output,
        timeout=SECONDS,
        own_run_timeout=SECONDS,
        output=os.path.join(output, name.replace(":", "-")),
    )
    started = session.start()
    if started:
        session.run_search()
    told = events.of("finding")
    problem = session.problem or "; ".join(
        str(event.get("message")) for event in events.of("failed")
    )
    return {
        "name": name,
        "status": "scanned" if started else "could not be called",
        "seconds": time.time() - began,
        "processor": time.process_time() - processor,
        "findings": [_kept(event) for event in told if event["severity"] != "theoretical"],
        "runs": session.runner.runs if session.runner else 0,
        "notes": sum(event["severity"] == "theoretical" for event in told),
        "operations": session.baseline.operations if session.baseline else 0,
        "problem": str(problem)[:300],
    }


def _kept(event):
    return {
        "file": os.path.basename(event["site"]["file"]),
        "line": event["site"]["line"],
        "function": event["site"]["function"],
        "oracle": event["oracle"],
        "severity": event["severity"],
        "level": event["level"],
        "sentence": event["sentence"],
        "same_cause": [site["line"] for site in event["same_cause"]],
        "reproduced": event["reproduced"],
        "fix": None,
        "ordinary_inputs": None,
        "advice": event["advice"],
    }


def forked(name, registry, output):
    reading, writing = os.pipe()
    began, child = time.time(), os.fork()
    if not child:
        os.close(reading)
        try:
            answer = scan(name, registry, output)
        except BaseException as error:
            answer = {
                "name": name,
                "status": "broken",
                "seconds": time.time() - began,
                "findings": [],
                "problem": "%s: %s" % (type(error).__name__, error),
            }
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    signal.signal(signal.SIGALRM, lambda number, frame: os.kill(child, signal.SIGKILL))
    signal.alarm(20 * SECONDS)
    with os.fdopen(reading, "rb") as handle:
        text = handle.read()
    signal.alarm(0)
    os.waitpid(child, 0)
    if not text:
        return {"name": name, "status": "hangs", "seconds": time.time() - began, "findings": []}
    return json.loads(text)


def main():
    library, output = sys.argv[1:3]
    registry = unstable_functions(ROOT)
    output = os.path.abspath(output)
    os.makedirs(output, exist_ok=True)
    store = os.path.join(output, "results.json")
    os.chdir(output)
    importlib.import_module(library)
    importlib.import_module("fissure_scan.run.session")
    if library == "torch":
        sys.modules["torch"].set_num_threads(1)
    for owner, name in corpus.functions(sys.argv[3:]):
        results = []
        if os.path.exists(store):
            with open(store, encoding="utf-8") as handle:
                results = json.load(handle)
        if owner != library or name in set(result["name"] for result in results):
            continue
        try:
            importlib.import_module(name.partition(":")[0])
            result = forked(name, registry, output)
        except Exception as error:
            result = {
                "name": name,
                "status": "could not be imported",
                "seconds": 0.0,
                "findings": [],
                "problem": "%s: %s" % (type(error).__name__, error),
            }
        results.append(result)
        corpus.tell(result)
        with open(store, "w", encoding="utf-8") as handle:
            json.dump(results, handle, indent=1)
    corpus.table(results)


if __name__ == "__main__":
    main()
