"""Scans many programs in one interpreter, so that the library is imported once.

    python scan_examples.py RUNTIME_FOLDER OUTPUT_FOLDER REGISTRY.json LIBRARY PROGRAM...

A program whose name begins with `--tf1:` is scanned with that flag.

One JSON line per program: its findings and notes, and for each finding the exit code of its
reproduce.py (run here too, as a script of its own).
"""

import contextlib
import importlib
import io
import json
import os
import runpy
import sys

sys.path.insert(0, sys.argv[1])
sys.path.insert(0, os.path.join(sys.argv[1], "..", "crates", "fissure-testing", "python"))

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
LIBRARY = importlib.import_module(sys.argv[4])
import numpy


def fork_reproducers():
    """A process that has only imported the library and runs each script in a fork of its own: what
    a scan replaces in these libraries stays replaced, and importing them takes seconds."""
    asking, answering = os.pipe(), os.pipe()
    if os.fork():
        return os.fdopen(asking[1], "w"), os.fdopen(answering[0])
    os.close(asking[1])
    for line in os.fdopen(asking[0]):
        child = os.fork()
        if not child:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            os._exit(run_script(line.strip()) or 0)
        status = os.waitpid(child, 0)[1]
        os.write(answering[1], b"%d\n" % (status >> 8))
    os._exit(0)


OUTPUT, PROGRAMS = sys.argv[2], sys.argv[5:]
with open(sys.argv[3], encoding="utf-8") as handle:
    REGISTRY = json.load(handle)


def run_script(path):
    """The exit code of a script that is run here."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as stop:
        return stop.code
    return None


def reproduce(folder):
    path = os.path.join(folder, "reproduce.py")
    if REPRODUCERS is None:
        return run_script(path)
    REPRODUCERS.write(path + "\n")
    REPRODUCERS.flush()
    return int(ANSWERS.readline())


def scan(file):
    tf1 = file.startswith("--tf1:")
    file = file[len("--tf1:") :] if tf1 else file
    os.chdir(os.path.dirname(file))
    events = Events()
    session = in_process.session(
        events,
        file,
        REGISTRY,
        own_run_timeout=120,
        output=os.path.join(OUTPUT, os.path.basename(file)),
        tf1=tf1,
    )
    if session.start():
        session.run_search()
    answer = {"file": file, "findings": [], "notes": 0, "runs": 0, "seconds": 0.0, "error": None}
    for event in events.seen:
        if event["event"] == "own_run":
            answer["error"] = event["error"]
            answer["own_seconds"] = event["seconds"]
        elif event["event"] == "searched":
            answer["runs"], answer["seconds"] = event["runs"], event["seconds"]
        elif event["event"] == "finding" and event["severity"] == "theoretical":
            answer["notes"] += 1
        elif event["event"] == "finding":
            answer["findings"].append(
                {
                    "function": event["site"]["function"],
                    "line": event["site"]["line"],
                    "oracle": event["oracle"],
                    "also": event["also"],
                    "level": event["level"],
                    "producer": event["producer"],
                    "severity": event["severity"],
                    "label": event["label"],
                    "elapsed": event["elapsed"],
                    "reproduced": reproduce(event["folder"]),
                }
            )
    return answer


if sys.argv[4] == "torch":
    LIBRARY.set_num_threads(1)
    REPRODUCERS = ANSWERS = None
else:
    REPRODUCERS, ANSWERS = fork_reproducers()
import in_process
from in_process import Events

for program in PROGRAMS:
    print(json.dumps(scan(program)), flush=True)
