"""The words of a description: types, parameters, forms, as plain dictionaries ready for JSON.

A *form* is one way to call an object (one overload). A parameter's `types` are alternatives.
"""

#: Sorts of values, as `fissure-discover` reads them.
SORTS = frozenset(
    "tensor tensors int float number bool string dtype device layout memory_format generator list "
    "tuple dict callable module optimizer slice none complex shape axis index_tensor sparse any "
    "bytes ndarray path object pytree".split()
)


def of(sort, **facts):
    """A type. Facts that are None are left out of it."""
    assert sort in SORTS, sort
    found = {"sort": sort}
    for name, fact in facts.items():
        if fact is not None:
            found[name] = fact
    return found


TENSOR = of("tensor")
NONE = of("none")


def parameter(name, kind, required, default=None, types=None, evidence=None):
    """One parameter; `default` is its source text."""
    return {
        "name": name,
        "kind": kind,
        "required": required,
        "default": default,
        "types": unique(types or []),
        "evidence": evidence or [],
    }


def evidence(source, text):
    return {"source": source, "text": " ".join(str(text).split())[:200]}


def form(source, params, name=None, returns=None, call_params=None):
    return {
        "source": source,
        "name": name,
        "params": params,
        "call_params": call_params,
        "returns": returns,
        "keyword_only_call": False,
        "relations": [],
    }


def relation(kind, params, source, text):
    return {"kind": kind, "params": list(params), "evidence": evidence(source, text)}


def unique(types):
    """Alternatives in order, each once."""
    found = []
    for one in types:
        if one not in found:
            found.append(one)
    return found


def sorts(types):
    return {one["sort"] for one in types}


def is_open(types):
    """Says nothing that narrows a value."""
    return not types or any(one["sort"] == "any" for one in types)


def optional(types):
    """The alternatives with None among them."""
    return unique(list(types) + [NONE])
