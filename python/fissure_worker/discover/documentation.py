"""What the documentation says about the parameters of a callable, put into its description.

Constraints read from sentences narrow the types that more exact sources gave, and are the types where
those gave none. Everything read is kept in `doc_constraints` with the sentence it came from.
"""

import inspect
import re

from fissure_worker.build import resolve
from fissure_worker.discover import docstrings, prose, sentences
from fissure_worker.discover.shapes import shape
from fissure_worker.discover.symbols import equal_sizes, symbols
from fissure_worker.discover.words import (
    NONE,
    evidence,
    form,
    is_open,
    of,
    optional,
    parameter,
    relation,
    sorts,
    unique,
)

#: Below this a constraint is told, but narrows nothing.
SURE = 0.8
LONGEST = 60000
INTEGERS = ["int8", "int16", "int32", "int64", "uint8"]
FAMILIES = {
    "int": INTEGERS,
    "float": ["float16", "bfloat16", "float32", "float64"],
    "bool": ["bool"],
    "complex": ["complex64", "complex128"],
    "string": ["string"],
    "numeric": INTEGERS + ["float16", "bfloat16", "float32", "float64"],
}
SORT_OF_DTYPE = {
    "int": "int", "float": "float", "bool": "bool", "string": "string", "numeric": "number",
    "complex": "complex", "dtype": "dtype", "callable": "callable",
}  # fmt: skip
REFERENCE = re.compile(
    r"(?m)(?:^See |[Aa]lias (?:for|of) |[Ii]n-place version of |[Oo]ut-of-place version of |[Ss]ee documentation of |^Applies |See also )"
    r":(?:func|meth|class|py:\w+):`~?(?P<name>[\w.]+)`"
)


def apply(answer, target):
    names = set()
    for made in answer["forms"]:
        names.update(one["name"] for one in made["params"])
        names.update(one["name"] for one in made["call_params"] or [])
    documented, shapes = read(target)
    documented, other_names = by_position(documented, answer["forms"], names)
    found = {}
    # A method's docstring is often that of the function, whose first parameter is the object.
    itself = "self" in names and "input" not in names
    if itself:
        names.add("input")
    for name, one in documented.items():
        if name in names:
            found[name] = sentences.extract(name, one.type, one.text(), names | set(other_names))
            for fact in found[name]:
                for other, own in other_names.items():
                    fact["value"] = re.sub(r"&%s\b" % re.escape(other), "&" + own, fact["value"])
    from_shapes(found, shapes, names, answer["layer"])
    unify(found, shapes)
    for name, facts in prose.read(general_text(target), names).items():
        told = {fact["key"] for fact in found.get(name, ())}
        found.setdefault(name, []).extend(fact for fact in facts if fact["key"] not in told)
    if itself and "input" in found:
        found.setdefault("self", []).extend(found.pop("input"))
    if itself:
        for facts in found.values():
            for fact in facts:
                if fact["key"] == "broadcast" and fact["value"] == "input":
                    fact["value"] = "self"
                else:
                    fact["value"] = re.sub(r"&input\b", "&self", fact["value"])
    for name in sorted(found):
        for fact in found[name]:
            answer["doc_constraints"].append(dict(fact, param=name))
    for made in answer["forms"]:
        everything = made["params"] + (made["call_params"] or [])
        for one in everything:
            facts = found.get(one["name"])
            if facts:
                narrow(one, facts, made)
        numbers = {one["name"]: one["name"] for one in everything if "int" in sorts(one["types"])}
        numbers.update(symbols(documented, shapes, numbers))
        for one in everything:
            for kind in one["types"]:
                refer(kind, numbers)


def forms(target):
    """The form that the documented parameters make, in their order, where nothing else tells of one."""
    documented, _ = read(target)
    params = []
    for name, one in documented.items():
        text = sentences.plain(one.text())
        default = sentences.documented_default(text)
        free = default is not None or "optional" in (one.type + " " + text[:60]).lower()
        params.append(
            parameter(name, "positional_or_keyword", not free, default if free else None, [], [])
        )
    params.sort(key=lambda one: not one["required"])
    return [form("documentation", params, getattr(target, "__name__", None))] if params else []


