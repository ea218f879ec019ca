"""What the operations of a run are: `data/functions/operations.toml`, asked by name and property.

An operation has one name, whatever form the program wrote it in: `x / y`, `torch.div(x, y)`, `x.div_(y)`
and `x.__rtruediv__(y)` are all `div`. Names are matched exactly, never by a part of their text.
"""

import json
import os

import numpy

_FOLDER = os.path.dirname(os.path.abspath(__file__))
#: Written beside the package by the scan that unpacks it.
_UNPACKED = os.path.join(_FOLDER, "../operations.json")
_CHECKOUT = os.path.join(_FOLDER, "../../../data/functions/operations.toml")


class Table:
    def __init__(self, data):
        self.rows = dict((row["name"], row) for row in data["operation"])
        self.unwatched = dict((library, set(names)) for library, names in data["unwatched"].items())
        self.watched = data["watched"]
        self.same = set(data["same"]["graph"])
        self.data_modules = tuple(data["data"]["modules"])
        self._properties = dict(
            (name, frozenset(row.get("is", ()))) for name, row in self.rows.items()
        )
        # Names as any library tells them, and those that mean something else in one of them.
        self._names = {}
        for field in ("names", "jax", "tensorflow", "graph", "composites"):
            self._names[field] = dict(
                (told, name) for name, row in self.rows.items() for told in row.get(field, ())
            )

    def called(self, told, library="names"):
        """The operation that a library's own name means; None where no row speaks of it."""
        return self._names.get(library, {}).get(told) or self._names["names"].get(told)

    def own_name(self, told, library):
        """As `called`, by the library's own names alone."""
        return self._names[library].get(told)

    def has(self, name, word):
        return word in self._properties.get(name, ())

    def with_property(self, word):
        return sorted(name for name, words in self._properties.items() if word in words)


def _read():
    if os.path.exists(_UNPACKED):
        with open(_UNPACKED, encoding="utf-8") as handle:
            return json.load(handle)
    import tomllib

    with open(_CHECKOUT, "rb") as handle:
        return tomllib.load(handle)


TABLE = Table(_read())


def called(told, library="names"):
    """The name of an operation; one that no row speaks of is called what the library calls it."""
    return TABLE.called(told, library) or told


def in_numpy(name):
    """NumPy's function of one operand that computes the same, element by element; else None."""
    if not has(name, "in NumPy"):
        return None
    for told in [name] + names(name):
        if hasattr(numpy, told):
            return getattr(numpy, told)
    return None


def names(name):
    """What libraries call an operation."""
    return TABLE.rows[name].get("names", [])


def with_property(word):
    """The operations that have this property, sorted."""
    return TABLE.with_property(word)


def has(name, word):
    """Does the operation have this property? One that nobody knows has none."""
    return TABLE.has(name, word)


def moved(name):
    """Its result is elements of its operand, in other places or in another shape or type."""
    return has(name, "reshapes") or has(name, "moves")


def looked_through(name):
    """What its operand was made of is what its result was made of."""
    return moved(name) or has(name, "averages")


def unwatched(told, library):
    """No computation: a fact, a setting, or a function that calls the program's own code."""
    return told in TABLE.unwatched[library]


def watched(place):
    """The functions of a module, or the methods of a class, that are watched where not all are."""
    return list(TABLE.watched[place])


def source(name):
    """`literal`, `constant`, `draw`, `integers` for an operation that makes an array; else None."""
    return TABLE.rows.get(name, {}).get("source")


def sources(*kinds):
    """The operations that make arrays in one of these ways."""
    return set(name for name, row in TABLE.rows.items() if row.get("source") in kinds)


def numpy_sources(module):
    """The functions of a module of NumPy whose results are inputs."""
    return sorted(name for name, row in TABLE.rows.items() if row.get("numpy") == module)


def numpy_copies():
    """Those that make an array of what they are given, and a copy of an array."""
    return [name for name in numpy_sources("numpy") if source(name) == "literal"]


def picks():
    """The functions of `numpy.random` that pick from an array: what they give is made of it."""
    return TABLE.with_property("picks")


def drawn_range(name):
    """(low, high) of what an operation draws; None is unbounded."""
    row = TABLE.rows.get(name, {})
    return row.get("low"), row.get("high")
