"""Choices that a description tells over several sentences: `'a'` does this; `'b'` does that.

A list of bullets, clauses that each begin with a quoted word, or the parameter's own name with a value.
"""

import re

#: Clauses that begin with a quoted word and say what it does: `'TB' creates …; 'LR' creates …`
CLAUSE = re.compile(
    r"(?:^|[:;.,]\s|[:;.,](?=`{0,2}['\"]\w+['\"]`{0,2}\s*:)|[*\-\u2022]\s|\(|\s(?=['\"]\w+['\"] - )|\b(?:and|or|while|[Ii]f|[Ww]hen|[Uu]se)\s)"
    r"\s*`{0,2}[\"'](?P<value>[\w\-+]+)[\"']`{0,2}\s*"
    r"(?::|=|--?|,(?= (?:which|the|do|perform|use|then|will|it|no|only)\b)|\u2192|(?:creates?|corresponds?|means?|specif\w+|is|will|uses?|returns?|does|indicates?|for|performs?)\b)"
)
#: The same in code marks alone, where the verb leaves no doubt.
CODE = re.compile(
    r"(?:^|[:;.,]\s|\b(?:and|while|[Ii]f)\s)`{1,2}(?P<value>[\w\-]+)`{1,2} (?:corresponds? to|means|denotes)\b"
)
#: Bullets in code marks after "one of": `* `replace`: …`
BULLET = re.compile(r"\s[*\-\u2022]\s+`{1,2}[\"']?(?P<value>[\w\-+]+)[\"']?`{1,2}\s*(?::|--?|\()")
INTRODUCED = re.compile(
    r"\b(?:one of|either|options|values|choices|modes|supported|following)\b[^.]{0,40}:",
    re.IGNORECASE,
)
#: Numbers and what each stands for: `0: nearest neighbour. 1: bilinear.`
NUMBERED = re.compile(
    r"(?:^|[.:;,]\s+|\()(?P<value>-?\d+)\s?(?::|=|for\b|means\b|->)\s*(?=[A-Za-z`])"
)
#: Words of types in code marks are types.
NO_CHOICES = frozenset("true false tensor list tuple dict int float bool string str".split())


def extract(name, text, add):
    """Tells of the choices that the whole description of the parameter `name` shows."""
    for values, rule, confidence in (
        (words(CLAUSE, text), "clauses", 0.85),
        (words(CODE, text), "clauses", 0.85),
        (words(BULLET, text) if INTRODUCED.search(text) else [], "bullets", 0.85),
        (own(name, text), "own name", 0.85),
    ):
        if len(values) > 1:
            for value in values:
                add("enum", value, text, rule, confidence)
            add("dtype", "string", text, rule, confidence)
            return
    numbers = words(NUMBERED, text)
    if len(numbers) > 1:
        for value in numbers:
            add("enum", value, text, "numbered", 0.85)


def words(pattern, text):
    found = []
    for match in pattern.finditer(text):
        value = match.group("value")
        if value.lower() in NO_CHOICES or value == "None":
            return []
        if value not in found:
            found.append(value)
    if all(len(value) == 1 and value.isupper() for value in found):
        # Letters of a layout.
        return []
    return found


def own(name, text):
    pattern = r"\b%s\s*==?\s*`{0,2}[\"'](?P<value>[\w\-+]+)[\"']" % re.escape(name)
    return words(re.compile(pattern), text)
