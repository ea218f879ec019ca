"""Sentences about a parameter into constraints, by the rules of `phrases.py`.

A constraint is a dictionary: `key` and `value` as in constraint files, the `sentence` it was read
from, the `rule` that read it, and how sure that is (`confidence`).
"""

import re

from fissure_worker.discover import phrases, texts

MOST_SENTENCES = 24
#: How often one rule reads one sentence.
MOST_MATCHES = 4
#: Text that ends with these is no end of a sentence.
ABBREVIATIONS = ("e.g", "i.e", "etc", "vs", "w.r.t", "approx", "resp", "dim", "cf", "fig", "eq")
END = re.compile(r"(?<=[.;!?])\s+(?=[A-Z0-9`'\"(\[:*-])|\s+(?:-|\*|•)\s+(?=[A-Z`])")
MARKUP = (
    (re.compile(r":(?:attr|class|func|meth|obj|ref|data|mod|paramref|py:\w+):`~?\.?([^`<]*?)(?:\s*<[^>]*>)?`"), r"`\1`"),
    (re.compile(r"\\(?:text|textit|mathrm|mathbf|mathit|mbox)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:geq?|geqslant)\b"), ">="),
    (re.compile(r"\\(?:leq?|leqslant)\b"), "<="),
    (re.compile(r"\\times\b"), "*"),
    (re.compile(r"\\(?:ldots|dots|cdots)\b"), "..."),
    (re.compile(r"\\(?:infty|inf)\b"), "inf"),
    (re.compile(r"\\_"), "_"),
    (re.compile(r"\\[,;! ]"), " "),
    (re.compile(r"[\u2013\u2014]"), "-"),
)  # fmt: skip
DEFAULT = re.compile(r"(?:^|[\s(,.])\(?[Dd]efaults?(?: value)?\s*(?:to|is|:|=)?\s*:?\s*(?P<value>``?[^`]+``?|'[^']*'|\"[^\"]*\"|-?[\w.\-]+)")


def compiled():
    words = dict(phrases.WORDS)
    words["param"] = r"\w+"
    made = []
    for name, pattern, constraints, confidence in phrases.RULES:
        pattern = fill(pattern, words)
        made.append((name, re.compile(pattern, re.IGNORECASE), constraints, confidence))
    return made


def fill(pattern, words):
    """`{word}` is replaced, `{{` and `}}` are braces."""

    def one(match):
        text = match.group(0)
        if text in ("{{", "}}"):
            return text[0]
        return words[text[1:-1]]

    return re.sub(r"\{\{|\}\}|\{\w+\}", one, pattern)


RULES = compiled()


def plain(text):
    """Without the marks of Sphinx and LaTeX that stand between the words."""
    for pattern, into in MARKUP:
        text = pattern.sub(into, text)
    return re.sub(r"\s+", " ", text).strip()


def split(text):
    """Sentences, cut where a stop is one."""
    pieces = END.split(text)
    joined = []
    for piece in pieces:
        before = joined[-1].rstrip(".").lower() if joined else ""
        if joined and before.endswith(ABBREVIATIONS):
            joined[-1] += " " + piece
        else:
            joined.append(piece)
    return [one.strip() for one in joined if one and one.strip()][:MOST_SENTENCES]


def constraint(key, value, sentence, rule, confidence):
    return {
        "key": key,
        "value": value,
        "sentence": sentence[:200],
        "rule": rule,
        "confidence": confidence,
    }


def extract(name, kind, text, params=(), default=None):
    """All that is written about the parameter `name`: its type's text, its description, its
    default. `params` are the names of the API's parameters."""
    found = []
    add = lambda *facts: found.append(constraint(*facts))
    typed = type_text(plain(kind or ""), add)
    text = plain(text or "")
    for at, sentence in enumerate(split(text)):
        sentence = sentence.rstrip(" .")
        if at < 2:
            leading_types(sentence, add)
        from_sentence(sentence, set(params) | {name}, name, add)
    if default is None:
        default = documented_default(text)
    if default is not None:
        from_default(str(default), add, found)
    return settle(found, typed)


def from_sentence(sentence, params, own, add):
    shown = re.sub(r"^(?:\(optional\)|optional)[,.:]?\s*", "", sentence, flags=re.IGNORECASE)
    for name, pattern, constraints, confidence in RULES:
        for match in list(pattern.finditer(shown))[:MOST_MATCHES]:
            groups = match.groupdict()
            if "p" in groups:
                wanted = known_param(groups["p"], params)
                if wanted is None or wanted == own:
                    continue
            if name in ABOUT_OTHERS and others(sentence, own):
                continue
            for key, values in constraints.items():
                for value in values:
                    if value.startswith("@"):
                        made = MAKERS[value[1:]](match)
                    else:
                        made = [match.expand(value)]
                    for one in made:
                        add(key, one, sentence, name, confidence)


