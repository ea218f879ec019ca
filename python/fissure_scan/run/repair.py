"""From what a function says when it is called to other arguments worth trying.

Each rule reads a kind of complaint (a rank, a size, a type, a choice, an attribute) and proposes
changed specs for the parameters that may be meant: those named in the message, those whose shape is
in it, those on the line that failed, else all.
"""

import re
import sys

import numpy as np

from . import specs

_RANK = re.compile(
    r"(?:expected|must be|should be|has to be|want|requires?|only support\w*|needs?)"
    r"[^.\d]{0,40}(\d)\s*-?\s*[dD](?:im|\b)|(\d)-?\s?dimension|ndim\s*[>=]?={1,2}\s*(\d)|"
    r"(\d)[dD] (?:array|tensor|input)|expected (?:ndim|dim)=(\d)",
    re.I,
)
_LITERAL = re.compile(r"[\[(]((?:\d+\s*,\s*)+\d*)[\])]")
# Code of an assertion: `x.shape[1] >= 2`, `x.ndim == 3`.
_SIZE_ASKED = re.compile(r"(\w+)\.(?:shape\[|size\()(-?\d)[\])]\s*([=><]=|>)\s*(\d+)")
_RANK_ASKED = re.compile(r"(\w+)(?:\.ndim|\.dim\(\)|\.shape\))\s*([=>]=|>)\s*(\d)")
_UNPACK = re.compile(r"values to unpack \(expected (?:at least )?(\d+)")
_MORE_AXES = re.compile(
    r"dimension out of range|too many indices|tuple index out of range|"
    r"axis -?\d+ is out of bounds|out of bounds for array of dimension|"
    r"dimension specified as|has no dimension",
    re.I,
)
_CHANNELS = re.compile(r"to have (\d+) channels")
_PRODUCT = re.compile(r"\((\d+)x(\d+) and (\d+)x(\d+)\)")
_FEATURES = re.compile(
    r"(?:expected|normalized_shape|input_size|running_mean should contain)\D{0,40}"
    r"(\d+)",
    re.I,
)
_SAME = re.compile(
    r"must match|could not be broadcast|not aligned|inconsistent|same (?:shape|size|"
    r"length|number)|mismatch|incompatible|not broadcastable|do not match|"
    r"doesn't match|don't match|equal (?:shape|size|length)|expected size|"
    r"are not|differ",
    re.I,
)
_WHOLE = re.compile(
    r"\blong\b|integer|int64|as indices must|IndexTensor|\bint\b|dtype.*index", re.I
)
_REAL = re.compile(
    r"expected.*float|must be.*float|found (?:long|int)|not implemented for '(?:Long|"
    r"Int|Bool)'|floating.point|Float but",
    re.I,
)
_BOOLEAN = re.compile(r"\bbool(?:ean)?\b|mask", re.I)
_CHOICE = re.compile(
    r"one of|choose|support|valid|must be|should be|expected|unknown|invalid|"
    r"not implemented|unrecogni",
    re.I,
)
# `assert mode in {BINARY, MULTICLASS}`: names of the program that stand for the choices.
_ASSERTED = re.compile(
    r"\b(\w+)(?:\.\w+\(\))? in [\[({]([\w., ]+)[\])}]|\b(\w+) in ([A-Za-z_]\w*)\b"
)
_QUOTED = re.compile(r"['\"`]([\w\-. ]{1,30})['\"`]")
_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'|has no attribute '(\w+)'")
_SCALAR = re.compile(
    r"must be real number|only one element|single element|interpreted as an integer|"
    r"integer is required|must be (?:an? )?(?:int|float|number)|slice indices|"
    r"scalar|can't multiply sequence|only integer|ambiguous|only length-1|0-dim",
    re.I,
)
_SEQUENCE = re.compile(
    r"not iterable|not subscriptable|has no len|must be (?:a )?(?:list|tuple|"
    r"sequence)|list of|cannot unpack|expected.*(?:list|tuple)",
    re.I,
)
_CALL = re.compile(r"not callable|must be callable", re.I)
_BOUNDS = re.compile(r"out of (?:bounds|range)|index.*range", re.I)
_PROBABLE = re.compile(r"\[0, ?1\]|between 0 and 1|\(0, ?1\)|probabilit|0 to 1|in the range", re.I)
_POSITIVE = re.compile(r"positive|non-?negative|> ?0|greater than|larger than|at least", re.I)
_ORDERED = re.compile(
    r"sorted|ascending|increasing|monoton|\b\w+ (?:is |must be |should be )?(?:larger|greater|smaller|less) than \w*[a-z]",
    re.I,
)
_MATRIX = re.compile(
    r"positive.?definite|symmetric|square|singular|cholesky|last 2 dimensions", re.I
)
_SIMPLEX = re.compile(r"sum to 1|simplex|sums? to one|distribution", re.I)
_DIVISIBLE = re.compile(r"divisible|multiple of|power of 2|groups", re.I)
_LARGER = re.compile(
    r"kernel size|too small|output size|at least|more than 1 value|larger|minimum", re.I
)
_MISSING = re.compile(
    r"missing \d* ?required|required argument|requires? '\w+'|(?:must|to) be (?:given|specified|"
    r"provided|passed|set)",
    re.I,
)
_NUMPY = re.compile(r"numpy|ndarray", re.I)

