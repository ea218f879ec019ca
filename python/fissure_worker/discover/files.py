"""A description as the content of a constraint file: keys, constraints, and where each came from.

One file holds one form, the best known; its constraints are lists of alternatives. The evidence of a
constraint is a line `KEY VALUE | how sure, 0 to 1 | source: what it says`.
"""

import re

from fissure_worker.discover.words import sorts

#: How sure a source is of what it says about a type.
SURE = {
    "schema": 1.0, "registry": 1.0, "ufunc": 1.0, "annotation": 0.95, "stub": 0.95,
    "signature": 0.95, "validation": 0.9, "documentation": 0.85, "default": 0.7, "name": 0.5,
}  # fmt: skip
#: What a sort is called in a documented type.
WORDS = {
    "tensor": "Tensor", "index_tensor": "LongTensor", "ndarray": "array_like", "sparse": "Tensor",
    "tensors": "sequence of Tensors", "int": "int", "axis": "int", "float": "float",
    "number": "Number", "bool": "bool", "string": "str", "complex": "complex", "shape": "tuple of ints",
    "dtype": "dtype", "callable": "callable", "slice": "slice", "dict": "dict", "bytes": "bytes",
    "device": "torch.device", "layout": "torch.layout", "memory_format": "torch.memory_format",
    "generator": "torch.Generator", "module": "Module", "optimizer": "Optimizer",
}  # fmt: skip
SCALARS = {"int": "int", "axis": "int", "float": "float", "number": "numeric", "bool": "boolean",
           "string": "string"}  # fmt: skip
#: Import name → the short name that titles and dtypes have.
SHORT = {"tensorflow": "tf", "torch": "torch", "mxnet": "mxnet"}


def constraint_file(description, aliases, version, link=""):
    """The content of the file of a callable, or None if nothing says how it is called."""
    if not description["forms"] or description["problem"]:
        return None
    form = description["forms"][0]
    path = description["path"]
    package = path.partition(".")[0]
    short = SHORT.get(package, package)
    names = [one["name"] for one in form["params"]]
    inputs = {"required": [], "optional": [], "keyword_only": [], "layer": []}
    constraints = {}
    tensor = next((one["name"] for one in form["params"] if "tensor" in sorts(one["types"])), None)
    for one in form["params"]:
        star = {"var_positional": "*", "var_keyword": "**"}.get(one["kind"], "")
        listed = star + one["name"]
        if one["required"]:
            inputs["required"].append(listed)
        elif one["kind"] == "keyword_only":
            inputs["keyword_only"].append(listed)
        else:
            inputs["optional"].append(listed)
        constraints[listed] = entry(one, short, tensor, form, description)
    for one in form["call_params"] or []:
        if one["name"] not in names and not one["kind"].startswith("var_"):
            inputs["layer"].append(one["name"])
            constraints[one["name"]] = entry(one, short, tensor, form, description)
    return {
        "title": short + path[len(package) :],
        "package": package,
        "target": path.rpartition(".")[2],
        "version": version,
        "link": link or "the installed library",
        "aliases": [short + alias[len(package) :] for alias in aliases],
        "layer_constructor": description["layer"],
        "inputs": {
            key: value for key, value in inputs.items() if value or key in ("required", "optional")
        },
        "constraints": constraints,
    }


def entry(one, short, tensor, form, description):
    """The constraints of one parameter."""
    found = Entry(one, short, form, description)
    for kind in one["types"]:
        found.add(kind, tensor)
    return found.content()


