"""Writes the documentation of one object into a file: what a language model is told of an API.

Run as a script. The variable FISSURE_DOCUMENTATION holds JSON: the dotted `path`, the `file`.
"""

import importlib
import inspect
import json
import os


def resolve(path):
    """The object: the longest importable module, then attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            target = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for name in parts[length:]:
            target = getattr(target, name)
        return target
    raise ImportError("no module in %r" % path)


def main():
    request = json.loads(os.environ["FISSURE_DOCUMENTATION"])
    target = resolve(request["path"])
    text = inspect.getdoc(target) or ""
    if isinstance(target, type):
        text += "\n\n" + (inspect.getdoc(target.__init__) or "")
    with open(request["file"], "w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
