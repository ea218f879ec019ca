"""First code inside the target's interpreter: takes its configuration and the other files from an
inherited file descriptor, so that nothing is installed and nothing lies where the target writes.

Run as ``python -c <this text> <descriptor>``.
"""

import json
import os
import sys
import types


def load(descriptor):
    with os.fdopen(descriptor, "rb") as stream:
        stream.seek(0)
        configuration = json.loads(stream.read().decode("utf-8"))
    # `-c` puts the current folder first on the search path: random files there are no libraries.
    if sys.path and sys.path[0] == "":
        del sys.path[0]
    package = types.ModuleType("_fissure")
    package.__path__ = []
    sys.modules["_fissure"] = package
    sources = configuration.pop("sources")
    packages = {name.rpartition(".")[0] for name, _ in sources}
    # Each file comes after those that it imports.
    for name, text in sources:
        module = types.ModuleType("_fissure." + name)
        if name in packages:
            module.__path__ = []
        parent, _, last = module.__name__.rpartition(".")
        module.__package__ = module.__name__ if name in packages else parent
        # The angle brackets mark Fissure's own frames in tracebacks.
        module.__file__ = "<fissure>/" + name.replace(".", "/") + ".py"
        sys.modules[module.__name__] = module
        setattr(sys.modules[parent], last, module)
        exec(compile(text, module.__file__, "exec"), module.__dict__)
    return configuration


if __name__ == "__main__":
    settings = load(int(sys.argv[1]))
    sys.argv = ["fissure"]
    sys.modules["_fissure.zygote"].main(settings)
