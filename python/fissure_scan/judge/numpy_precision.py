"""The comparing oracles on NumPy, JAX and TensorFlow programs: cancellation, wider floats, stable
forms of formulas.

As precision.py does for torch. A float64 program keeps sixteen digits, so the points that show a
loss lie further out: values moved away from zero by up to 10⁸ times their size (times of day,
identifiers, coordinates), and values so small that `1 + x` is 1.
"""

from . import patterns, points, precision, shadows
from ..backends import library as backends
from ..search import candidates
from .numpy_shadow import WIDER_THAN_DOUBLE, NumpyShadow

# Operands this accurate are not to blame, by their type.
_DOUBLE = 1e-13
_ACCURATE = {"float16": 1e-2, "bfloat16": 1e-2, "float32": 1e-5, "float64": _DOUBLE}


def examine(runner, space, collected, level):
    library = shadows.of_program(runner.baseline)
    if library is None and not any(node.library == "numpy" for node in runner.baseline.nodes):
        return
    points.examine(
        runner,
        space,
        collected,
        _looked_at(space.inputs, level),
        lambda: NumpyShadow() if library is None else shadows.beside(library),
        judgements,
    )


def _looked_at(inputs, level):
    """(label, overrides) worth a look, the program's own data first."""
    yield "the program's own data", {}
    double = any(variable.dtype == "float64" for variable in inputs)
    if level >= 1:
        for factor in (1e-7, 1e-16) if double else (1e-7,):
            yield from candidates._each(
                inputs, "times %g" % factor, lambda v, f=factor: v.own * f, 1
            )
        yield from candidates._each(
            inputs, "nearly equal columns", lambda v: candidates._near(v, -1), 1
        )
        yield from candidates._each(
            inputs, "nearly equal rows", lambda v: candidates._near(v, 0), 1
        )
    if level >= 2:
        free = [variable for variable in inputs if variable.unbounded()]
        # What is drawn in float64 may be computed with in float32.
        for factor in (100.0, 1e3, 1e8) if double else (10.0, 100.0, 1e3):
            yield from candidates._each(
                free, "plus %g" % factor, lambda v, f=factor: v.own + f * v.scale, 2
            )


def judgements(trace, shadow):
    pattern = patterns.examine(trace)
    if pattern is not None:
        yield pattern
    if shadow is None:
        return
    loosest = max(
        [
            _ACCURATE.get(backends.of(node.library).dtype_name(node.output), _DOUBLE)
            for node in trace.nodes
            if backends.of(node.library).is_float(node.output)
        ]
        or [0.0]
    )
    wider = _DOUBLE if isinstance(shadow, NumpyShadow) and WIDER_THAN_DOUBLE else 2 * _DOUBLE
    if loosest < wider:
        return
    blamed = precision.cancellation(trace, shadow, loosest)
    if blamed is not None:
        node, wrong, error = blamed
        yield (
            precision.oracle_of(node),
            node,
            "%s loses digits: %s at line %d is off by %.2g of its value against wider floats"
            % (node.name, wrong.name, wrong.site.line, error),
        )
