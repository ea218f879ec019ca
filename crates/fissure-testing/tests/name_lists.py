"""Lists of names of library functions in code, and questions whether a text is part of such a name.

    python name_lists.py REPOSITORY [REPOSITORY_OF_THE_TABLE]

One line for each: `list FILE NAME COUNT` (a set, tuple, list or the keys of a dict, or a text that is split, of five or
more texts of which most are functions or operations of `data/functions`; in Rust, where `NAME` is `texts`, texts with
commas or bars between) or `substring FILE LINE`. Run by names.rs. The second argument counts an older tree.
"""

import ast
import os
import re
import sys

ROOT = sys.argv[1]
TABLE = sys.argv[-1]
PACKAGES = ("fissure_worker", "fissure_scan", "fissure_sweep", "fissure_train")
# Of one list; fewer are a case distinction, not a list.
LEAST = 5
SHARE = 0.7
# Variables that hold the name of a function.
NAMES = ("name", "path", "title")


def table():
    """Last parts of all names of functions and operations in the table."""
    found = set()
    for folder, _, files in os.walk(os.path.join(TABLE, "data/functions")):
        for file in files:
            if file.endswith(".toml") and file != "objects.toml":
                with open(os.path.join(folder, file), encoding="utf-8") as handle:
                    text = handle.read()
                for line in re.findall(
                    r"(?m)^(?:name|names|torch|numpy|tensorflow|jax|mxnet|graph) = .*$", text
                ):
                    for name in re.findall(r'"([\w.]+)"', line):
                        found.add(name.rsplit(".", 1)[-1])
    return found


def texts(node):
    """The texts that a literal lists, or nothing."""
    if isinstance(node, ast.Call) and node.args:
        function = node.func
        if isinstance(function, ast.Name) and function.id in ("frozenset", "set", "tuple"):
            return texts(node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        held = node.func.value
        if node.func.attr == "split" and isinstance(held, ast.Constant):
            return held.value.split() if isinstance(held.value, str) else []
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        held = node.elts
    elif isinstance(node, ast.Dict):
        held = node.keys
    else:
        return []
    found = [item.value for item in held if isinstance(item, ast.Constant)]
    return [item for item in found if isinstance(item, str)]


def lists(tree, known):
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
        elif isinstance(node, ast.Compare):
            name, value = "line %d" % node.lineno, node.comparators[0]
        else:
            continue
        listed = texts(value)
        if len(listed) >= LEAST and sum(item in known for item in listed) >= SHARE * len(listed):
            yield name, len(listed)


def substrings(tree):
    """`"lu" in name`: a part of a name says nothing about a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            left, right = node.left, node.comparators[0]
            told = isinstance(left, ast.Constant) and isinstance(left.value, str)
            held = getattr(right, "attr", getattr(right, "id", ""))
            if told and held in NAMES and re.match(r"\w+$", left.value):
                yield node.lineno


def rust_lists(text, known):
    """Counts of lists in Rust, tests left out."""
    text = text.split("#[cfg(test)]")[0]
    for found in re.findall(r'"[\w.]+"(?:\s*[,|]\s*"[\w.]+")+', text):
        listed = {item.rsplit(".", 1)[-1] for item in re.findall(r'"([\w.]+)"', found)}
        if len(listed) >= LEAST and sum(item in known for item in listed) >= SHARE * len(listed):
            yield len(listed)


def sources(top, ending):
    for folder, _, files in sorted(os.walk(os.path.join(ROOT, top))):
        for file in sorted(files):
            if file.endswith(ending):
                path = os.path.join(folder, file)
                with open(path, encoding="utf-8") as handle:
                    yield os.path.relpath(path, ROOT), handle.read()


def main():
    known = table()
    for shown, text in sources("crates", ".rs"):
        if "/src/" in shown and "tests" not in shown:
            for count in rust_lists(text, known):
                print("list %s texts %d" % (shown, count))
    for package in PACKAGES:
        for shown, text in sources("python/" + package, ".py"):
            tree = ast.parse(text)
            for name, count in lists(tree, known):
                print("list %s %s %d" % (shown, name, count))
            for line in substrings(tree):
                print("substring %s %d" % (shown, line))


main()
