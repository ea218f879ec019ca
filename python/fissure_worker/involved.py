"""Which arguments of a refused call the failing expression works on, and how far the call came.

How far: the instruction that failed in the function called, in the function that it called there, and so on. Of two
calls that fail in the same functions, the one that fails at the later instruction has passed more checks.

A message seldom names the argument that is wrong ("index 2 is out of bounds for dimension 1"), but where Python code
raised it, its frames are there: the names in the failing expression, what they were computed from, and the objects
behind them, some of which are the arguments themselves. Nothing here may change or call anything of the target.
"""

import dis
import linecache
import re
import sys

from fissure_worker import conditions

#: Frames that are looked into, from the inside out.
FRAMES = 12
#: Names that are told at most.
NAMES = 12
#: Frames, from the outside in, that say how far a call came.
WAY = 12
#: Steps of the traceback that are walked.
STEPS = 200
#: Instructions of a function beyond which it is not read.
INSTRUCTIONS = 4000

#: (code, instruction) -> names in the failing expression; code -> what each name is computed from.
expressions = {}
sources = {}


def involved(error, arguments, keywords, layer, made=False):
    """`way|word,word|clause;clause`: how far the call came, then arguments (`#1` by position, `~0` of the call on a
    layer) or, where no argument is recognised, names of variables, innermost first, then what would have made the
    failing check hold (`conditions.py`). None for what no Python code raised. `made`: the object was made, and the call
    on it failed."""
    steps = steps_of(error)
    if not steps:
        return None
    given = objects(arguments, keywords, layer)
    clauses = conditions.clauses(steps, given, identity)
    return "|".join([way(steps, made), ",".join(words_of(steps, given)), ";".join(clauses)])


def words_of(steps, given):
    inside_out = steps[: -FRAMES - 1 : -1]
    words = []
    for step in inside_out:
        frame = step.tb_frame
        for name in expression(frame.f_code, step.tb_lasti, step.tb_lineno):
            word = given.get(identity(frame, name))
            if word is not None and word not in words:
                words.append(word)
        if words:
            return words[:NAMES]
    for step in inside_out:
        code = step.tb_frame.f_code
        for name in expression(code, step.tb_lasti, step.tb_lineno):
            for origin in origins(code, name):
                if origin not in words and origin.isidentifier():
                    words.append(origin)
    return words[:NAMES]


def how_far(error, made=False):
    """The same without any argument."""
    steps = steps_of(error)
    return way(steps, made) + "|" if steps else None


def steps_of(error):
    """Steps of the traceback outside Fissure, outermost first."""
    steps = []
    step = error.__traceback__
    while step is not None and len(steps) < STEPS:
        if not step.tb_frame.f_code.co_filename.startswith("<fissure>"):
            steps.append(step)
        step = step.tb_next
    return steps


def way(steps, made):
    """`made;function.instruction;function.instruction`, outermost first; functions by their first line."""
    functions = [(step.tb_frame.f_code.co_firstlineno, step.tb_lasti) for step in steps[:WAY]]
    return ";".join(["01"[bool(made)]] + ["%d.%d" % one for one in functions])


def objects(arguments, keywords, layer):
    """What each argument and each item of a list of them is called, by identity. Small numbers, texts and the like
    are one object wherever they occur, and say nothing."""
    given = {}

    def add(value, word):
        given.setdefault(id(value), word)
        if type(value) in (list, tuple):
            for item in value[:8]:
                if is_telling(item):
                    given.setdefault(id(item), word)

    calls = [("#", arguments, keywords)]
    if layer:
        calls.append(("~", layer[0], layer[1]))
    for mark, by_position, by_name in calls:
        for at, value in enumerate(by_position):
            if is_telling(value):
                add(value, "%s%d" % (mark, at))
        for name, value in by_name.items():
            if is_telling(value):
                add(value, name)
    return given


def is_telling(value):
    return value is not None and type(value) not in (bool, int, float, complex, str, bytes, type)


def identity(frame, name):
    """Of the object that a variable holds, or of what it is a view of."""
    value = frame.f_locals.get(name)
    if not is_telling(value):
        return None
    for base in ("_base", "base"):
        try:
            whole = object.__getattribute__(value, base)
        except Exception:
            continue
        if is_telling(whole) and type(whole) is type(value):
            return id(whole)
    return id(value)


def expression(code, instruction, line):
    """Names of variables in the expression that failed; in the whole line before Python 3.11."""
    key = (code, instruction)
    if key not in expressions:
        expressions[key] = read_expression(code, instruction, line)
    return expressions[key]


def read_expression(code, instruction, line):
    inside = None
    if sys.version_info >= (3, 11):
        positions = list(code.co_positions())
        failed = positions[instruction // 2] if instruction // 2 < len(positions) else None
        if failed and None not in failed:
            begin, end = (failed[0], failed[2]), (failed[1], failed[3])
            inside = {
                2 * at
                for at, (first, last, left, right) in enumerate(positions)
                if None not in (first, last, left, right)
                and begin <= (first, left)
                and (last, right) <= end
            }
    found = []
    for offset, names, at_line, stores in instructions(code):
        here = at_line == line if inside is None else offset in inside
        if here and not stores:
            found.extend(names)
    if inside and not found and begin[0] == end[0]:
        # One instruction may load two variables, and stands where the first of them does (3.13).
        text = (
            linecache.getline(code.co_filename, begin[0])
            .encode()[begin[1] : end[1]]
            .decode("utf-8", "replace")
        )
        known = code.co_varnames + code.co_freevars + code.co_cellvars
        found.extend(word for word in re.findall(r"[^\W\d]\w*", text) if word in known)
    return found


def instructions(code):
    """(offset, names of variables, line, whether they are stored to) of each instruction that has to do with any."""
    if len(code.co_code) > 2 * INSTRUCTIONS:
        return
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    for one in dis.get_instructions(code):
        line = starts.get(one.offset) or line
        stores = one.opname.startswith("STORE_")
        if not stores and not one.opname.startswith("LOAD_"):
            continue
        if not any(kind in one.opname for kind in ("FAST", "DEREF", "NAME")):
            continue
        names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        yield one.offset, [name for name in names if isinstance(name, str)], line, stores


def origins(code, name):
    """The variable itself and all that it was computed from, nearest first."""
    if code not in sources:
        sources[code] = read_sources(code)
    found = [name]
    for known in found:
        for origin in sources[code].get(known, ()):
            if origin not in found and len(found) < 2 * NAMES:
                found.append(origin)
    return found


def read_sources(code):
    """What stands on the lines that each variable is assigned on."""
    loaded, stored = {}, {}
    for _, names, line, stores in instructions(code):
        (stored if stores else loaded).setdefault(line, []).extend(names)
    found = {}
    for line, names in stored.items():
        for name in names:
            found.setdefault(name, []).extend(loaded.get(line, ()))
    return found
