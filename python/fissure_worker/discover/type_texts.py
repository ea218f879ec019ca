"""The text of a documented type (`int or tuple of ints, optional`) into constraints, and the types that a
sentence begins with (`A Tensor, an integer or a list of ints`).
"""

import re

from fissure_worker import texts
from fissure_worker.discover import phrases, shapes


def fill(pattern, words):
    """`{word}` is replaced, `{{` and `}}` are braces."""

    def one(match):
        text = match.group(0)
        if text in ("{{", "}}"):
            return text[0]
        return words[text[1:-1]]

    return re.sub(r"\{\{|\}\}|\{\w+\}", one, pattern)


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
    shown = re.search(
        r"\bof shape (\([^()]*\)|\[[^\[\]]*\])|\bshape\s*[=:]?\s*(\([^()]*\)|\[[^\[\]]*\])", text
    )
    if shown:
        value = shapes.shape(shown.group(1) or shown.group(2))
        if value:
            say("shape", value)
        text = text[: shown.start()] + text[shown.end() :]
    text = re.sub(
        r"\b(?:optional|required|default\s*[=:]?\s*\S+|deprecated|keyword only)\b",
        "",
        text,
        flags=re.IGNORECASE,
    )
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
    pairs = re.match(r"^(\d)-(tuple|list)\b(?: of (\w+))?", low)
    if pairs:
        say("shape", "[%s]" % pairs.group(1))
        low = "%s of %s" % (pairs.group(2), pairs.group(3)) if pairs.group(3) else pairs.group(2)
    bare = re.sub(r"^(?:tf|torch|np|numpy|mx\.nd|mxnet\.ndarray|mxnet|jnp|jax|nn)\.", "", low)
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
    head = re.split(
        r"\b(?:specifying|representing|containing|with|that|which|indicating|giving|used|where|for|to|whose|as|holding|in|from|between|describing|denoting|defining|of (?:the )?same|instance|identifying|object)\b|[:;(]",
        sentence,
    )[0]
    pieces = [piece.strip(" .,") for piece in re.split(r",|\bor\b|/", head) if piece.strip(" .,")]
    matches = []
    for piece in pieces:
        match = LEADING.match(piece)
        if match is None:
            break
        matches.append(match)
    if not matches or (len(matches) < len(pieces) and "," not in sentence and len(matches) < 2):
        return

    def say(key, value, confidence=0.9):
        return add(key, value, sentence, "leading types", min(confidence, 0.9))

    for match in matches:
        text = (match.group("type") + (match.group("of") or "")).replace("`", "")
        one_type(text, say)
        rank = re.match(r".*?(\d)-?d ", match.group(0)[: match.start("type")], re.IGNORECASE)
        if rank:
            say("ndim", rank.group(1))
        elif "scalar" in match.group(0).lower():
            say("ndim", "0")
