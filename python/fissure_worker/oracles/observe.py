"""What a call gives, as plain data: for comparing two versions of a library side by side.

Not an oracle that judges: it has `observe(call)`, whose answer is handed on as it is. The same call is made in the
other version, and `fissure-compare` (Rust) looks at the two answers together.
"""

import base64
from array import array

from fissure_worker.oracles import compare

PRICE = 3
#: Parts of a result that are looked at.
MOST_LEAVES = 6
#: Elements of one part; of larger ones this many are taken at even distances.
MOST_ELEMENTS = 256
#: What the table of functions says of results that need not be the same.
OPEN = ("indices", "ambiguous", "unordered", "uninitialised", "varies", "random")


def observe(call):
    """The result, and whether it is a function of the arguments at all."""
    facts = described(call.baseline)
    if len(facts["leaves"]) < MOST_LEAVES:
        for place in call.mutates:
            facts["leaves"].append(leaf_facts("argument " + str(place), call.used.get(place)))
    facts["open"] = [word for word in OPEN if call.has(word)]
    facts["random"] = bool(call.random)
    return facts


def described(result):
    """Structure and leaves of a result."""
    leaves = []
    for path, leaf in compare.leaves(result):
        leaves.append(leaf_facts(path, leaf))
        if len(leaves) == MOST_LEAVES:
            break
    return {"structure": structure(result), "leaves": leaves}


def structure(value, depth=compare.DEPTH):
    """The containers of a result: `tuple(*, list(*, *))`."""
    if depth and isinstance(value, (list, tuple)):
        inner = ", ".join(structure(item, depth - 1) for item in value[:20])
        return "%s(%s)" % (type(value).__name__, inner)
    if depth and isinstance(value, dict):
        pairs = [
            "%s: %s" % (key_text(key), structure(item, depth - 1)) for key, item in value.items()
        ]
        return "%s(%s)" % (type(value).__name__, ", ".join(pairs[:20]))
    return "*"


def key_text(key):
    """A key of a dictionary: names and small numbers as they are, of objects and addresses only the type."""
    plain = isinstance(key, (str, bool, type(None))) or isinstance(key, int) and abs(key) < 1 << 32
    return str(key) if plain else type(key).__name__


def leaf_facts(path, value):
    facts = {"path": path, "type": type_name(value)}
    if compare.is_tensor(value):
        facts["dtype"] = compare.dtype_name(value)
        facts["shape"] = [int(size) for size in value.shape]
        if compare.is_torch(value) and str(value.layout) != "torch.strided":
            facts["type"] += " " + str(value.layout)
        try:
            facts["kind"], facts["elements"] = elements(value)
        except Exception:
            # A kind of tensor whose elements cannot be had (no storage, no conversion): its facts are enough.
            pass
    elif isinstance(value, (bool, int, str, bytes)):
        facts["text"] = compare.short(repr(value), 200)
    elif isinstance(value, (float, complex)):
        facts["dtype"] = "complex128" if isinstance(value, complex) else "float64"
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        facts["kind"] = "complex" if isinstance(value, complex) else "float"
        facts["elements"] = packed("d", parts)
    return facts


def type_name(value):
    kind = type(value)
    if compare.is_numpy(value):
        # A scalar and an array of no dimensions are the same to those who compute with them.
        return "numpy.ndarray"
    return kind.__qualname__ if kind.__module__ == "builtins" else module_of(kind)


def module_of(kind):
    """The public name: where a class lives inside its library is nobody's promise."""
    return "%s.%s" % (kind.__module__.split(".")[0], kind.__qualname__)


def elements(value):
    """(kind, elements) of a tensor."""
    value, _ = compare.plain(value)
    flat = value.reshape(-1)
    count = compare.count(flat)
    if count > MOST_ELEMENTS:
        places = [place * count // MOST_ELEMENTS for place in range(MOST_ELEMENTS)]
        flat = flat[places]
    if compare.is_complex(value):
        flat = compare.wide(flat)[0].tolist()
        return "complex", packed("d", [part for it in flat for part in (it.real, it.imag)])
    if compare.is_inexact(value):
        return "float", packed("d", compare.wide(flat)[0].tolist())
    return "integer", packed("q", [int(it) for it in flat.tolist()])


def packed(code, numbers):
    return base64.b64encode(array(code, numbers).tobytes()).decode("ascii")
