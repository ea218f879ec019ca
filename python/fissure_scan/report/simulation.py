"""Does a failure only concern how a script makes up its data?

`prices = 100 * np.exp(np.cumsum(rng.normal(0, 0.01, 60)))` and `y = rng.poisson(np.exp(X @ beta))` stand for data
that come from elsewhere. A draw stands for other data where its result is kept; inside the statement that makes
something of it, it is a draw and no more, so that values beyond its own range cannot come up there. And what goes
into the parameters of a draw alone is not what the program computes of its data.
"""

import ast
import functools

from ..watch import operations


def drawn_there(found):
    """Is every input that was moved beyond its usual values drawn in the assignment that fails?"""
    if found.level != 2 or not found.overrides or found.variation is not None:
        return False
    moved = [key for key, value in found.overrides.items() if _beyond(found.space, key, value)]
    return bool(moved) and all(
        _in_one_assignment(found.space.known.get(key), found.failure.site) for key in moved
    )


def _beyond(space, key, value):
    variable = space.by_key[key]
    low, high = variable.inner_range()
    return bool(value.size) and (float(value.min()) < low or float(value.max()) > high)


def _in_one_assignment(info, site):
    if info is None or info.kind != "source" or operations.source(info.origin) != "draw":
        return False
    return info.file == site.file and any(
        first <= info.line <= last and first <= site.line <= last
        for first, last in _assignments(info.file)
    )


@functools.lru_cache(maxsize=64)
def _assignments(file):
    """(first line, last line) of each assignment of a file."""
    try:
        with open(file, encoding="utf-8") as handle:
            tree = ast.parse(handle.read())
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(
        (node.lineno, getattr(node, "end_lineno", None) or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
    )


def for_a_draw(trace, site):
    """Does what the operations of a site give go into parameters of random draws, and nowhere else? Asked of the
    program's own run: with other data a draw may refuse its parameters, and the program ends there."""
    made = [node.index for node in trace.nodes if node.site == site]
    return bool(made) and all(_for_a_draw(trace, index) for index in made)


def _for_a_draw(trace, index):
    held, ends = set(), []
    for node in trace.nodes:
        if node.index != index and not (
            node.index > index and any(id(value) in held for value in node.inputs)
        ):
            continue
        held.update(map(id, node.outputs))
        if node.taken:
            return False
        if not node.consumed:
            ends.append(node)
    return bool(ends) and all(node.drawn for node in ends)
