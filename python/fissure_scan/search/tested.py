"""Numbers that a program asks about before it computes with them.

`if step < warmup_steps`, `if smoothing > 0`, `if not clip`: a program that compares a number in a
condition says that the number decides between ways, and 0 is one of its values ("never", "off"). What a
size of 0 makes fail is nobody's fault, what a limit of 0 makes fail is the program's. A number that is handed
to a function under another name, or kept under one, is asked about where that name is.
"""

import ast

# Words of one or two letters are other things in other functions of the same file.
_TELLING = 3
# Functions that a number is handed through, one to the next.
_STEPS = 4


def names(source, scope=None):
    """The names and attributes that conditions of a source text compare or take as a yes or no; short
    ones only where the condition stands in the function `scope`."""
    try:
        tree = ast.parse(source or "")
    except (SyntaxError, ValueError):
        return set()
    asked = set((name, part) for name, test in _conditions(tree, None) for part in _asked(test))
    handed = list(_handed(tree))
    for _ in range(_STEPS):
        more = set(given for given, taken in handed if taken in asked) - asked
        if not more:
            break
        asked |= more
    return set(part for name, part in asked if len(part) >= _TELLING or name == scope)


def _handed(tree):
    """((function, name), (function, name)): a number, and the name it has where it is handed to."""
    parameters = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [argument.arg for argument in node.args.args]
            parameters[node.name] = names[1:] if names[:1] in (["self"], ["cls"]) else names
    for name, node in _inside(tree, None):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for target in _named(node.targets[0]):
                for given in _named(node.value):
                    yield (name, given), (name, target)
        if not isinstance(node, ast.Call):
            continue
        for called in _named(node.func):
            if called not in parameters:
                continue
            taken = list(zip(parameters[called], node.args))
            taken += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
            for parameter, value in taken:
                for given in _named(value):
                    yield (name, given), (called, parameter)


def _inside(node, name):
    """(function, node) of everything in a tree."""
    for child in ast.iter_child_nodes(node):
        inside = name
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = child.name
        yield inside, child
        yield from _inside(child, inside)


def _conditions(node, name):
    """(function, test) of each `if` and conditional expression."""
    for inside, child in _inside(node, name):
        if isinstance(child, (ast.If, ast.IfExp)):
            yield inside, child.test


def _asked(test):
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _asked(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand)
    elif isinstance(test, ast.Compare):
        if all(isinstance(op, _ORDER) for op in test.ops):
            for side in [test.left] + test.comparators:
                yield from _named(side)
    else:
        yield from _named(test)


_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def _named(node):
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
