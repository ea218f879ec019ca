"""First code inside the target's interpreter: takes its configuration and the other files from an
inherited file descriptor, so that nothing is installed and nothing lies where the target writes.

Run as ``python -c <this text> <descriptor>``.
"""

import importlib.abc
import importlib.util
import json
import os
import sys


class Embedded(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports Fissure's own files from their texts, each when it is first asked for."""

    def __init__(self, sources):
        #: Path below the folder `python` → text.
        self.sources = sources

    def file_of(self, name):
        base = name.replace(".", "/")
        for file in (base + "/__init__.py", base + ".py"):
            if file in self.sources:
                return file
        return None

    def find_spec(self, name, path=None, target=None):
        file = self.file_of(name)
        if file is None:
            return None
        package = file.endswith("/__init__.py")
        return importlib.util.spec_from_loader(name, self, is_package=package)

    def create_module(self, spec):
        return None

    def get_source(self, name):
        """The text of a module: whoever shows a traceback would look for its file on the whole search path."""
        return self.sources.get(self.file_of(name))

    def exec_module(self, module):
        file = self.file_of(module.__name__)
        # The angle brackets mark Fissure's own frames in tracebacks.
        module.__file__ = "<fissure>/" + file
        exec(compile(self.sources[file], module.__file__, "exec"), module.__dict__)


def load(descriptor):
    with os.fdopen(descriptor, "rb") as stream:
        stream.seek(0)
        configuration = json.loads(stream.read().decode("utf-8"))
    # `-c` puts the current folder first on the search path: random files there are no libraries.
    if sys.path and sys.path[0] == "":
        del sys.path[0]
    sys.meta_path.insert(0, Embedded(configuration.pop("sources")))
    return configuration


if __name__ == "__main__":
    settings = load(int(sys.argv[1]))
    sys.argv = ["fissure"]
    importlib.import_module("fissure_worker.zygote").main(settings)
