"""Parameters of built-in functions, from the signature lines of their documentation.

Python knows no signature of a function written in C, but its documentation usually begins with
`name(input, other, *, alpha=1) -> Tensor`, once for each overload.
"""

import re

from fissure_worker.texts import CLOSING, OPENING, split

#: What stands for the default of a parameter that only some overloads have.
SOME_DEFAULT = "..."
NAME = re.compile(r"^[A-Za-z_][A-Za-z_0-9]*$")
#: How pybind11 begins a list of overloads, and each of them.
OVERLOADED = "Overloaded function."
NUMBERED = re.compile(r"^\d+\. ")
#: A signature has no more lines than this after its first.
MOST_LINES = 12
SIGNATURE = re.compile(r"^\s*(?:\.\. (?:function|method):: )?([\w.]+)\(")


def arguments_of(line, name):
    """The text between the brackets of a signature line, or None."""
    match = SIGNATURE.match(line)
    if match is None or not is_name_of(match.group(1), name):
        return None
    depth = 1
    for at in range(match.end(), len(line)):
        depth += (line[at] in OPENING) - (line[at] in CLOSING)
        if depth == 0:
            rest = line[at + 1 :].strip()
            # Anything but a result type after the bracket is prose or an example.
            return line[match.end() : at] if not rest or rest.startswith("->") else None
    return None


def is_name_of(written, name):
    """Is this the function: `linalg_vecdot` is documented as `linalg.vecdot`, `fft_fft` as `fft`."""
    written = written.replace(".", "_")
    return written.endswith(name) or name.endswith("_" + written)


def parse(text):
    """The parameters of one signature, or None if it is not one."""
    parameters = []
    kind = "positional_or_keyword"
    for piece in split(text):
        if piece == "*":
            kind = "keyword_only"
            continue
        if piece == "/":
            for parameter in parameters:
                parameter["kind"] = "positional_only"
            continue
        declared, equals, default = piece.partition("=")
        name, _, annotation = (part.strip() for part in declared.partition(":"))
        own_kind = kind
        if name.startswith("**"):
            own_kind = "var_keyword"
        elif name.startswith("*"):
            own_kind = "var_positional"
            kind = "keyword_only"
        name = name.lstrip("*")
        if not NAME.match(name):
            return None
        parameters.append(
            {
                "name": name,
                "kind": own_kind,
                "default": default.strip() if equals else None,
                "annotation": annotation or None,
            }
        )
    return parameters


def whole_lines(text):
    """The lines of a text; a signature that goes on over several is one of them."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if SIGNATURE.match(line):
            end = at
            while end < min(at + MOST_LINES, len(lines)) and depth_of(line) > 0:
                line, end = line + " " + lines[end].strip(), end + 1
            if depth_of(line) == 0:
                yield line
                at = end
                continue
            line = lines[at - 1]
        yield line


def depth_of(line):
    """Brackets that a line opens and does not close."""
    return sum((letter in OPENING) - (letter in CLOSING) for letter in line)


def overloads(name, text):
    """The signatures at the start of a documentation and after `.. function::`."""
    found = []
    at_start = True
    numbered = OVERLOADED in text
    for line in whole_lines(text.replace("\\*", "*")):
        marked = line.lstrip().startswith((".. function::", ".. method::"))
        if numbered and NUMBERED.match(line):
            line = NUMBERED.sub("", line)
            marked = True
        if not line.strip() or not (at_start or marked):
            continue
        inside = arguments_of(line, name)
        parameters = None if inside is None else parse(inside)
        if parameters is not None:
            found.append(parameters)
        elif not marked:
            at_start = False
    return found


def merge(found):
    """One list: what not every overload has is optional, the order is that of the longest."""
    found = sorted(found, key=len, reverse=True)
    merged = []
    for parameters in found:
        known = {parameter["name"] for parameter in merged}
        merged.extend(parameter for parameter in parameters if parameter["name"] not in known)
    for parameter in merged:
        everywhere = all(
            any(parameter["name"] == other["name"] for other in parameters) for parameters in found
        )
        if parameter["default"] is None and not everywhere:
            if not parameter["kind"].startswith("var_"):
                parameter["default"] = SOME_DEFAULT
    return merged


def parameters(target):
    """The documented parameters of an object, or None."""
    text = getattr(target, "__doc__", None)
    name = getattr(target, "__name__", None)
    if not isinstance(text, str) or not isinstance(name, str):
        return None
    found = overloads(name, text)
    return merge(found) if found else None
