"""Cutting texts at brackets and quotes: schemas, signature lines, lists of choices."""

import ast

OPENING = "([{"
CLOSING = ")]}"


def split(text, at=","):
    """The pieces between separators that are in no brackets and no quotes."""
    pieces = [""]
    depth = 0
    quote = None
    for letter in text:
        if quote is not None:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in OPENING) - (letter in CLOSING)
        if letter == at and depth == 0 and quote is None:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces if piece.strip()]


def bracketed(text, start):
    """Where the bracket that opens at `start` closes, or None."""
    depth = 0
    quote = None
    for at in range(start, len(text)):
        letter = text[at]
        if quote is not None:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in OPENING) - (letter in CLOSING)
            if depth == 0:
                return at
    return None


def literal(text):
    """The Python value of a literal, or the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