#: Rules that read a property of whatever the sentence is about.
ABOUT_OTHERS = ("positive", "non-negative", "strictly positive", ">=", "> number", "greater than", "at least")


def others(sentence, own):
    """Does the sentence name something else in code marks?"""
    named = re.findall(r"`+([A-Za-z_]\w*)`+", sentence)
    return any(one != own and one.lower() not in TYPE_WORDS for one in named)


TYPE_WORDS = frozenset(
    list(phrases.DTYPES) + list(phrases.STRUCTURES) + list(phrases.OTHER_TYPES) + ["true", "false"]
)


def known_param(word, params):
    return word if word in params else None


# Values that rules name with `@`.


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
    return [">=%s" % (match.group("k") or match.group("j"))]


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
    if len(found) > 1 and all(len(value) == 1 and value.isalpha() for value in found):
        # Letters of a layout, not choices.
        return []
    if any(value.lower() in phrases.DTYPES or value.lower().strip("s") in phrases.STRUCTURES for value in found):
        # Types in quotes are types.
        return []
    return found


def shape_in(match):
    value = shape(match.group("box"))
    return [] if value is None else [value]


MAKERS = {
    "dtypes": dtypes_in,
    "lists": lists_in,
    "tensors": tensors_in,
    "scalar_or_list": scalar_or_list,
    "at_least": at_least,
    "interval": interval,
    "quoted": quoted,
    "shape": shape_in,
}

DIMENSION = re.compile(r"^(?:[A-Za-z_]\w*|\d+)(?:\s*[-+*/]\s*(?:[A-Za-z_]\w*|\d+))*$")


def shape(box):
    """A shape in the grammar of constraint files from `(N, C_{in}, *)` and the like, or None."""
    inner = box.strip()[1:-1].strip()
    if not inner:
        return None
    parts = []
    for part in texts.split(inner):
        part = part.strip().strip("`'\"")
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
    while before and SERIES.match(before[-1]) and SERIES.match(before[-1]).group(1) == series.group(1):
        before = before[:-1]
    return before + ["..."] + after[1:]


#: In brackets, but no shape.
NO_SHAPES = frozenset("optional optional_string tensor default deprecated int float bool string list tuple".split())


# The text of a type.

SPLIT_TYPES = re.compile(r"\s*(?:,|\||/|\bor\b|;)\s*")


def type_text(text, add):
    """Reads `int or tuple of ints, optional`; gives the keys that it settled."""
    if not text:
        return set()
    sentence = text
    told = set()

    def say(key, value, confidence=0.95):
        told.add(key)
        add(key, value, sentence, "type", confidence)

    choices = re.search(r"\{([^{}]*)\}", text)
    values = [one.strip().strip("'\"`") for one in texts.split(choices.group(1))] if choices else []
    shown = choices is not None and re.search(r"['\"]", choices.group(1))
    if any(is_type(value) for value in values) and not shown:
        # `{int, tuple of int}`: alternatives of types.
        text = text.replace("{", "").replace("}", "")
        choices = None
    if choices:
        for value in values:
            if value and re.match(r"^[\w\-+. ]+$", value):
                say("enum", value)
        if all(re.match(r"^-?\d+$", one) for one in values):
            say("dtype", "int")
        elif all(not re.match(r"^-?[\d.]+$", one) for one in values):
            say("dtype", "string")
        say("ndim", "0")
        text = text[: choices.start()] + text[choices.end() :]
    shown = re.search(r"\bof shape (\([^()]*\)|\[[^\[\]]*\])|\bshape\s*[=:]?\s*(\([^()]*\)|\[[^\[\]]*\])", text)
    if shown:
        value = shape(shown.group(1) or shown.group(2))
        if value:
            say("shape", value)
        text = text[: shown.start()] + text[shown.end() :]
    text = re.sub(r"\b(?:optional|required|default\s*[=:]?\s*\S+|deprecated|keyword only)\b", "", text, flags=re.IGNORECASE)
    for part in texts.split(text):
        for piece in [part] if "[" in part else SPLIT_TYPES.split(part):
            for one in re.split(r"\s+or\s+", piece):
                one_type(one.strip(" .`:()<>"), say)
    return told


def is_type(value):
    first = value.lower().split(" ")[0].rstrip("s")
    if first == "none":
        return False
    return first in phrases.STRUCTURES or first in phrases.DTYPES or first in phrases.OTHER_TYPES


