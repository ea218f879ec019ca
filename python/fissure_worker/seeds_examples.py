"""What the documentation of a function holds: examples, run under observation, and quoted words."""

import contextlib
import doctest
import io
import re

#: Examples that run longer are about something else.
MOST = 40


def words(function):
    """Words in quotes: what a parameter that takes a text may be."""
    found = re.findall(r"""[`'"]{1,2}([A-Za-z_]{1,20})['"`]{1,2}""", function.__doc__ or "")
    ordered = sorted(set(found), key=found.index)
    return ordered[:24] or ["constant"]


def observed(library, path, function):
    """Arguments of every call of the function while the examples of its documentation run."""
    calls = []
    try:
        examples = doctest.DocTestParser().get_examples(function.__doc__ or "")
    except ValueError:
        # Examples that are not indented as doctest wants them.
        return calls
    if not examples:
        return calls

    def recorder(*arguments, **keywords):
        calls.append((list(arguments), dict(keywords)))
        return function(*arguments, **keywords)

    names = library.namespace()
    with library.replaced(function, recorder):
        for example in examples[:MOST]:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(example.source, "<example>", "single"), names)
            except Exception:
                # Often meant to: the next example may stand alone.
                continue
    return calls
