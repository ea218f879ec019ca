"""Numbers that a program asks about before it computes with them.

`if step < warmup_steps`, `if smoothing > 0`, `if not clip`: a program that compares a number in a
condition says that the number decides between ways, and 0 is one of its values ("never", "off"). What a
size of 0 makes fail is nobody's fault, what a limit of 0 makes fail is the program's.
"""

import ast

# Words of one or two letters are other things in other functions of the same file.
_TELLING = 3


def names(source, scope=None):
    """The names and attributes that conditions of a source text compare or take as a yes or no; short
    ones only where the condition stands in the function `scope`."""
    try:
        tree = ast.parse(source or "")
    except (SyntaxError, ValueError):
        return set()
    found = set()
    for name, test in _conditions(tree, None):
        for part in _asked(test):
            if len(part) >= _TELLING or name == scope:
                found.add(part)
    return found


def _conditions(node, name):
    """(function, test) of each `if` and conditional expression."""
    for child in ast.iter_child_nodes(node):
        inside = name
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = child.name
        if isinstance(child, (ast.If, ast.IfExp)):
            yield inside, child.test
        yield from _conditions(child, inside)


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