def one_type(piece, say):
    low = re.sub(r"[`~<>]", "", piece).strip().lower()
    if not low:
        return
    low = re.sub(r"^(?:an?|the|python|optional|single|input|non-?empty)\s+", "", low)
    if re.search(r"\bnon-?negative\b", low):
        say("range", "[0,inf)")
    elif re.search(r"\bpositive\b", low):
        say("range", "(0,inf)")
    low = re.sub(r"\b(?:non-?negative|positive|python)\s+", "", low)
    rank = re.match(r"^(\d)-?d\b\s*(.*)$", low)
    if rank:
        say("ndim", rank.group(1))
        low = rank.group(2)
    bare = re.sub(r"^(?:tf|torch|np|numpy|mx\.nd|mxnet|jnp|jax|nn)\.", "", low)
    generic = re.match(r"^(list|tuple|sequence|iterable|optional|union)\[(.*)\]$", bare)
    if generic:
        if generic.group(1) in ("optional", "union"):
            for inner in generic.group(2).split(","):
                one_type(inner.strip(), say)
            return
        bare = "%s of %s" % (generic.group(1), generic.group(2).split(",")[0])
    container = re.match(
        r"^(list|tuple|sequence|iterable|array|ndarray|tensor|array[-_]like|dict)s?(?:\(s\))?(?:/list|/tuple)?(?: or tuple)? (?:of|containing) (?P<count>\d+ )?<?(?:python )?([\w.\-]+)", bare
    )  # fmt: skip
    if container:
        outer, count, inner = container.groups()
        if count:
            say("shape", "[%s]" % count.strip(), 0.9)
        key, value = phrases.STRUCTURES[outer]
        say(key, value)
        inner = re.sub(r"^(?:tf|torch|np|numpy)\.", "", inner)
        if phrases.DTYPES.get(inner):
            say("dtype", phrases.DTYPES[inner])
            if value in ("list", "tuple", "sequence"):
                say("ndim", "1", 0.85)
        elif inner in phrases.STRUCTURES and phrases.STRUCTURES[inner][0] == "tensor_t":
            say("tensor_t", "tensor")
        return
    if low in phrases.OTHER_TYPES or bare in phrases.OTHER_TYPES:
        key, value = phrases.OTHER_TYPES.get(low) or phrases.OTHER_TYPES[bare]
        say(key, value)
        return
    if bare in phrases.TENSOR_CLASSES:
        say("tensor_t", "tensor")
        say("dtype", phrases.TENSOR_CLASSES[bare])
        return
    if bare in ("shape(tuple", "shape tuple", "shape"):
        say("structure", "tuple")
        say("dtype", "int")
        say("ndim", "1")
        say("range", "[0,inf)", 0.8)
        return
    words = bare.split()
    for at, word in enumerate(words[:3]):
        word = word.strip("()[],.")
        if word in phrases.STRUCTURES and at == len(words) - 1:
            say(*phrases.STRUCTURES[word])
            for before in words[:at]:
                if phrases.DTYPES.get(before):
                    say("dtype", phrases.DTYPES[before])
            return
    first = words[0].strip("()[],.") if words else ""
    if phrases.DTYPES.get(first):
        say("dtype", phrases.DTYPES[first])
        if len(words) == 1:
            say("ndim", "0")
    elif first == "scalar":
        say("ndim", "0")
    elif first in phrases.STRUCTURES and len(words) <= 2:
        say(*phrases.STRUCTURES[first])


#: One alternative of "A `Tensor`, an integer or a list of ints".
LEADING = re.compile(
    fill(
        r"^(?:an? |the |one |either |optional |python |single |1-?d |\d-?d |n-?d |scalar |dense |input |non-?negative |positive |nested |possibly )*"
        r"`?['\"]?(?:tf\.|torch\.|np\.|numpy\.)?(?P<type>{dtype}|{tensor}|sparsetensor|raggedtensor|list|tuple|sequence|iterable|dict|dictionary|array|ndarray|scalar|array_like)['\"]?`?"
        r"(?P<of>s? of (?:\d+ |non-?negative |positive |python |\d-?d )*`?(?:tf\.|torch\.)?(?:{dtype}|{tensor})`?s?)?(?P<value> (?:value|number|object|type)s?)?$",
        phrases.WORDS,
    ),
    re.IGNORECASE,
)


