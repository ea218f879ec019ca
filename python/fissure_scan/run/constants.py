"""Numbers written down in the program's source, and the same source with other numbers.

Only numbers with a name count: `eps = 1e-8`, `def f(x, eps=1e-8)`, `f(x, eps=1e-8)`,
`{"eps": 1e-8}`, an option of a command line. They are changed in the syntax tree, so that lines and
everything else stay as they are. A number is identified by where it stands among those of the same
name, which survives an edit elsewhere in the file.
"""

import ast

from . import instrument

LARGEST_COUNT = 8


class Constant:
    """A named number of a file."""

    def __init__(self, name, node, origin):
        self.name = name
        self.line = node.lineno
        self.column = node.col_offset
        self.value = number(node)
        self.origin = origin
        self.occurrence = 0


def number(node):
    """The value of a node that is a plain number, else None. Python 3.7 calls it `Num`."""
    if type(node).__name__ == "Num":
        value = node.n
    elif type(node).__name__ == "Constant":
        value = node.value
    else:
        return None
    return value if type(value) in (int, float) else None


def find(source):
    """The named numbers of a source text, in order; those of one name are told apart by their
    occurrence."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        found.extend(_of(node))
    found.sort(key=lambda constant: (constant.line, constant.column))
    counts = {}
    for constant in found:
        constant.occurrence = counts.get(constant.name, 0)
        counts[constant.name] = constant.occurrence + 1
    return found


def _of(node):
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is not None and number(node.value) is not None:
            name = getattr(targets[0], "id", getattr(targets[0], "attr", None))
            if name:
                yield Constant(name, node.value, "a constant")
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = node.args
        ordinary = getattr(arguments, "posonlyargs", []) + arguments.args
        for argument, default in zip(
            ordinary[len(ordinary) - len(arguments.defaults) :], arguments.defaults
        ):
            if number(default) is not None:
                yield Constant(argument.arg, default, "a default")
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if default is not None and number(default) is not None:
                yield Constant(argument.arg, default, "a default")
    elif isinstance(node, ast.Call):
        option = _option(node)
        for keyword in node.keywords:
            if keyword.arg is None or number(keyword.value) is None:
                continue
            if option is None:
                yield Constant(keyword.arg, keyword.value, "an argument")
            elif keyword.arg == "default":
                yield Constant(option, keyword.value, "an option of the command line")
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            text = getattr(key, "value", getattr(key, "s", None)) if key is not None else None
            if isinstance(text, str) and text.isidentifier() and number(value) is not None:
                yield Constant(text, value, "a setting")


def _option(call):
    """The name of an `add_argument("--temperature", ...)` call."""
    if getattr(call.func, "attr", None) != "add_argument":
        return None
    for argument in call.args:
        text = getattr(argument, "value", getattr(argument, "s", None))
        if isinstance(text, str) and text.startswith("--"):
            return text[2:].replace("-", "_")
    return "option"


def changed(source, file, name, occurrence, value):
    """The compiled source with one of its numbers replaced."""
    place = None
    for constant in find(source):
        if constant.name == name and constant.occurrence == occurrence:
            place = (constant.line, constant.column)
    tree = ast.parse(source, file)
    for node in ast.walk(tree):
        if number(node) is not None and (node.lineno, node.col_offset) == place:
            if type(node).__name__ == "Num":
                node.n = value
            else:
                node.value = value
    return instrument.compiled(tree, file)
