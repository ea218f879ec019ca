"""`python start.py PLAN DESCRIPTOR`: one scan, told through an inherited socket."""

import importlib
import json
import os
import sys
import tempfile
import time

from .run.events import Channel, interrupt_once


# While the folder of the runtime is on the path: the program's own takes its place.
importlib.import_module("fissure_worker.dtypes")
# Importing counts: the time of a scan is the whole command's.
STARTED = time.monotonic()
# Seconds that are left for runs however long importing took.
LEAST = 5.0


def main():
    with open(sys.argv[1], encoding="utf-8") as handle:
        plan = json.load(handle)
    channel = Channel(int(sys.argv[2]))
    channel.end_with_peer()
    interrupt_once()
    try:
        scan(plan, channel)
    except KeyboardInterrupt:
        pass
    if not plan.get("many"):
        channel.emit("finished")
    # Nothing is left to be saved, and taking torch apart in order costs a tenth of a second.
    os._exit(0)


def scan(plan, channel):
    # TensorFlow tells its own story on standard error otherwise.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Compiled functions run where nobody watches; as ordinary Python they compute the same.
    os.environ.setdefault("PYTORCH_JIT", "0")
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    # Beside the packages, where it keeps what it compiles, nothing can be written.
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.join(tempfile.gettempdir(), "numba"))
    os.chdir(plan["directory"])
    sys.path[0] = plan["root"]
    versions = {"python": sys.version.split()[0]}
    for library in plan["libraries"]:
        try:
            module = __import__(library)
            versions[library] = getattr(module, "__version__", "unknown")
        except ImportError as error:
            if library in plan.get("optional", []):
                continue
            channel.emit(
                "failed",
                kind="library",
                file=None,
                line=None,
                message="%s cannot be imported by %s: %s" % (library, sys.executable, error),
            )
            return
    if "tensorflow" in versions:
        threading = sys.modules["tensorflow"].config.threading
        threading.set_intra_op_parallelism_threads(1)
        threading.set_inter_op_parallelism_threads(1)
    if "torch" in versions:
        sys.modules["torch"].set_num_threads(1)
    if not plan.get("many"):
        channel.emit("started", versions=versions)
    # After the libraries: the runtime adapts to those that are loaded.
    from .run import loading, targets, tests
    from .run.server import Server
    from .run.session import Session
    from .watch.users import UserFiles

    tests.become_program(plan)
    if plan.get("file"):
        # No part of the program's run, and slow.
        loading.preload(plan["file"], UserFiles(plan["root"], [plan["file"]]))
    if plan.get("alone"):
        Session(plan, channel).whole()
        return
    # Imported once, before anything is forked.
    targets.import_once(plan)
    plan["timeout"] = max(LEAST, plan["timeout"] - (time.monotonic() - STARTED))
    server = Server(plan, channel)
    server.forward_interrupts()
    server.run()


main()
