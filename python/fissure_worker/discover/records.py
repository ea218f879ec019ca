"""Classes that only hold fields (dataclasses, named tuples, typed dictionaries): objects with other values in them."""

import ast
import dataclasses

from fissure_worker.discover import annotations, recipes

#: Objects of one class.
MOST = 10
#: Sort of a field → values that it is tried with beside its default.
OTHERS = {
    "bool": ({"bool": True}, {"bool": False}),
    "int": ({"int": 1}, {"int": 2}, {"int": 3}, {"int": 0}),
    "axis": ({"int": 0}, {"int": -1}, {"int": 1}),
    "float": ({"float": 0.5}, {"float": 1.0}, {"float": 0.0}, {"float": 2.0}),
    "number": ({"int": 1}, {"float": 0.5}),
}


def is_record(found):
    if dataclasses.is_dataclass(found):
        return True
    return issubclass(found, tuple) and hasattr(found, "_fields")


def is_typed_dict(found):
    return issubclass(found, dict) and hasattr(found, "__required_keys__")


def typed_dicts(found, value_of, depth):
    """Dictionaries with the keys that a `TypedDict` has; `value_of` makes a value of a type."""
    wanted = annotations.hints(found)
    made = []
    for choice in (0, -1):
        entries = []
        for name, hint in wanted.items():
            types = [
                one
                for one in annotations.types_of(annotations.from_object(hint))
                if one["sort"] not in ("none", "any")
            ] or [{"sort": "tensor"}]
            value = value_of(types[choice], depth)
            if value is None:
                return []
            entries.append([{"text": name}, value])
        if {"dict": entries} not in made:
            made.append({"dict": entries})
    return made


def variants(made, params):
    """Calls like `made`, each with another value of one field; fields that go by name only keep their default."""
    first = made["call"]["arguments"]
    positional = [one for one in params if one["kind"] not in ("keyword_only", "var_keyword")]
    found = []
    for at, one in enumerate(positional):
        given = list(first)
        for between in positional[len(first) : at]:
            value = plain(between["default"])
            if value is None:
                return found
            given.append(value)
        for value in others(one):
            if at < len(given) and given[at] == value:
                continue
            changed = given[:at] + [value] + given[at + 1 :]
            found.append({"call": {"path": made["call"]["path"], "arguments": changed}})
    # One of each field before a second one of any.
    return sorted(found, key=lambda one: len(one["call"]["arguments"]))[: 3 * MOST]


def others(param):
    for one in param["types"]:
        if one.get("choices") and one["sort"] != "object":
            for choice in one["choices"][:4]:
                yield plain(repr(choice))
        elif one.get("choices"):
            for choice in one["choices"][:4]:
                yield {"object": choice}
        else:
            for value in OTHERS.get(one["sort"], ()):
                yield value


def plain(text):
    """A default as a value, or None."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return None
    is_plain = value is None or isinstance(value, (bool, int, float, str))
    return recipes.simple(value) if is_plain else None
