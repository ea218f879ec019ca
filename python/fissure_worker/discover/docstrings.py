"""Docstrings into parameters: the styles of Google, NumPy, Sphinx and PyTorch.

Gives for each parameter what was written as its type and what was written about it, and the shapes
of PyTorch's section `Shape:`. What the words mean is for `sentences.py`.
"""

import inspect
import re

#: Titles of sections that list parameters.
PARAMETERS = frozenset(
    "args arguments parameters params inputs attributes_of_the_call keyword_args keyword_arguments "
    "other_parameters optional_arguments".split()
)
#: Titles that end such a section.
OTHERS = frozenset(
    "returns return yields raises raise example examples note notes shape shapes references "
    "see_also warning warnings variables attributes output outputs input_shape output_shape "
    "call_arguments reference usage deprecated todo eager_compatibility numpy_compatibility".split()
)
TITLE = re.compile(r"^(?P<title>[A-Z][A-Za-z ]{2,30}?)\s*:{1,2}\s*$")
BOLD_TITLE = re.compile(r"^(?:\*\*|#{1,4} ?)(?P<title>[A-Z][A-Za-z ]{2,30}?)(?:\*\*)?\s*:?\s*$")
UNDERLINE = re.compile(r"^\s*[-=~]{3,}\s*$")
NAMES = r"\*{0,2}`{0,2}(?P<names>[A-Za-z_]\w*(?:\s*(?:,|/|\band\b)\s*\*{0,2}[A-Za-z_]\w*)*)`{0,2}"
GOOGLE = re.compile(
    r"^" + NAMES + r"\s*(?:\((?P<type>(?:[^()]|\([^()]*\))*)\))?\s*:(?!:)\s*(?P<rest>.*)$"
)
NUMPY = re.compile(r"^" + NAMES + r"\s*(?::\s*(?P<type>.*))?$")
SPHINX = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:(?P<type>[^:]+?)\s+)?\*{0,2}(?P<names>\w+)\s*:\s*(?P<rest>.*)$"
)
SPHINX_TYPE = re.compile(r"^:type\s+(?P<names>\w+)\s*:\s*(?P<rest>.*)$")
FIELD = re.compile(r"^:\w+[^:]*:")


class Documented:
    """What is written about one parameter."""

    def __init__(self, name, kind, lines):
        self.name = name
        self.type = (kind or "").strip()
        self.lines = lines

    def text(self):
        return paragraph(self.lines)


def paragraph(lines):
    return re.sub(r"\s+", " ", " ".join(line.strip() for line in lines)).strip()


def key_of(title):
    return title.strip().lower().replace(" ", "_")


def indent(line):
    return len(line) - len(line.lstrip())


def parse(text):
    """(parameters by name, lines of the section about shapes)."""
    lines = inspect.cleandoc(text).expandtabs(4).splitlines()
    found = {}
    shape = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if SPHINX.match(line.strip()) or SPHINX_TYPE.match(line.strip()):
            at = sphinx(lines, at, found)
            continue
        title, after, numpy = heading(lines, at)
        if title is None:
            at += 1
            continue
        end = end_of_section(lines, after, indent(line), numpy)
        if key_of(title) in PARAMETERS:
            read = numpy_section if numpy else google_section
            for one in read(lines[after:end], indent(line)):
                found.setdefault(one.name, one)
            if numpy and not found:
                for one in google_section(lines[after:end], indent(line)):
                    found.setdefault(one.name, one)
        elif key_of(title) in ("shape", "shapes"):
            shape.extend(lines[after:end])
        at = max(end, at + 1)
    return found, shape


def heading(lines, at):
    """(title, first line after it, is it underlined) when a section begins here."""
    line = lines[at]
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if line.strip() and UNDERLINE.match(below) and indent(below) == indent(line):
        title = line.strip().rstrip(":")
        if key_of(title) in PARAMETERS or key_of(title) in OTHERS:
            return title, at + 2, True
    match = TITLE.match(line.strip()) or BOLD_TITLE.match(line.strip())
    if match and (
        key_of(match.group("title")) in PARAMETERS or key_of(match.group("title")) in OTHERS
    ):
        return match.group("title"), at + 1, False
    return None, at, False


def end_of_section(lines, start, level, numpy):
    for at in range(start, len(lines)):
        line = lines[at]
        if not line.strip():
            continue
        if indent(line) <= level and heading(lines, at)[0] is not None:
            return at
        if not numpy and indent(line) <= level and at > start and not GOOGLE.match(line.strip()):
            return at
        if not numpy and indent(line) < level:
            return at
    return len(lines)


def google_section(lines, level):
    """`name (type): words` at one indentation, continued at a deeper one."""
    inner = None
    current = None
    found = []
    for line in lines:
        if not line.strip():
            continue
        here = indent(line)
        plain = re.sub(r"^[-*•]\s+", "", line.strip())
        match = GOOGLE.match(plain)
        if match and (inner is None or here <= inner):
            inner = here if inner is None else inner
            current = []
            current.append(match.group("rest"))
            for name in split_names(match.group("names")):
                found.append(Documented(name, match.group("type"), current))
        elif current is not None:
            current.append(line)
    return found


def numpy_section(lines, level):
    """`name : type` at the section's indentation, words below it and deeper."""
    current = None
    found = []
    filled = [line for line in lines if line.strip()]
    base = min([indent(line) for line in filled] or [level])
    for line in lines:
        if not line.strip():
            continue
        match = NUMPY.match(line.strip()) if indent(line) == base else None
        if match:
            current = []
            for name in split_names(match.group("names")):
                found.append(Documented(name, match.group("type"), current))
        elif current is not None:
            current.append(line)
    return found


def sphinx(lines, at, found):
    """One field of Sphinx with its continuation; gives the line after it."""
    first = lines[at]
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line.strip() or FIELD.match(line.strip()) or indent(line) <= indent(first):
            break
        end += 1
    body = [lines[more] for more in range(at + 1, end)]
    match = SPHINX_TYPE.match(first.strip())
    if match:
        name = match.group("names")
        one = found.setdefault(name, Documented(name, "", []))
        one.type = paragraph([match.group("rest")] + body)
        return end
    match = SPHINX.match(first.strip())
    name = match.group("names")
    known = found.get(name)
    kind = match.group("type") or (known.type if known else "")
    found[name] = Documented(name, kind, [match.group("rest")] + body)
    return end


def split_names(text):
    return [one for one in re.split(r"\s*(?:,|/|\band\b)\s*\*{0,2}", text) if one.isidentifier()]


#: `- Input: :math:`(N, C_{in}, L_{in})` or :math:`(C_{in}, L_{in})``
SHAPE_ITEM = re.compile(r"^[-*]?\s*(?P<name>[A-Za-z_][\w ]*?)(?:\s*\([^)]*\))?\s*:\s*(?P<rest>.*)$")


def shapes(lines):
    """Of PyTorch's section `Shape`: (name in small letters, text), one for each item."""
    found = []
    for line in lines:
        match = SHAPE_ITEM.match(line.strip())
        if match and "(" in match.group("rest") or match and "same shape" in line:
            found.append([key_of(match.group("name")), [match.group("rest")]])
        elif found and line.strip():
            found[-1][1].append(line)
    return [(name, paragraph(text)) for name, text in found]
