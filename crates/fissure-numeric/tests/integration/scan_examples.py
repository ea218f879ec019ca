"""Scans many programs in one interpreter, so that torch is imported once.

    python scan_examples.py RUNTIME_FOLDER OUTPUT_FOLDER REGISTRY.json PROGRAM...

One JSON line per program: its findings and notes, and for each finding the exit code of its
reproduce.py (run here too, as a script of its own).
"""

import contextlib
import io
import json
import os
import runpy
import sys

sys.path.insert(0, sys.argv[1])

import torch

from fissure_scan.session import Session

torch.set_num_threads(1)
OUTPUT, PROGRAMS = sys.argv[2], sys.argv[4:]
with open(sys.argv[3], encoding="utf-8") as handle:
    REGISTRY = json.load(handle)
CONFIG = {"tensor_size": None, "min_value": None, "max_value": None, "stop_on_failure": False,
          "oscillation_threshold": None, "max_fuzz_iterations": None, "mutation_rate": None,
          "gradient_backprop": True, "save_inputs": True}


class Events:
    def __init__(self):
        self.seen = []

    def emit(self, event, **fields):
        fields["event"] = event
        self.seen.append(fields)


def reproduce(folder):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(os.path.join(folder, "reproduce.py"), run_name="__main__")
    except SystemExit as stop:
        return stop.code
    return None


def scan(file):
    os.chdir(os.path.dirname(file))
    output = os.path.join(OUTPUT, os.path.basename(file))
    plan = {"file": file, "module": None, "function": None, "arguments": [],
            "root": os.path.dirname(file), "directory": os.path.dirname(file), "regions": False,
            "timeout": 60, "own_run_timeout": 120, "level": 4, "inputs": {}, "freeze": [],
            "weights": False, "strict": False, "output": output, "registry": REGISTRY,
            "config": CONFIG}
    events = Events()
    session = Session(plan, events)
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
            answer["findings"].append({
                "function": event["site"]["function"], "line": event["site"]["line"],
                "oracle": event["oracle"], "also": event["also"], "level": event["level"],
                "producer": event["producer"], "severity": event["severity"],
                "label": event["label"], "elapsed": event["elapsed"],
                "reproduced": reproduce(event["folder"]),
            })
    return answer


for program in PROGRAMS:
    print(json.dumps(scan(program)), flush=True)
