"""Letters of documented shapes that stand for a parameter: `C` is "the number of channels `C` of the input".

A parameter's own description may name the letter, and the text of a Shape section may say that the two are
equal (`H_{in} = \\text{in\\_features}`).
"""

import re

from fissure_worker.discover import sentences

#: "number of features or channels `C` of the input", "`C` from an expected input of size `(N, C)`"
NAMED = re.compile(
    r"(?:number of|size of|length of)[^.`]{0,60}?`(?P<a>[A-Za-z](?:_\w+)?)`|^`?(?P<b>[A-Z])`? from an expected input"
)
#: `H_{in} = in_features`
EQUAL = re.compile(r"(?P<letter>[A-Z]\w*(?:_\{\w+\})?)\s*=\s*(?P<name>[a-z]\w+)")


def symbols(documented, shapes, numbers):
    """{letter: parameter} for those of `numbers`; a letter that two parameters claim is nobody's."""
    claims = {}
    for name, one in documented.items():
        if name not in numbers:
            continue
        text = sentences.plain(one.text()).replace(":math:", "")
        match = NAMED.search(text)
        if match:
            claims.setdefault(match.group("a") or match.group("b"), set()).add(name)
    for letter, name in equal_sizes(shapes):
        if name in numbers:
            claims.setdefault(letter, set()).add(name)
    return {letter: names.pop() for letter, names in claims.items() if len(names) == 1}


def equal_sizes(shapes):
    """Pairs of names that the texts of Shape sections say are equal."""
    for _, text in shapes:
        for match in EQUAL.finditer(sentences.plain(text).replace("\\", "")):
            yield match.group("letter").replace("{", "").replace("}", ""), match.group("name")