def read(target, depth=0):
    """(parameters, shapes) of a docstring, of that of `__init__`, or of the one it refers to."""
    texts = [text_of(target)]
    if isinstance(target, type):
        texts.append(text_of(getattr(target, "__init__", None)))
    documented, shapes = {}, []
    for text in texts:
        if text:
            params, lines = docstrings.parse(text)
            for name, one in params.items():
                documented.setdefault(name, one)
            shapes.extend(docstrings.shapes(lines))
    if not documented and depth < 3 and texts[0]:
        other = referred(texts[0])
        if other is not None and other is not target:
            return read(other, depth + 1)
    return documented, shapes


def general_text(target, depth=0):
    """The docstring, or the one that it only refers to."""
    text = text_of(target)
    other = referred(text) if depth < 3 and len(text) < 400 else None
    return text if other is None or other is target else general_text(other, depth + 1)


def text_of(target):
    text = getattr(target, "__doc__", None)
    if target is object.__init__ or not isinstance(text, str):
        return ""
    if isinstance(target, type) and inspect.getmro(target)[1:2]:
        # A class without a docstring of its own shows that of its base.
        text = vars(target).get("__doc__") or inspect.getdoc(target) or ""
    return text[:LONGEST] if isinstance(text, str) else ""


def referred(text):
    match = REFERENCE.search(text)
    if match is None:
        return None
    name = match.group("name").strip(".")
    for candidate in (name, "torch." + name, "torch.nn." + name):
        try:
            return resolve(candidate)
        except BaseException:
            continue
    return None


def from_shapes(found, shapes, names, layer):
    """`- Input: (N, C, L)`: for the parameter of that name, or the first one of a layer's call."""
    for title, text in shapes:
        if title in ("output", "outputs"):
            continue
        candidates = [title, title.rstrip("s"), title.replace("_", "")]
        name = next((one for one in candidates if one in names), None)
        if name is None and title.startswith("input"):
            name = next((one for one in ("input", "x", "input1", "inputs") if one in names), None)
        if name is None:
            continue
        same = re.search(r"same shape as (?:the )?`*(\w+)`*", sentences.plain(text))
        other = same.group(1).lower() if same else None
        if other in names and other != name:
            found.setdefault(name, []).append(
                sentences.constraint("shape", "shape:&" + other, text, "Shape section", 0.9)
            )
            continue
        for box in shape_boxes(text):
            found.setdefault(name, []).append(
                sentences.constraint("shape", box, text, "Shape section", 0.9)
            )


def by_position(documented, forms, names):
    """The documented parameters under the names that the form has for them: a schema or a wrapper may call
    the one at the same place otherwise (`A` and `input`)."""
    params = forms[0]["params"] if forms else []
    order = [one["name"] for one in params if not one["kind"].startswith("var_")]
    other_names = {}
    for place, name in enumerate(documented):
        own = order[place] if place < len(order) else None
        if name not in names and own is not None and own not in documented:
            other_names[name] = own
    renamed = {other_names.get(name, name): one for name, one in documented.items()}
    return renamed, other_names


def unify(found, shapes):
    """`(N, H_in1)` where `H_in1 = in1_features`: the size has the name that other shapes have for it."""
    boxes = [f for facts in found.values() for f in facts if f["key"] == "shape"]
    known = set(re.findall(r"[A-Za-z]\w*", " ".join(fact["value"] for fact in boxes)))
    for letter, name in equal_sizes(shapes):
        if name in known and letter != name:
            for fact in boxes:
                fact["value"] = re.sub(r"(?<![&\w])%s\b" % re.escape(letter), name, fact["value"])


def shape_boxes(text):
    boxes = []
    text = re.split(r"\bwhere\b", sentences.plain(text))[0]
    for match in re.finditer(r"`([^`]*)`", text):
        inner = match.group(1).strip()
        if inner[:1] in "([" and inner[-1:] in ")]":
            value = shape(inner)
            if value and value not in boxes:
                boxes.append(value)
    return boxes[:3]


