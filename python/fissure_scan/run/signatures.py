"""What a function accepts, also where a decorator hides it behind `*args, **kwargs`."""

import ast
import contextlib
import inspect
import textwrap
import types

# Decorators around decorators that are looked into.
_DEPTH = 4


def parameters(function):
    """The parameters of a callable, as a list. Raises what `inspect.signature` raises."""
    return list(inspect.signature(behind(function)).parameters.values())


def behind(function):
    """The function that a decorator without `functools.wraps` keeps, where the one that is called says
    nothing of its parameters; else the function itself."""
    held = function
    for _ in range(_DEPTH):
        if not _says_nothing(held):
            return held
        inner = _kept(held)
        if inner is None:
            return function
        held = inner
    return held if not _says_nothing(held) else function


def _says_nothing(function):
    if isinstance(function, type):
        return False
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    named = [it for it in found if it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)]
    kinds = set(it.kind for it in found)
    return (
        inspect.Parameter.VAR_POSITIONAL in kinds
        and inspect.Parameter.VAR_KEYWORD in kinds
        and all(it.name == "self" for it in named)
    )


def _kept(function):
    """The one function in the closure of a decorator's wrapper; by its name where there are several."""
    with contextlib.suppress(ValueError):
        function = inspect.unwrap(function)
    cells = []
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            cells.append(cell.cell_contents)
    found = [value for value in cells if isinstance(value, types.FunctionType)]
    named = [value for value in found if value.__name__ == function.__name__]
    if named:
        return named[0]
    return found[0] if len(found) == 1 else None


def compared(function):
    """Parameter -> the texts it is compared with (`reduction == "sum"`, `mode in ("a", "b")`)."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
            continue
        for other in node.comparators:
            for part in getattr(other, "elts", [other]):
                text = getattr(part, "value", getattr(part, "s", None))
                if isinstance(text, str):
                    found.setdefault(node.left.id, []).append(text)
    return found