# What an attribute says about the object that has it.
_ATTRIBUTES = {
    "items": specs.constant({}),
    "keys": specs.constant({}),
    "values": None,
    "lower": specs.constant("mean"),
    "upper": specs.constant("mean"),
    "split": specs.constant("mean"),
    "startswith": specs.constant("mean"),
    "parameters": specs.plain("module"),
    "named_parameters": specs.plain("module"),
    "modules": specs.plain("module"),
    "children": specs.plain("module"),
    "state_dict": specs.plain("module"),
    "train": specs.plain("module"),
    "eval": specs.plain("module"),
    "param_groups": specs.plain("optimizer"),
    "zero_grad": specs.plain("optimizer"),
    "step": specs.plain("optimizer"),
    "log_prob": specs.plain("distribution"),
    "rsample": specs.plain("distribution"),
    "columns": specs.plain("frame"),
    "iloc": specs.plain("frame"),
    "loc": specs.plain("frame"),
    "randn": specs.plain("generator"),
    "standard_normal": specs.plain("generator"),
    "integers": specs.plain("generator", "generator"),
}


def proposals(state, error, line_names, library, objects=None, choices=None):
    """(parameter, spec) changes worth trying after an error; several changes may come together as a
    dict. `state` has the specs by parameter, `line_names` the names on the line that failed, `choices` the texts
    that the function compares its parameters with."""
    kind, message = error[0], error[1]
    arrays = [name for name, spec in state.items() if specs.is_array(spec)]
    meant = _meant(state, message, line_names)
    hit = [name for name in meant if name in arrays] or arrays
    found = []
    found += _attributes(state, message, meant, library, objects)
    found += _types(state, kind, message, meant, hit, library)
    found += _shapes(state, message, hit, arrays, meant)
    found += _asserted(state, message, objects)
    found += _compared_with(message, meant, choices or {})
    found += _values(state, message, meant, hit)
    return found


def _meant(state, message, line_names):
    """The parameters a message may be about, the likeliest first."""
    words = set(re.findall(r"[A-Za-z_]\w*", message))
    named = [name for name in state if name in words]
    shaped = [
        name
        for name, spec in state.items()
        if specs.is_array(spec)
        and any(text in message for text in (str(list(spec.shape)), str(tuple(spec.shape))))
    ]
    on_line = [name for name in state if name in line_names]
    return list(dict.fromkeys(named + on_line + shaped)) or list(state)


# Shapes ------------------------------------------------------------------------------------------