def narrow(one, facts, form):
    """Puts what is written into a parameter's types."""
    sure = [fact for fact in facts if fact["confidence"] >= SURE]
    values = {}
    for fact in sure:
        values.setdefault(fact["key"], []).append(fact["value"])
    for fact in sure:
        note(one, fact)
        relate(one, fact, form)
    types = one["types"]
    nullable = "none" in sorts(types) or one["default"] == "None"
    if values.get("object") == ["generator"] and "generator" not in sorts(types):
        # An array by its type, but not any array.
        one["types"] = optional([of("generator")]) if nullable else [of("generator")]
        return
    weak = all(told["source"] in ("default", "documentation") for told in one["evidence"])
    written = types_from(values)
    if is_open([kind for kind in types if kind != NONE]):
        if written:
            one["types"] = optional(written) if nullable else written
    elif weak and written:
        # A default shows one of the sorts, the text may name others.
        known = sorts(types)
        one["types"] = unique(types + [kind for kind in written if kind["sort"] not in known])
    elif any(told["source"] == "annotation" for told in one["evidence"]):
        stated = {}
        for fact in sure:
            if fact["rule"] == "type":
                stated.setdefault(fact["key"], []).append(fact["value"])
        known = sorts(types) | ({"int", "float", "bool"} if "number" in sorts(types) else set())
        more = [kind for kind in types_from(stated) if kind["sort"] not in known]
        one["types"] = unique(types + more)
    arrays = dict(values)
    if "0" in values.get("ndim", []) and "tensor_t" in values:
        # `Tensor or Number`: what is said of the number is not said of the tensor.
        arrays.pop("dtype", None)
        arrays["ndim"] = [value for value in values["ndim"] if value != "0"]
    elif "0" in values.get("ndim", []) and "ndarray" in values.get("structure", []):
        # `float or array_like of floats`: only the number has no dimensions.
        arrays["ndim"] = [value for value in values["ndim"] if value != "0"]
    one["types"] = [narrowed(k, arrays if k["sort"] == "tensor" else values) for k in one["types"]]


def note(one, fact):
    told = evidence("documentation", fact["sentence"])
    told["rule"] = fact["rule"]
    told["confidence"] = fact["confidence"]
    if told not in one["evidence"] and len(one["evidence"]) < 8:
        one["evidence"].append(told)


def relate(one, fact, form):
    kinds = {"dtype": ("dtype:&", "same_dtype"), "shape": ("shape:&", "same_shape"),
             "ndim": ("ndim:&", "same_rank"), "broadcast": ("", "broadcastable")}  # fmt: skip
    if fact["key"] not in kinds:
        return
    start, kind = kinds[fact["key"]]
    if start and not fact["value"].startswith(start):
        return
    other = fact["value"][len(start) :]
    names = [p["name"] for p in form["params"] + (form["call_params"] or [])]
    arrays = {"tensor", "index_tensor", "ndarray", "sparse", "any"}
    others = [p for p in form["params"] + (form["call_params"] or []) if p["name"] == other]
    if any("dtype" in sorts(p["types"]) for p in others):
        # The value of that parameter is a type; it has none itself.
        return
    if (
        other in names
        and other != one["name"]
        and (arrays & sorts(one["types"]) or not one["types"])
    ):
        form["relations"].append(
            relation(kind, [one["name"], other], "documentation", fact["sentence"])
        )


