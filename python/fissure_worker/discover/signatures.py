"""Python signatures and annotations into forms."""

import dataclasses
import enum
import inspect
import re

from fissure_worker import documented, texts
from fissure_worker.discover import annotations
from fissure_worker.discover.words import NONE, evidence, form, of, optional, parameter, sorts
from fissure_worker.outcome import name_of

TEXT_LIMIT = 200
EMPTY = inspect.Parameter.empty


def default_text(value):
    """The source text of a default where it has one: a dotted name for members and functions."""
    if isinstance(value, enum.Enum):
        return annotations.path_of(value)
    if inspect.isclass(value) or inspect.isroutine(value):
        module = getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", None)
        if module and name and "<" not in name:
            return name if module == "builtins" else "%s.%s" % (module, name)
    try:
        return repr(value)[:TEXT_LIMIT]
    except BaseException as error:
        return "<no text: __repr__ raised %s>" % name_of(error)


def types_of_default(value):
    """What a default says of its parameter. None says only that None is possible."""
    if value is None:
        return [NONE]
    if isinstance(value, bool):
        return [of("bool")]
    if isinstance(value, enum.Enum):
        return annotations.types_of(("enum", (type(value),)))
    if isinstance(value, int):
        return [of("int")]
    if isinstance(value, float):
        return [of("float")]
    if isinstance(value, complex):
        return [of("complex")]
    if isinstance(value, str):
        return [of("string")]
    if isinstance(value, (list, tuple)):
        sort = "list" if isinstance(value, list) else "tuple"
        entries = [types_of_default(one) for one in value]
        if entries and all(e == entries[0] for e in entries) and entries[0]:
            return [of(sort, of=entries[0][0], length=len(value) if sort == "tuple" else None)]
        return [of(sort)]
    if isinstance(value, dict):
        return [of("dict")]
    sort = {
        "dtype": "dtype",
        "DType": "dtype",
        "layout": "layout",
        "memory_format": "memory_format",
        "device": "device",
        "Tensor": "tensor",
        "EagerTensor": "tensor",
    }.get(type(value).__name__)
    if sort is not None:
        return [of(sort)]
    if isinstance(value, type) and type(value).__module__ != "builtins":
        return [of("dtype")] if hasattr(value, "dtype") else []
    if callable(value) and inspect.isroutine(value):
        return [of("callable")]
    return []


def parameter_of(found, hint):
    required = found.default is EMPTY and not found.kind.name.startswith("VAR_")
    types = []
    told = []
    # `BroadcastingList2[int]` of PyTorch evaluates to None, which no parameter can mean.
    if hint is not EMPTY and hint is not None and hint is not type(None):
        tree = annotations.from_object(hint)
        types = annotations.types_of(tree)
        told.append(evidence("annotation", hint_text(hint)))
    default = None
    if found.default is not EMPTY:
        default = default_text(found.default)
        suggested = types_of_default(found.default)
        if found.default is None and types and "any" not in sorts(types):
            types = optional(types)
        elif not types or "any" in sorts(types):
            types = [one for one in suggested]
            if suggested:
                told.append(evidence("default", default))
    return parameter(found.name, found.kind.name.lower(), required, default, types, told)


def hint_text(hint):
    if isinstance(hint, type):
        return hint.__name__
    return str(hint).replace("typing.", "")


def unwrapped(target):
    """The function whose annotations count: behind `partial`, `jit` and decorators."""
    seen = 0
    while hasattr(target, "__wrapped__") and seen < 10:
        target = target.__wrapped__
        seen += 1
    return target


def from_python(target):
    """The parameters as `inspect` sees them, or None."""
    if isinstance(target, type) and dataclasses.is_dataclass(target):
        hints = annotations.hints(target)
    elif isinstance(target, type):
        hints = annotations.hints(getattr(target, "__init__", None))
    else:
        hints = annotations.hints(unwrapped(target))
        if not hints:
            hints = annotations.hints(target)
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return None
    except Exception:
        # Descriptors and metaclasses of libraries raise what they like.
        return None
    return [
        parameter_of(one, hints.get(one.name, one.annotation))
        for one in signature.parameters.values()
    ]


def from_overloads(target):
    """The forms that a function declares with `typing.overload`, where Python keeps them (3.11)."""
    import typing

    function = getattr(target, "__init__", None) if isinstance(target, type) else target
    get = getattr(typing, "get_overloads", None)
    function = unwrapped(function)
    if get is None or not inspect.isfunction(function):
        return []
    found = []
    for one in get(function):
        params = from_python(one)
        if params is not None and isinstance(target, type):
            del params[:1]
        if params is not None:
            found.append(form("signature", params, getattr(target, "__name__", None)))
    return found


#: Numbers of the kinds of fields in protocol buffers → sort.
FIELDS = {1: "int", 2: "int", 3: "int", 4: "int", 5: "float", 6: "float", 7: "bool", 9: "string"}


def from_message(target):
    """The parameters of a protocol buffer's class: its fields, by name."""
    fields = getattr(getattr(target, "DESCRIPTOR", None), "fields", None)
    if fields is None or not isinstance(target, type):
        return None
    found = []
    for field in fields:
        sort = FIELDS.get(field.cpp_type)
        if sort is None:
            continue
        kind = of("bytes") if field.type == 12 else of(sort)
        repeated = getattr(field, "is_repeated", None)
        if repeated is None:
            repeated = field.label == 3
        types = [of("list", of=kind)] if repeated else [kind]
        found.append(parameter(field.name, "keyword_only", False, None, types,
                               [evidence("registry", "field %s" % field.name)]))  # fmt: skip
    return found


def is_vague(params):
    """Whatever it gets it hands on: `*args, **kwargs` says nothing about what that may be."""
    return bool(params) and all(one["kind"].startswith("var_") for one in params)


def from_signature_lines(target):
    """The forms of signature lines at the start of a documentation (built-in functions)."""
    if isinstance(target, type):
        found = signature_lines(getattr(target, "__init__", None), "__init__")
        # The object itself.
        return [dict(one, params=one["params"][1:]) for one in found]
    return signature_lines(target, getattr(target, "__name__", None))


#: pybind11 calls parameters so that have no name.
NAMELESS = re.compile(r"^arg\d+$")


def signature_lines(target, name):
    text = getattr(target, "__doc__", None)
    if not isinstance(text, str) or not isinstance(name, str):
        return []
    found = []
    for params in documented.overloads(name, text):
        made = []
        for one in params:
            types = []
            if one.get("annotation"):
                types = annotations.types_of(annotations.from_text(one["annotation"]))
            elif one["default"] is not None:
                value = texts.literal(one["default"])
                if not isinstance(value, str) or one["default"][:1] in "\"'":
                    types = types_of_default(value)
            required = one["default"] is None and not one["kind"].startswith("var_")
            kind = "positional_only" if NAMELESS.match(one["name"]) else one["kind"]
            made.append(parameter(one["name"], kind, required, one["default"], types, []))
        found.append(form("documentation", made, name))
    return found