def leading_types(sentence, add):
    """Reads the alternatives that a sentence begins with, as far as they are types."""
    head = re.split(r"\b(?:specifying|representing|containing|with|that|which|indicating|giving|used|where|for|to|whose|as|holding|in|from|between|describing|denoting|defining|of (?:the )?same|instance|identifying|object)\b|[:;(]", sentence)[0]
    pieces = [piece.strip(" .,") for piece in re.split(r",|\bor\b|/", head) if piece.strip(" .,")]
    matches = []
    for piece in pieces:
        match = LEADING.match(piece)
        if match is None:
            break
        matches.append(match)
    if not matches or (len(matches) < len(pieces) and "," not in sentence and len(matches) < 2):
        return
    say = lambda key, value, confidence=0.9: add(key, value, sentence, "leading types", min(confidence, 0.9))
    for match in matches:
        text = (match.group("type") + (match.group("of") or "")).replace("`", "")
        one_type(text, say)
        rank = re.match(r".*?(\d)-?d ", match.group(0)[: match.start("type")], re.IGNORECASE)
        if rank:
            say("ndim", rank.group(1))
        elif "scalar" in match.group(0).lower():
            say("ndim", "0")


def documented_default(text):
    match = DEFAULT.search(text)
    return match.group("value").strip("`") if match else None


def from_default(value, add, found):
    """A default is a value that fits: its sort, and that it is one number."""
    value = value.strip().rstrip(".")
    sentence = "default %s" % value
    known = {one["key"] for one in found}
    literal = texts.literal(value)
    if isinstance(literal, bool):
        add("dtype", "bool", sentence, "default", 0.95)
        add("ndim", "0", sentence, "default", 0.95)
    elif isinstance(literal, (int, float)):
        if "dtype" not in known:
            kind = "int" if isinstance(literal, int) else "float"
            add("dtype", kind, sentence, "default", 0.85)
        if "structure" not in known and "tensor_t" not in known:
            add("ndim", "0", sentence, "default", 0.85)
    elif isinstance(literal, (tuple, list)) and literal:
        kind = "tuple" if isinstance(literal, tuple) else "list"
        if "structure" not in known:
            add("structure", kind, sentence, "default", 0.85)
        if "dtype" not in known and all(type(one) is int for one in literal):
            add("dtype", "int", sentence, "default", 0.85)
    elif value[:1] in "'\"" and isinstance(literal, str) and literal:
        if "dtype" not in known:
            add("dtype", "string", sentence, "default", 0.9)
            add("ndim", "0", sentence, "default", 0.9)


def settle(found, typed):
    """Each fact once, the surest first; what the type says outright overrules looser words."""
    best = {}
    for one in found:
        key = (one["key"], one["value"])
        if key not in best or best[key]["confidence"] < one["confidence"]:
            best[key] = one
    facts = list(best.values())
    kept = []
    if any(one["rule"] == "types listed" for one in facts):
        facts = [
            one
            for one in facts
            if one["key"] != "dtype" or one["rule"] == "types listed" or ":" in one["value"]
        ]
    dtypes = {one["value"] for one in facts if one["key"] == "dtype"}
    keys = {one["key"] for one in facts}
    if dtypes & {"bool", "string", "dtype", "callable"} or "enum" in keys:
        # Of something that has neither a size nor a shape the sentence spoke of another thing.
        facts = [one for one in facts if one["key"] != "shape" and one["rule"] not in ("amount", "size of")]
    if "tensor_t" in keys:
        facts = [one for one in facts if one["rule"] != "amount"]
    elif "structure" not in keys and "0" in [one["value"] for one in facts if one["key"] == "ndim"]:
        facts = [one for one in facts if one["key"] != "shape"]
    containers = [one for one in facts if one["key"] in ("structure", "tensor_t")]
    for one in facts:
        if one["key"] == "dtype" and one["confidence"] < 0.75 and len(dtypes) > 1:
            continue
        if one["key"] == "dtype" and "dtype" in typed and one["rule"] not in ("type", "types listed"):
            if one["value"] not in ("dtype",) and not one["value"].startswith("dtype:"):
                continue
        if one["key"] == "dtype" and one["value"] == "float" and one["rule"] == "probability" and len(dtypes) > 1:
            continue
        if one["key"] == "ndim" and one["value"] == "0" and containers:
            # A list or a tensor is no single number, unless both are possible.
            if one["rule"] not in ("scalar", "type", "k-D", "leading types"):
                continue
        kept.append(one)
    ranges = [one for one in kept if one["key"] == "range"]
    if len(ranges) > 1:
        top = max(ranges, key=lambda one: one["confidence"])
        kept = [one for one in kept if one["key"] != "range" or one is top]
    return kept


def unique(values):
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
