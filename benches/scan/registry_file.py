"""The registry of unstable functions as the program hands it to the runtime, read from `data/functions`."""

import os
import tomllib


def tables(folder):
    for base, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            if name.endswith(".toml"):
                with open(os.path.join(base, name), "rb") as stream:
                    yield tomllib.load(stream)


def forms(name):
    module, _, last = name.rpartition(".")
    yield name
    if module == "torch" and not last.endswith("_"):
        for form in ("torch.%s_", "torch.Tensor.%s", "torch.Tensor.%s_"):
            yield form % last


def unstable_functions(root):
    functions, entries = {}, {}
    for table in tables(os.path.join(root, "data", "functions")):
        functions.update((row["name"], row) for row in table.get("function", ()))
        entries.update((row["name"], dict(row)) for row in table.get("unstable", ()))
    for name, entry in entries.items():
        members = [functions[it] for it in entry.pop("functions")]
        also = entry.pop("also", [])
        entry["torch"] = [
            form for it in members for listed in it.get("torch", ()) for form in forms(listed)
        ]
        entry["torch"] += [it for it in also if it.startswith("torch.")]
        entry["numpy"] = [listed for it in members for listed in it.get("numpy", ())]
        entry["numpy"] += [it for it in also if it.startswith("numpy.")]
        if "range" in functions.get(name, ()):
            entry["range"] = functions[name]["range"]
    return entries