def types_from(values):
    """Types from constraints alone."""
    dtypes = [value for value in values.get("dtype", []) if not value.startswith("dtype:")]
    found = []
    for value in values.get("object", []):
        found.append(of(value))
    if "tensor_t" in values:
        tensor = of("sparse") if values["tensor_t"] == ["SparseTensor"] else of("tensor")
        if set(values.get("structure", [])) & {"list", "tuple", "sequence"}:
            found.append(of("tensors", of=tensor))
        else:
            found.append(tensor)
        return found
    inner = next((SORT_OF_DTYPE[value] for value in dtypes if value in SORT_OF_DTYPE), None)
    for value in values.get("structure", []):
        if value == "ndarray":
            found.append(of("tensor"))
        elif value == "dict":
            found.append(of("dict"))
        else:
            sort = "tuple" if value.startswith("tuple") else "list"
            found.append(of(sort, of=of(inner) if inner else None))
    single = not found or "0" in values.get("ndim", [])
    if single:
        for value in dtypes:
            if value in SORT_OF_DTYPE:
                found.append(of(SORT_OF_DTYPE[value]))
            elif value in ("int32", "int64", "uint8"):
                found.append(of("tensor", dtypes=[value]))
            elif value.startswith(("float", "bfloat", "complex")):
                found.append(of("tensor", dtypes=[value]))
    if not found and "enum" in values:
        found.append(of("string"))
    if not found and ("shape" in values or any(one != "0" for one in values.get("ndim", []))):
        found.append(of("tensor"))
    return unique(found)


def narrowed(kind, values):
    sort = kind["sort"]
    made = dict(kind)
    if sort in ("tensor", "index_tensor", "ndarray", "sparse"):
        if not made.get("dtypes"):
            dtypes = dtype_list(values.get("dtype", []))
            if dtypes:
                made["dtypes"] = dtypes
        if not made.get("ndim"):
            ranks = [int(one) for one in values.get("ndim", []) if one.isdigit()]
            least = [int(one[2:]) for one in values.get("ndim", []) if re.match(r"^>=\d+$", one)]
            if ranks:
                made["ndim"] = ranks
            elif least:
                made["min_ndim"] = least[0]
        boxes = [one for one in values.get("shape", []) if one.startswith("[")]
        if boxes and not made.get("shape"):
            made["shape"] = boxes[0]
            if len(boxes) > 1:
                made["shapes"] = boxes
        bound(made, values)
    elif sort in ("int", "float", "number"):
        bound(made, values)
    elif sort in ("list", "tuple") and made.get("of"):
        if made["of"]["sort"] in ("int", "float", "number"):
            inner = dict(made["of"])
            bound(inner, values)
            made["of"] = inner
        lengths = [one for one in values.get("shape", []) if re.match(r"^\[\d+\]$", one)]
        if lengths and made.get("length") is None:
            made["length"] = int(lengths[0][1:-1])
    elif sort == "string" and not made.get("choices"):
        choices = [one for one in values.get("enum", []) if one != "None"]
        if len(choices) > 1:
            made["choices"] = choices
    return made


def refer(kind, numbers):
    """A dimension with the name of a parameter is the value of that parameter."""

    def mark(match):
        name = match.group(0)
        return "&" + numbers[name] if name in numbers else name

    for key in ("shape", "shapes"):
        if isinstance(kind.get(key), str):
            kind[key] = re.sub(r"(?<![&\w])[A-Za-z]\w*", mark, kind[key])
        elif kind.get(key):
            kind[key] = [re.sub(r"(?<![&\w])[A-Za-z]\w*", mark, one) for one in kind[key]]


def dtype_list(values):
    found = []
    for value in values:
        for one in FAMILIES.get(value, [value]):
            if ":" not in one and one not in ("dtype", "callable") and one not in found:
                found.append(one)
    return found


INTERVAL = re.compile(r"^([\[(])(-?[\d.einf+-]+),(-?[\d.einf+-]+)([\])])$")


def bound(made, values):
    for text in values.get("range", []):
        match = INTERVAL.match(text)
        if match is None:
            continue
        opening, low, high, closing = match.groups()
        try:
            low, high = float(low), float(high)
        except ValueError:
            continue
        if low != float("-inf") and "min" not in made:
            made["min"] = int(low) if low == int(low) else low
            if opening == "(":
                made["min_open"] = True
        if high != float("inf") and "max" not in made:
            made["max"] = int(high) if high == int(high) else high
            if closing == ")":
                made["max_open"] = True
