"""One cause is one finding.

Of one cause are: operations of the same kind in one function, or on one line, that fail in the same
run (`x / (n - 1)` and `y / (n - 1)`) or in the same way for two inputs (a constant `x`, a constant
`y`); what is computed from the failing operation and fails for the same kind of input; and
everything that fails in the same other size (a single sample). The likeliest one is the finding; it
names the places of the others.
"""

from ..search import changes
from ..watch.monitor import Policy


def grouped(ordered, runner, space):
    """(finding, those of the same cause) pairs of findings in the order of their rank."""
    left = list(ordered)
    groups = []
    while left:
        first = left.pop(0)
        same = _same_cause(first, left, runner, space)
        groups.append((first, same))
        left = [other for other in left if other not in same]
    return groups


def _same_cause(first, others, runner, space):
    alike = [other for other in others if _comparable(first, other, space)]
    if not alike or first.oracle in ("crash", "hang"):
        return []
    trace = _trace(first, runner)
    failing = set(failure.site.key() for failure in trace.failures)
    later = _downstream(trace, first.failure.site)
    pattern = _pattern(first, space)
    return [
        other
        for other in alike
        if _same_size(first, other)
        or _pattern(other, space) == pattern
        and (_alike(first, other) or other.failure.site.key() in later)
        or _alike(first, other)
        and other.failure.site.key() in failing
    ]


def _comparable(first, other, space):
    """May they have one cause? Seen without a run."""
    return first.oracle == other.oracle and (
        _alike(first, other)
        or _same_size(first, other)
        or _pattern(first, space) == _pattern(other, space)
    )


def _alike(one, other):
    """The same operation in the same function, or another one on the same line. The lines of a
    script are no function: each stands for itself."""
    here, there = one.failure.site, other.failure.site
    return (here.file, here.scope) == (there.file, there.scope) and (
        here.line == there.line
        or here.function == there.function
        and here.scope not in ("", "<module>")
    )


def _same_size(one, other):
    return (
        isinstance(one.variation, changes.SizeChange)
        and isinstance(other.variation, changes.SizeChange)
        and one.variation.label == other.variation.label
    )


def _pattern(found, space):
    """How the failing input was made, without the name of the input."""
    words = found.label
    for variable in space.by_key.values():
        if words.startswith(variable.name + " "):
            words = words[len(variable.name) + 1 :]
    return words, found.level


def _downstream(trace, site):
    """The places of operations that use what the operation at a place made."""
    made, places = set(), set()
    for node in trace.nodes:
        if node.site == site or any(id(value) in made for value in node.inputs):
            made.update(id(value) for value in node.outputs)
            places.add(node.site.key())
    return places


def _trace(found, runner):
    """A run on the failing input of a finding."""
    policy = Policy(
        overrides=found.overrides,
        watch_gradients=runner.trains,
        backward_limit=1 if found.level < 4 else None,
        stop_after=runner.far_horizon,
        time_limit=runner.time_limit * 2,
    )
    return runner.run(policy, found.variation)