def _shapes(state, message, hit, arrays, meant):
    # A whole shape that is wanted: `expected size [2, 8, 8], got [2, 3, 8, 8]`.
    for text in _LITERAL.findall(message)[:3]:
        shape = tuple(int(part) for part in re.findall(r"\d+", text))
        if len(shape) > 5 or any(not 0 < size <= 4096 for size in shape):
            continue
        for name in hit:
            if shape != state[name].shape:
                yield {name: state[name]._replace(shape=shape)}
                yield {name: state[name]._replace(shape=shape, kind="labels", dtype=None)}
    yield from _asked(state, message, hit)
    match = _CHANNELS.search(message)
    if match:
        for name in hit:
            shape = list(state[name].shape)
            while len(shape) < 2:
                shape.append(4)
            shape[1] = int(match.group(1))
            yield {name: state[name]._replace(shape=tuple(shape))}
    match = _PRODUCT.search(message)
    if match:
        rows, inner, wanted, _ = (int(group) for group in match.groups())
        for name in hit:
            shape = state[name].shape
            if shape and (shape[-1] == inner or len(shape) == 1):
                yield {name: state[name]._replace(shape=shape[:-1] + (wanted,))}
            if inner in shape and shape[-1] != inner:
                yield {
                    name: state[name]._replace(
                        shape=tuple(wanted if size == inner else size for size in shape)
                    )
                }
            if len(shape) >= 2 and rows in shape:
                yield {name: state[name]._replace(shape=shape[:-2] + (shape[-2], wanted))}
    ranks = [int(group) for match in _RANK.finditer(message) for group in match.groups() if group]
    match = _UNPACK.search(message)
    if match:
        ranks.append(int(match.group(1)))
        for name in hit:
            yield {name: state[name]._replace(container="tuple", count=int(match.group(1)))}
    for rank in ranks:
        if 0 <= rank <= 5:
            yield dict((name, _ranked(state[name], rank)) for name in hit)
            for name in hit:
                yield {name: _ranked(state[name], rank)}
    if _MORE_AXES.search(message):
        # A number where an array is wanted: `scales[None, :]`.
        for name in [name for name in meant if name not in arrays]:
            if specs.is_number(state[name]):
                for first in arrays[:2]:
                    for shape in dict.fromkeys((state[first].shape, state[first].shape[-1:])):
                        yield {name: state[first]._replace(kind="positive", shape=shape)}
        for name in hit:
            for more in (1, 2, -1):
                yield {name: _ranked(state[name], max(0, len(state[name].shape) + more))}
    if _SAME.search(message):
        for first in arrays:
            yield dict((name, state[name]._replace(shape=state[first].shape)) for name in arrays)
        sizes = [int(text) for text in re.findall(r"\d+", message)][:6]
        for name in hit:
            for size in sizes:
                if 0 < size <= 4096 and state[name].shape and size not in state[name].shape:
                    yield {name: state[name]._replace(shape=state[name].shape[:-1] + (size,))}
                    yield {name: state[name]._replace(shape=(size,) + state[name].shape[1:])}
        for name in hit:
            shape = state[name].shape
            if len(shape) >= 1:
                yield {name: state[name]._replace(shape=shape[:-1])}
                yield {name: state[name]._replace(shape=shape + (shape[-1],))}
                yield {name: state[name]._replace(shape=shape[:1] + (1,))}
                yield {name: state[name]._replace(shape=shape[-1:])}
    match = _FEATURES.search(message)
    if match and 0 < int(match.group(1)) <= 4096:
        for name in hit:
            if state[name].shape:
                yield {
                    name: state[name]._replace(
                        shape=state[name].shape[:-1] + (int(match.group(1)),)
                    )
                }
    if _MATRIX.search(message):
        for name in hit:
            size = (state[name].shape or (3,))[-1]
            yield {name: state[name]._replace(kind="psd", shape=(size, size))}
            yield {name: state[name]._replace(kind="psd", shape=(2, size, size))}
    if _LARGER.search(message):
        for name in hit:
            shape = state[name].shape
            if len(shape) >= 3:
                for size in (32, 64):
                    yield {name: state[name]._replace(shape=shape[:2] + (size,) * (len(shape) - 2))}
            elif shape:
                yield {name: state[name]._replace(shape=(32,) + shape[1:])}


