"""What functions are: the table `data/functions`, as Rust read and checked it.

`has("torch.sort", "indices")`: names are matched exactly, by the forms that follow from a name, or by the
identity of the object, never by a part of their text. `crates/fissure-functions` answers the same questions.
"""

import json
import os
import sys

ABBREVIATIONS = {"tf": "tensorflow", "np": "numpy", "jnp": "jax.numpy", "mx": "mxnet"}
#: Modules of PyTorch whose operators have the module's name in front.
OPERATOR_MODULES = ("linalg_", "special_", "fft_")

#: Field of the table → the properties that its words stand for.
WORDS = {
    "monotone": {"rising": "rising"},
    "parity": {"odd": "odd", "even": "even"},
    "sums": {"one": "sums to one", "exp one": "sums to one"},
    "writes": {"index": "writes index"},
    "about": {"position": "about position", "layout": "about layout", "dtype": "about dtype"},
    "cost": {"superlinear": "superlinear", "waits": "waits"},
    "gradient": {"restricted": "restricted gradient"},
    "complex": {"linear": "linear complex"},
    "method": {"other receiver": "other receiver"},
}
#: Fields whose words are properties themselves.
PLAIN = ("algebra", "result")
#: Fields with names of functions.
NAMES = ("torch", "modules", "numpy", "tensorflow", "jax", "mxnet")
#: Libraries in which only exact names count. Elsewhere a function is what its canonical name says.
LIBRARIES = tuple(name for name in NAMES if name != "modules")


class Function:
    """One row of the table."""

    def __init__(self, row):
        self.name = row["name"]
        self.row = row
        found = set()
        for field in PLAIN:
            found.update(row.get(field, ()))
        for field, words in WORDS.items():
            given = row.get(field, ())
            for word in [given] if isinstance(given, str) else given:
                found.add(words[word])
        if "elementwise" in row:
            found.add("elementwise")
        self.properties = frozenset(found)

    @property
    def range(self):
        """(low, high) of every element whatever the arguments, or None."""
        limits = self.row.get("range")
        if not limits or "when" in limits:
            return None
        return limits.get("low", -float("inf")), limits.get("high", float("inf"))

    @property
    def sums(self):
        """`one`, `exp one` or None."""
        return self.row.get("sums")

    @property
    def elementwise(self):
        """How many tensors it combines element by element; 0 where it does not."""
        return self.row.get("elementwise", 0)

    def names(self):
        """Those that the table lists."""
        return [name for field in NAMES for name in self.row.get(field, ())]


class Table:
    def __init__(self, text):
        data = json.loads(text) if isinstance(text, str) else text
        self.twins = data["twin"]
        self.functions = [Function(row) for row in data["function"]]
        self.by_name = {function.name: function for function in self.functions}
        self.by_path = {}
        for function in self.functions:
            for name in function.names():
                self.by_path[name] = function
        for function in self.functions:
            for name in function.names():
                for form in forms(name):
                    self.by_path.setdefault(form, function)
        self._by_identity = {}

    def find(self, path, target=None):
        """The function with this dotted path, or that this object is; None for one nobody knows."""
        path = normal(path)
        found = self.by_path.get(path)
        root = path.split(".")[0]
        if found is None and root not in LIBRARIES:
            found = self.by_name.get(path.rpartition(".")[2].rstrip("_"))
        if found is None and target is not None:
            found = self.by_identity(target)
        return found

    def look_up_objects(self):
        """Finds the objects of the libraries that are imported."""
        for library in LIBRARIES:
            if library in sys.modules and library not in self._by_identity:
                self._by_identity[library] = self.objects(library)

    def by_identity(self, target):
        """The function that an object is, among libraries that are imported."""
        self.look_up_objects()
        for objects in self._by_identity.values():
            kept = objects.get(id(target))
            if kept is not None:
                return kept[1]
        return None

    def objects(self, library):
        """`{id: (object, function)}`; the objects are kept, so that no other one gets the same id."""
        found = {}
        for function in self.functions:
            for name in function.names():
                if name.split(".")[0] == library:
                    value = attribute(name)
                    if value is not None:
                        found.setdefault(id(value), (value, function))
        return found


def forms(name):
    """The names that follow from one: the method and the in-place forms of `torch.f`."""
    module, _, last = name.rpartition(".")
    if last.startswith("_") or last.endswith("_"):
        return ()
    if module == "torch":
        return ("torch.%s_" % last, "torch.Tensor.%s" % last, "torch.Tensor.%s_" % last)
    return (name + "_",) if module == "torch.nn.functional" else ()


def normal(path):
    """The name under which the table has what a path leads to."""
    root, _, rest = path.partition(".")
    if root in ABBREVIATIONS and rest:
        return ABBREVIATIONS[root] + "." + rest
    operators = "torch.ops.aten."
    if not path.startswith(operators):
        return path
    operator = path[len(operators) :].split(".")[0]
    for module in OPERATOR_MODULES:
        if operator.startswith(module):
            return "torch.%s.%s" % (module[:-1], operator[len(module) :])
    return "torch." + operator


def attribute(name):
    """What a dotted name leads to, without importing anything; None where it leads nowhere."""
    parts = name.split(".")
    found = sys.modules.get(parts[0])
    for part in parts[1:]:
        try:
            found = getattr(found, part)
        except Exception:
            # Lazy modules raise what they like.
            return None
    return found


_TABLE = None


def table():
    """The table, read once."""
    global _TABLE
    if _TABLE is None:
        _TABLE = Table(source())
    return _TABLE


def prepare():
    """Reads the table before processes are forked that would each read it again."""
    table().look_up_objects()


def source():
    """The text that Rust made; from the checkout when this file is run from there."""
    embedded = getattr(globals().get("__loader__"), "sources", None)
    if embedded is not None:
        return embedded["data/functions.json"]
    import tomllib

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/functions")
    data = {"function": [], "twin": []}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), "rb") as stream:
                read = tomllib.load(stream)
            for kind, rows in data.items():
                rows.extend(read.get(kind, ()))
    return data


def find(path, target=None):
    return table().find(path, target)


def has(path, word, target=None):
    """Does the function have this property? One that nobody knows has none."""
    found = find(path, target)
    return found is not None and word in found.properties
