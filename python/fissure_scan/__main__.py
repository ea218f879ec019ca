"""`python start.py PLAN DESCRIPTOR`: one scan, told through an inherited socket."""

import os
import sys

from .events import Channel
from .session import Session, load


def main():
    plan = load(sys.argv[1])
    channel = Channel(int(sys.argv[2]))
    os.chdir(plan["directory"])
    sys.path[0] = plan["root"]
    versions = {"python": sys.version.split()[0]}
    for library in plan["libraries"]:
        try:
            module = __import__(library)
            versions[library] = getattr(module, "__version__", "unknown")
        except ImportError as error:
            channel.emit("failed", kind="library", file=None, line=None,
                         message="%s cannot be imported by %s: %s" % (library, sys.executable,
                                                                      error))
            return
    if "torch" in versions:
        sys.modules["torch"].set_num_threads(1)
    channel.emit("started", versions=versions)
    session = Session(plan, channel)
    if session.start():
        session.run_search()
        session.serve()
    else:
        channel.emit("finished")


main()