def _asked(state, message, hit):
    """Sizes and ranks that the text of an assertion compares."""
    for named, axis, relation, size in _SIZE_ASKED.findall(message):
        wanted = int(size) + (2 if relation.startswith(">") else 0)
        for name in [named] if named in hit else hit:
            shape, place = list(state[name].shape), int(axis)
            if -len(shape) <= place < len(shape) and 0 < wanted <= 4096:
                shape[place] = wanted
                yield {name: state[name]._replace(shape=tuple(shape))}
    for named, relation, rank in _RANK_ASKED.findall(message):
        wanted = int(rank) + (1 if relation == ">" else 0)
        for name in [named] if named in hit else hit:
            if wanted <= 5:
                yield {name: _ranked(state[name], wanted)}


def _ranked(spec, rank):
    """The same with so many axes."""
    usual = {0: (), 1: (4,), 2: (4, 3), 3: (2, 3, 4), 4: (2, 3, 16, 16), 5: (1, 2, 8, 8, 8)}[rank]
    shape = spec.shape
    if len(shape) > rank:
        return spec._replace(shape=shape[:rank])
    return spec._replace(shape=usual if len(shape) < 2 else shape + usual[len(shape) :])


# Types -------------------------------------------------------------------------------------------


def _types(state, kind, message, meant, hit, library):
    if _WHOLE.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="labels", dtype=None)}
            yield {
                name: state[name]._replace(kind="labels", dtype=None, shape=state[name].shape[:1])
            }
        for name in meant:
            yield {name: specs.constant(3)}
            yield {name: specs.constant(1)}
    if _REAL.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="float", dtype=None)}
            yield {name: state[name]._replace(kind="unit", dtype=None)}
    if _BOOLEAN.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="bool", dtype=None)}
    if _SCALAR.search(message) or kind == "TypeError":
        for name in meant:
            for value in (3, 0.5, 1):
                yield {name: specs.constant(value)}
    if _SEQUENCE.search(message):
        for name in meant:
            if specs.is_array(state[name]):
                yield {name: state[name]._replace(container="list", count=2)}
            else:
                if type(state[name].extra) is int:
                    # A size was taken for one: the sizes of several layers, one after the other.
                    yield {name: specs.constant([8, 8, 8])}
                yield {name: specs.array("float", (4, 3), library)}
                yield {name: specs.constant((4, 3))}
                yield {name: specs.constant([0.5, 0.5, 0.5])}
                yield {name: specs.array("float", (4, 3), library, container="list", count=2)}
    if _CALL.search(message):
        for name in meant:
            yield {name: specs.plain("callable")}
    if "Array" in message and "Tensor" in message and "torch" in sys.modules:
        # Arrays of two libraries meet: the constants of the function are tensors.
        yield dict((name, state[name]._replace(library="torch")) for name in hit)
    if _NUMPY.search(message):
        for name in hit:
            yield {name: state[name]._replace(library="numpy")}
            if library != "numpy":
                yield {name: state[name]._replace(library=library)}
    if _MISSING.search(message):
        # Named, but left out: optional, or behind a signature that does not show it.
        rows = next((spec.shape[:1] for spec in state.values() if specs.is_array(spec)), (4,))
        wanted = [
            name
            for name in dict.fromkeys(_QUOTED.findall(message))
            if name.isidentifier()
            and state.get(name, specs.constant(None)).extra is None
            and not specs.is_array(state.get(name, specs.constant(None)))
        ]
        wanted = [name for name in wanted if name in state] or wanted
        for make in (
            specs.constant(True),
            specs.constant(1.0),
            specs.array("labels", rows, library),
            specs.array("float", (4, 3), library),
        ):
            if wanted:
                yield dict((name, make) for name in wanted)
    if "None" in message:
        rows = next((spec.shape[:1] for spec in state.values() if specs.is_array(spec)), (4,))
        for name in meant:
            if state[name] == specs.constant(None):
                yield {name: specs.array("labels", rows, library)}
                yield {name: specs.array("float", (4, 3), library)}
                yield {name: specs.constant(3)}
        # Several that are left out only together: `y_true or y_pred is None`.
        left_out = [name for name in meant if state[name] == specs.constant(None)]
        if 1 < len(left_out) <= 3:
            yield dict((name, specs.array("float", (8,), library)) for name in left_out)


