"""What the text of a docstring outside its sections says about parameters that it names.

"If `batch1` is a (b × n × m) tensor, `batch2` is a (b × m × p) tensor", "`A` and `B` must be 3-D
tensors", "The input tensor must be of integral types".
"""

import re

from fissure_worker.discover import docstrings, sentences
from fissure_worker.discover.shapes import shape

LONGEST = 6000
#: `name` is a (b * n * m) tensor
SHAPED = re.compile(
    r"`+(?P<name>\w+)`+,? (?:is|be|has shape|of shape|must be|should be|to be|with shape)(?: an?| the)?"
    r"(?: tensor of shape| of shape| shape)? ?(?::math:)?`*(?P<box>\([^()]+\))`*"
    r"(?= tensor| matrix|-shaped|,|\.|$| and)"
)
#: `name` is a vector of size m
VECTOR = re.compile(
    r"`+(?P<name>\w+)`+ (?:is|must be|should be)(?: an?)? (?:1-D tensor|vector) of (?:size|length) "
    r"(?::math:)?`*(?P<size>\w+)`*"
)
#: `a` and `b` must be …
PREDICATE = re.compile(
    r"(?P<names>(?:`+\w+`+(?:,? and |, | or )?)+|[Tt]he (?:first )?inputs?(?: tensors?)?) "
    r"(?:must|should|has to|have to|needs? to)(?: all| both)? be (?P<rest>[^;]+)"
)
#: the shapes of `a` and `b` must be broadcastable; the shape of `a` must be broadcastable with `b`
BROADCAST = re.compile(
    r"shapes? of(?: the)? (?P<list>(?:`+\w+`+(?: tensors?)?(?:,? and(?: the)? |, )?)+)[^.`]{0,40}?"
    r"\b(?:must|should|has to|have to|needs? to) be broadcast(?:able)?\b"
    r"(?: (?:with|to)(?: the shape of)?(?: the)?(?: underlying tensor|(?: tensor)? `+(?P<c>\w+)`+))?"
)


def read(text, names):
    """{parameter: constraints} from everything before the first section."""
    found = {}
    plain = sentences.plain(before_sections(text)[:LONGEST])
    for sentence in sentences.split(plain):
        for match in SHAPED.finditer(sentence):
            if match.group("name") in names:
                box = match.group("box")
                if "," not in box:
                    box = re.sub(r"\s*(?:\*|x|\u00d7)\s*", ", ", box)
                value = shape(box)
                if value is not None:
                    add(found, match.group("name"), "shape", value, sentence, "shape in prose")
        for match in VECTOR.finditer(sentence):
            if match.group("name") in names:
                value = "[%s]" % match.group("size")
                add(found, match.group("name"), "shape", value, sentence, "shape in prose")
        for match in BROADCAST.finditer(sentence):
            listed = re.findall(r"`+(\w+)`+", match.group("list"))
            order = ([match.group("c")] if match.group("c") else []) + listed
            if match.group(0).endswith("underlying tensor"):
                order.insert(0, "input")
            order = [name for name in order if name in names]
            for name in order[1:]:
                if name != order[0]:
                    add(found, name, "broadcast", order[0], sentence, "shapes that broadcast")
        for match in PREDICATE.finditer(sentence):
            for name in subjects(match.group("names"), names):
                say = lambda *facts: found.setdefault(name, []).append(  # noqa: E731
                    sentences.constraint(*facts)
                )
                rest = "Must be " + match.group("rest").rstrip(" .")
                sentences.from_sentence(rest, names, name, say)
    return found


def subjects(text, names):
    quoted = re.findall(r"`+(\w+)`+", text)
    if quoted:
        return [name for name in quoted if name in names]
    return [name for name in ("input", "x", "self") if name in names][:1]


def add(found, name, key, value, sentence, rule):
    found.setdefault(name, []).append(sentences.constraint(key, value, sentence, rule, 0.85))


def before_sections(text):
    lines = text.splitlines()
    kept = []
    for at, line in enumerate(lines):
        if docstrings.heading(lines, at)[0] is not None or line.strip().startswith(">>>"):
            break
        kept.append(line)
    return " ".join(line.strip() for line in kept)
