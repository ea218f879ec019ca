"""Scans inside this interpreter: what tests and benchmarks of the scan share."""

import os
import tempfile

# What `fissure scan` hands over when no flag and no file says otherwise.
CONFIG = {
    "tensor_size": None,
    "min_value": None,
    "max_value": None,
    "stop_on_failure": False,
    "oscillation_threshold": None,
    "max_fuzz_iterations": None,
    "mutation_rate": None,
    "gradient_backprop": True,
    "save_inputs": True,
}


class Events:
    """Stands for the Rust side of a session, and keeps what it was told."""

    def __init__(self):
        self.seen = []

    def emit(self, event, **fields):
        self.seen.append(dict(fields, event=event))

    def of(self, kind):
        return [event for event in self.seen if event["event"] == kind]


def session(events, file, registry, save_inputs=True, **more):
    """A session over a file, as the program would begin it; `more` are parts of its plan that are
    not the usual ones."""
    from fissure_scan.run.session import Session

    folder = os.path.dirname(file) if file else None
    plan = {
        "file": file,
        "module": None,
        "function": None,
        "arguments": [],
        "root": folder,
        "directory": folder,
        "regions": False,
        "timeout": 180.0,
        "own_run_timeout": 60.0,
        "level": 4,
        "inputs": {},
        "freeze": [],
        "weights": False,
        "strict": False,
        "registry": registry,
        "config": dict(CONFIG, save_inputs=save_inputs),
    }
    plan.update(more)
    if "output" not in plan:
        plan["output"] = tempfile.mkdtemp()
    return Session(plan, events)


def found_at(session, line):
    """Findings at a line that were confirmed."""
    return [
        found
        for found in session.collected.by_place.values()
        if found.failure.site.line == line
        and found.severity != "theoretical"
        and found.elapsed is not None
    ]