class Entry:
    def __init__(self, one, short, form, description):
        self.one = one
        self.short = short
        self.keys = {}
        self.evidence = []
        self.facts = [f for f in description["doc_constraints"] if f["param"] == one["name"]]
        self.relations = [
            r for r in form["relations"] if r["params"] and r["params"][0] == one["name"]
        ]
        self.shared = [
            r for r in form["relations"]
            if r["kind"] == "same_dtype" and one["name"] in r["params"][1:]
            and r["evidence"]["source"] == "registry"
        ]  # fmt: skip

    def say(self, key, value):
        values = self.keys.setdefault(key, [])
        if value in values:
            return
        values.append(value)
        source, text, sure = self.source_of(key, value)
        self.evidence.append("%s %s | %.2f | %s: %s" % (key, value, sure, source, text))

    def source_of(self, key, value):
        """Which of the evidence of a parameter is that of this constraint."""
        plain = re.sub(r"^(?:tf|torch|mxnet)\.", "", value)
        for fact in self.facts:
            same = fact["key"] == key and fact["value"] in (value, plain)
            family = key == "dtype" and fact["key"] == "dtype" and plain.startswith(fact["value"])
            if same or family or (fact["key"] == key and key in ("ndim", "shape", "range", "enum")):
                return "documentation", fact["sentence"], fact["confidence"]
        told = [e for e in self.one["evidence"] if e["source"] != "documentation"]
        wanted = ("validation",) if key in ("enum", "range") else ()
        for one in told:
            if one["source"] in wanted:
                return one["source"], one["text"], SURE[one["source"]]
        if key == "range":
            named = [e for e in told if e["source"] == "name"]
            told = named or told
        if told:
            one = told[0]
            return one["source"], one["text"], SURE.get(one["source"], 0.5)
        for one in self.one["evidence"]:
            return "documentation", one["text"], one.get("confidence", SURE["documentation"])
        return "signature", self.one["name"], 0.5

    def add(self, kind, tensor):
        sort = kind["sort"]
        if sort in ("tensor", "index_tensor"):
            self.say(
                "tensor_t", self.short + ".tensor" if self.short in ("tf", "torch") else "tensor"
            )
            self.array(kind)
            if sort == "index_tensor" and not kind.get("dtypes"):
                self.say("dtype", "int")
        elif sort == "sparse":
            self.say("tensor_t", "SparseTensor")
            self.array(kind)
        elif sort == "ndarray":
            self.say("structure", "ndarray")
            self.array(kind)
        elif sort == "tensors":
            self.say("structure", "list(tensor)")
        elif sort in SCALARS:
            self.scalar(kind, tensor)
        elif sort == "dtype":
            self.say("dtype", self.short + ".dtype" if self.short in ("tf", "torch") else "dtype")
            for dtype in kind.get("dtypes") or []:
                self.say("enum", dtype_name(dtype, self.short))
            if kind.get("dtypes") and self.one["default"] == "None":
                self.say("enum", "None")
        elif sort == "callable":
            self.say("dtype", "callable")
        elif sort == "dict":
            self.say("structure", "dict")
        elif sort in ("list", "tuple", "shape"):
            self.sequence(kind)
        elif sort == "object":
            for value in kind.get("values") or []:
                items = [one.get("int") for one in value.get("list") or [] if len(one) == 1]
                if items and None not in items:
                    self.say("enum", repr(items))
        if kind.get("choices") and sort in ("string", "int"):
            for choice in kind["choices"]:
                self.say("enum", str(choice))

    def array(self, kind):
        if self.shared:
            self.say("dtype", "dtype:&%s" % self.shared[0]["params"][0])
        for dtype in kind.get("dtypes") or []:
            if dtype == "bfloat16" and self.short == "numpy":
                # Of the family, but NumPy has none.
                continue
            if not self.shared:
                self.say("dtype", dtype_name(dtype, self.short))
        shapes = kind.get("shapes") or ([kind["shape"]] if kind.get("shape") else [])
        same = [r for r in self.relations if r["kind"] == "same_shape"]
        if same and not shapes:
            shapes = ["shape:&%s" % same[0]["params"][1]]
        wide = [r for r in self.relations if r["kind"] == "broadcastable"]
        if wide and not shapes:
            shapes = ["broadcast:&%s" % wide[0]["params"][1]]
        for shape in shapes:
            self.say("shape", shape)
        if not shapes:
            for rank in kind.get("ndim") or []:
                self.say("ndim", str(rank))
            if kind.get("min_ndim") is not None:
                self.say("ndim", ">=%d" % kind["min_ndim"])
        self.bounds(kind)

    def scalar(self, kind, tensor):
        if "tensor_t" in self.keys:
            # A tensor or a number: the words of the type say so, the lists speak of tensors.
            return
        self.say("dtype", SCALARS[kind["sort"]])
        self.say("ndim", "0")
        if kind["sort"] == "axis" and tensor and tensor != self.one["name"]:
            self.say("range", "[-ndim:&%s,ndim:&%s)" % (tensor, tensor))
        self.bounds(kind)

    def sequence(self, kind):
        inner = kind.get("of") or ({"sort": "int", "min": 0} if kind["sort"] == "shape" else {})
        word = "tuple" if kind["sort"] == "tuple" else "list"
        element = SCALARS.get(inner.get("sort"))
        self.say("structure", "%s(%s)" % (word, element) if element else word)
        if element:
            self.say("dtype", element)
            self.say("ndim", "1")
        if kind.get("length") and "0" not in self.keys.get("ndim", []):
            self.say("shape", "[%d]" % kind["length"])
        if inner:
            self.bounds(inner)

    def bounds(self, kind):
        if self.keys.get("range") or (kind.get("min") is None and kind.get("max") is None):
            return
        low, high = kind.get("min"), kind.get("max")
        text = "%s%s,%s%s" % (
            "(" if kind.get("min_open") or low is None else "[",
            "-inf" if low is None else number(low),
            "inf" if high is None else number(high),
            ")" if kind.get("max_open") or high is None else "]",
        )
        self.say("range", text)

    def content(self):
        made = {}
        words = [WORDS[kind["sort"]] for kind in self.one["types"] if kind["sort"] in WORDS]
        if words:
            unique = [word for at, word in enumerate(words) if word not in words[:at]]
            optional = [] if self.one["required"] else ["optional"]
            made["doc_dtype"] = ", ".join([" or ".join(unique)] + optional)
        if self.one["default"] is not None:
            made["default"] = self.one["default"]
        made.update(self.keys)
        if self.evidence:
            made["evidence"] = self.evidence
        return made


def number(value):
    return "%d" % value if value == int(value) else repr(value)


def dtype_name(dtype, short):
    return "%s.%s" % (short, dtype) if short in ("tf", "torch") else dtype
