"""Arrays of truth values, and arrays that a call leaves out: masks and weights of a target function.

A mask that nobody passes (`mask=None`) hides the part of the function that fails when a row of it is masked out
altogether, and one that is passed cannot be moved by a search over numbers. Both are tried in the few forms that
matter: everything, nothing, and one whole row.
"""

import re

import numpy as np

from ..backends import library as backends
from ..run import specs
from ..run.arguments import fresh, is_array, library_of
from ..run.events import float_text
from .changes import ArgumentChange

# Words of a name that say what an optional array is.
_MASKS = frozenset(("mask", "masks", "valid", "pad", "padding", "missing", "observed"))
_WEIGHTS = frozenset(("weight", "weights"))
# Shapes that are tried for an array that is left out, and arrays that it is tried for.
_SHAPES = 12
_OPTIONAL = 3


class Slot:
    """A parameter whose array is exchanged."""

    def __init__(self, name):
        self.name = name
        self.key = "argument:%s" % name


class ArrayChange(ArgumentChange):
    """An array that a call of a target function leaves out, or one of truth values, is another one."""

    likely = "likely: samples that are padding alone, or without weight, look like this"

    def __init__(self, name, value, how):
        self.scalar = Slot(name)
        self.value = value
        self.label = "%s: %s" % (name, how)

    def apply(self, program):
        program.synthesised.changed[self.scalar.name] = fresh(self.value)

    def cut(self, value):
        return value

    def entries(self, inputs):
        backend = backends.of(library_of(self.value))
        numbers = np.asarray(backend.numbers(self.value), dtype=np.float64)
        yield (
            self.scalar.name,
            {
                "key": self.scalar.key,
                "shape": list(numbers.shape),
                "dtype": backend.dtype_name(self.value),
                "elements_changed": int(numbers.size),
                "smallest": float_text(numbers.min()),
                "largest": float_text(numbers.max()),
                "values": [float_text(item) for item in numbers.ravel()[:8]],
            },
        )


def changes(program, accepted):
    """Changes of masks and weights, those of one parameter together; `accepted(change)`: does the call pass under it?"""
    arguments = program.synthesised
    for name, value in arguments.values.items():
        if is_array(value) and _dtype(value) == "bool" and len(value.shape):
            yield [
                ArrayChange(name, _made(like, "bool", value), how)
                for like, how in _forms(tuple(value.shape), "True", "False")
            ]
    if arguments.observed is not None:
        return
    for name in _left_out(program)[:_OPTIONAL]:
        found = _accepted(arguments, name, accepted)
        if found is not None:
            yield found


def _left_out(program):
    """Parameters without an array that are called like a mask or a weight."""
    arguments, found = program.synthesised, []
    for name, value in arguments.values.items():
        facts = arguments.facts.get(name)
        if value is None and (_words(name) & (_MASKS | _WEIGHTS)):
            if facts is None or not facts.choices:
                found.append(name)
    return found


def _accepted(arguments, name, accepted):
    """The forms of the first kind and shape of array that the call passes with."""
    given = [value for value in arguments.values.values() if is_array(value) and len(value.shape)]
    if not given:
        return None
    like = given[0]
    for shape in _shapes(arguments, name, given):
        ordinary = specs.array("unit", shape, library_of(like))
        value = specs.build(ordinary, 3)[0]
        if _words(name) & _WEIGHTS:
            if accepted(ArrayChange(name, value, "ordinary weights")):
                return [
                    ArrayChange(name, _made(form, _dtype(value), value), how)
                    for form, how in _forms(shape, "1", "0")
                    if not form.all()
                ]
            continue
        for dtype in ("bool", _dtype(value)):
            mixed = _made(_mixed(shape), dtype, value)
            if accepted(ArrayChange(name, mixed, "an ordinary mask")):
                true, false = ("True", "False") if dtype == "bool" else ("1", "0")
                return [
                    ArrayChange(name, _made(form, dtype, value), how)
                    for form, how in _forms(shape, true, false)
                ]
    return None


def _shapes(arguments, name, given):
    """Shapes that a mask may have: the documented one first, then those that go with the arrays of the call."""
    facts = arguments.facts.get(name)
    symbols, shapes = {}, []
    for other, value in arguments.values.items():
        said = arguments.facts.get(other)
        if is_array(value) and said is not None and said.shape is not None:
            if len(said.shape) == len(value.shape):
                symbols.update(zip(said.shape, map(int, value.shape)))
    if facts is not None and facts.shape:
        sizes = [part if isinstance(part, int) else symbols.get(part) for part in facts.shape]
        if None not in sizes:
            shapes.append(tuple(sizes))
    for value in given:
        shape = tuple(map(int, value.shape))
        shapes += [shape, shape[:-1]]
        if len(shape) >= 2:
            shapes += [
                shape[:-1] + shape[-2:-1],
                shape[-2:-1] * 2,
                shape[:1] + (1,) + shape[-2:-1],
                shape[:1] + (1, 1) + shape[-2:-1],
            ]
    return [shape for shape in dict.fromkeys(shapes) if shape][:_SHAPES]


def _forms(shape, true, false):
    """(truth values, how they are called)."""
    forms = [
        (np.ones(shape, bool), "%s everywhere" % true),
        (np.zeros(shape, bool), "%s everywhere" % false),
    ]
    if len(shape) > 1 and shape[0] > 1:
        for value, word in ((True, true), (False, false)):
            row = _mixed(shape)
            row[0] = value
            forms.append((row, "%s in the whole row 0" % word))
    return forms


def _mixed(shape):
    """Both values in every row that has room for them, and most as the first of two."""
    flat = np.arange(int(np.prod(shape))).reshape(shape)
    return flat % 3 == 1


def _made(values, dtype, like):
    backend = backends.of(library_of(like))
    if backend.library == "numpy":
        return values.astype(dtype)
    if dtype == "bool":
        return specs.of_library(values, library_of(like), "bool")
    return backend.from_numpy(values.astype(np.float64), dtype)


def _dtype(value):
    return str(value.dtype).replace("torch.", "").replace("<dtype: '", "").replace("'>", "")


def _words(name):
    return set(re.split(r"[_\W]+", name.lower()))
