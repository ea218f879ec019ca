"""Values of constraints that a rule of `phrases.py` names with `@`, made from what its pattern matched."""

import re

from fissure_worker.discover import phrases, shapes


BOX = re.compile(phrases.WORDS["box"])


def dtypes_in(match):
    found = []
    for word in re.findall(r"[A-Za-z][\w.\-]*", match.group("list")):
        word = word.lower().strip("`.")
        word = re.sub(r"^(?:tf|torch|np|numpy|mx)\.", "", word)
        value = phrases.DTYPES.get(word)
        if value and value not in found:
            found.append(value)
    return found


def lists_in(match):
    words = re.findall(r"list|tuple|sequence|iterable", match.group(0).lower())
    return unique(["sequence" if word == "iterable" else word for word in words])


def tensors_in(match):
    words = match.group(0).lower()
    if "sparse" in words:
        return ["SparseTensor"]
    if "ragged" in words:
        return ["RaggedTensor"]
    return ["tensor"]


def scalar_or_list(match):
    return ["1"] if "list of" in match.group(0).lower() else ["0"]


def at_least(match):
    groups = match.groupdict()
    above = groups.get("above") or groups.get("nabove")
    if above:
        return [">=%d" % (int(above) + 1)]
    return [">=%s" % next(groups[one] for one in "kjnd" if groups.get(one))]


def rows(match):
    """`[[x1, y1, x2, y2]]`: rows of four."""
    return ["[...,%d]" % len(re.findall(r"\w+", match.group("box")))]


def last_sizes(match):
    """`1 or 3`"""
    return ["[...,%s]" % one for one in re.findall(r"\d+", match.group("numbers"))]


def interval(match):
    text = "%s%s,%s%s" % (match.group("o"), match.group("j"), match.group("k"), match.group("c"))
    return [re.sub(r"\s+", "", text)]


def quoted(match):
    found = []
    for one in re.finditer(phrases.WORDS["quoted"], match.group("list")):
        value = one.group(0).strip("`").strip("'\"\u2018\u2019\u201c\u201d")
        if value and value not in found and value.lower() not in ("true", "false"):
            found.append(value)
    if not all(re.match(r"^[\w\-+./]+( [\w\-+./]+)?$", value) for value in found):
        return []
    if len(found) > 1 and all(len(value) == 1 and value.isupper() for value in found):
        # Letters of a layout, not choices.
        return []
    if any(
        re.sub(r"^(?:tf|torch|np|numpy)\.", "", value.lower()) in phrases.DTYPES
        or value.lower().strip("s") in phrases.STRUCTURES
        for value in found
    ):
        # Types in quotes are types.
        return []
    return found


def shape_in(match):
    more = match.groupdict().get("more") or ""
    boxes = [match.group("box")] + [one.group(0) for one in BOX.finditer(more)]
    values = [shapes.shape(box) for box in boxes]
    return unique(value for value in values if value is not None)


def product(match):
    """`B x P x M`"""
    words = re.split(r"\s+(?:\*|x|\u00d7|times)\s+", match.group("product"))
    value = shapes.shape("(%s)" % ", ".join(word.strip("`") for word in words))
    return [] if value is None else [value]


def lengths(match):
    """`1`, `2` or `4`: lengths of a list."""
    return unique("[%s]" % one for one in re.findall(r"\d+", match.group("numbers").split("+")[0]))


def lengths_of(match):
    """`(w,), (h, w) or (d, h, w)`: forms of a tuple."""
    boxes = re.findall(r"\(([^()]*)\)", match.group("boxes"))
    return unique("[%d]" % len(re.findall(r"\w+", box)) for box in boxes)


#: `rank(x)`, `x.ndim`, `x.dim()`
RANK = re.compile(r"^(?:rank|ndim|tf\.rank)\((\w+)\)$|^(\w+)\.(?:ndim|dim\(\))$")


def named_interval(match):
    """`[-rank(x), rank(x))`, `[0, num_buckets)`"""
    ends = []
    for end in (match.group("j"), match.group("k")):
        end = re.sub(r"\s+", "", end)
        sign = "-" if end.startswith("-") else ""
        bare, operator, rest = re.match(r"^-?([^-+]+)([-+]?)(\d*)$", end).groups()
        rank = RANK.match(bare)
        if rank:
            bare = "ndim:&" + (rank.group(1) or rank.group(2))
        elif re.match(r"^[A-Za-z_]\w*$", bare) and bare != "inf":
            bare = "&" + bare
        elif not re.match(r"^(?:\d+\.?\d*|inf)$", bare):
            return []
        ends.append(sign + bare + operator + rest)
    if not any("&" in end for end in ends):
        return []
    return ["%s%s,%s%s" % (match.group("o"), ends[0], ends[1], match.group("c"))]


def chained(match):
    """`0 <= p < 1`"""
    opening = "[" if match.group("o") == "<=" else "("
    closing = "]" if match.group("c") == "<=" else ")"
    return ["%s%s,%s%s" % (opening, match.group("j"), match.group("k"), closing)]


def numbers(match):
    if match.groupdict().get("one"):
        return [match.group("one")]
    return unique(re.findall(r"-?\d+", match.group("numbers")))


WORDS_OF_NUMBERS = {"double": 2, "triple": 3, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def in_words(match):
    """`a tuple of two ints`"""
    return ["[%d]" % WORDS_OF_NUMBERS[match.group("k").lower()]]


def bare_words(match):
    """`supported modes are: nearest, linear and cubic`"""
    found = re.split(r",\s*(?:or |and )?|\s+(?:or|and)\s+", match.group("words"))
    types = [word for word in found if word in phrases.DTYPES]
    return [] if 2 * len(types) > len(found) else unique(found)


MAKERS = {
    "in_words": in_words,
    "bare_words": bare_words,
    "product": product,
    "rows": rows,
    "last_sizes": last_sizes,
    "lengths": lengths,
    "lengths_of": lengths_of,
    "named_interval": named_interval,
    "chained": chained,
    "numbers": numbers,
    "dtypes": dtypes_in,
    "lists": lists_in,
    "tensors": tensors_in,
    "scalar_or_list": scalar_or_list,
    "at_least": at_least,
    "interval": interval,
    "quoted": quoted,
    "shape": shape_in,
}


def unique(values):
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