def _attributes(state, message, meant, library, objects):
    match = _ATTRIBUTE.search(message)
    if not match:
        return
    owner, attribute = match.group(1), match.group(2) or match.group(3)
    if _of_arrays(attribute) and attribute not in _ATTRIBUTES:
        for name in meant:
            if not specs.is_array(state[name]):
                yield {name: specs.array("float", (4, 3), library)}
            else:
                other = "numpy" if state[name].library != "numpy" else library
                yield {name: state[name]._replace(library=other, container=None)}
    if objects is not None and not _of_arrays(attribute):
        # A class of the program that has it, before anything that only looks like one.
        for made in objects.with_attribute(attribute):
            for name in meant:
                if state[name] != made:
                    yield {name: made}
    known = _ATTRIBUTES.get(attribute)
    for name in meant:
        if known is not None and not (
            known.kind in ("module", "optimizer", "distribution") and library != "torch"
        ):
            yield {name: known}
        if state[name].kind == "stub":
            for value in (1, 0.5, True, "mean", 8):
                fields = dict(state[name].extra or ())
                if attribute not in fields:
                    fields[attribute] = value
                    yield {
                        name: specs.plain(
                            "stub", tuple(sorted(fields.items(), key=lambda pair: pair[0]))
                        )
                    }
        elif not _of_arrays(attribute):
            yield {name: specs.plain("stub", ((attribute, 1),))}
    if owner == "list":
        for name in meant:
            if specs.is_array(state[name]):
                yield {name: state[name]._replace(container=None)}


def _of_arrays(attribute):
    """Do arrays of a library have it? Then an array is missing, not an object of the program."""
    torch = sys.modules.get("torch")
    classes = [np.ndarray] + ([torch.Tensor] if torch is not None else [])
    return any(hasattr(kind, attribute) for kind in classes)


# Values ------------------------------------------------------------------------------------------


def _asserted(state, message, objects):
    """The choices of an assertion, by the values that their names have in the target's file."""
    if objects is None or not message.startswith("assert "):
        return
    for match in _ASSERTED.finditer(message):
        name, names = match.group(1) or match.group(3), match.group(2) or match.group(4)
        if name not in state:
            continue
        for word in re.findall(r"[\w.]+", names):
            value = objects.value(word)
            parts = value if isinstance(value, (list, tuple, set, frozenset, dict)) else [value]
            for part in parts:
                if type(part) in (str, int, float):
                    yield {name: specs.constant(part)}


def _compared_with(message, meant, choices):
    if _CHOICE.search(message):
        for name in meant:
            for text in choices.get(name, []):
                yield {name: specs.constant(text)}


def _values(state, message, meant, hit):
    if _CHOICE.search(message):
        for text in dict.fromkeys(_QUOTED.findall(message)):
            for name in meant:
                if text != name:
                    yield {name: specs.constant(text)}
    if _ORDERED.search(message):
        # Corners of boxes, times, edges of bins: one after the other.
        for names in [hit] + [[name] for name in hit]:
            yield dict((name, state[name]._replace(kind="sorted", extra=None)) for name in names)
    if _SIMPLEX.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="simplex")}
    if _PROBABLE.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="unit", extra=None)}
        for name in meant:
            yield {name: specs.constant(0.5)}
    if _POSITIVE.search(message):
        for name in hit:
            yield {name: state[name]._replace(kind="positive", extra=None)}
        for name in meant:
            for value in (1, 2, 0.5, 4):
                yield {name: specs.constant(value)}
    if _BOUNDS.search(message):
        for name in hit:
            if state[name].kind == "labels":
                yield {name: state[name]._replace(extra=(None, 1))}
        for name in meant:
            for value in (0, 1):
                yield {name: specs.constant(value)}
    if _DIVISIBLE.search(message):
        for value in (8, 16, 4, 2, 1):
            for name in meant:
                if not specs.is_array(state[name]):
                    yield {name: specs.constant(value)}
        for name in hit:
            yield {
                name: state[name]._replace(
                    shape=tuple(8 if size > 1 else size for size in state[name].shape)
                )
            }
