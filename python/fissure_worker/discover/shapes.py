"""Shapes as documentation writes them, `(N, C_{in}, *)` and the like, into the grammar of constraint files."""

import re

from fissure_worker import texts

#: Between the parts of a shape that is put together.
JOINED = re.compile(r"\s*\+\s*(?=[\[(]|[^\[\]()]*$|[^\[\]()]*\+\s*[\[(])")
#: `D1...DN`, `other_dims`: any number of dimensions.
ANY_NUMBER = re.compile(
    r"^(?:[A-Za-z]_?\d\s*\.\.\.\s*[A-Za-z]_?\w|\*?\w+_(?:dims|dimensions)|(?:batch|spatial|inner|outer|other)_shape)$"
)
DIMENSION = re.compile(r"^(?:[A-Za-z_]\w*|\d+)(?:\s*[-+*/]\s*(?:[A-Za-z_]\w*|\d+))*$")


def shape(box):
    """A shape in the grammar of constraint files from `(N, C_{in}, *)` and the like, or None."""
    pieces = [one.strip().strip("`") for one in JOINED.split(box.strip())]
    if len(pieces) > 1:
        # `[batch] + spatial_shape + [channels]`
        inner = ", ".join(one[1:-1] if one[:1] in "[(" else "..." for one in pieces)
    else:
        inner = box.strip()[1:-1].strip()
    if not inner:
        return None
    parts = []
    for part in texts.split(inner):
        part = part.strip().strip("`'\"")
        # The last of a series (`... dim(n-1)`) is part of it; a length is that of a parameter.
        part = re.sub(r"^\.\.\.\s*\S+$", "...", part)
        part = re.sub(r"^len\((\w+)\)$", r"\1", part)
        part = ANY_NUMBER.sub("...", part)
        part = re.sub(r"_\{([^{}]*)\}", lambda m: "_" + re.sub(r"\W+", "_", m.group(1)), part)
        part = part.replace("{", "").replace("}", "").replace("\\", "")
        part = re.sub(r"\s*\*\s*", "*", part)
        if part in ("*", "...", "\u2217", "..", "") or set(part) <= set(".*"):
            if not parts or parts[-1] != "...":
                parts.append("...")
            continue
        words = part.split()
        if len(words) > 3:
            return None
        part = "_".join(words) if all(re.match(r"^\w+$", word) for word in words) else part
        part = part.replace(" ", "")
        if re.match(r"^[A-Za-z]\w*(?:_?\d)?$", part) or DIMENSION.match(part):
            parts.append(part)
        elif re.match(r"^(?:>=?)\d+$", part):
            parts.append(part)
        else:
            return None
    parts = without_series(parts)
    if parts.count("...") > 1:
        return None
    if len(parts) == 1 and parts[0].lower() in NO_SHAPES or "integer" in inner:
        return None
    return "[%s]" % ",".join(parts)


SERIES = re.compile(r"^([A-Za-z]+)_?\d$")


def without_series(parts):
    """`d_1,d_2,...,d_K` are any number of dimensions."""
    if "..." not in parts:
        return parts
    at = parts.index("...")
    before, after = parts[:at], parts[at + 1 :]
    series = SERIES.match(before[-1]) if before else None
    if series is None or not after or not re.match(r"^%s_?\w$" % series.group(1), after[0]):
        return parts
    while (
        before and SERIES.match(before[-1]) and SERIES.match(before[-1]).group(1) == series.group(1)
    ):
        before = before[:-1]
    return before + ["..."] + after[1:]


#: In brackets, but no shape.
NO_SHAPES = frozenset(
    "optional optional_string tensor default deprecated int float bool string list tuple".split()
)
