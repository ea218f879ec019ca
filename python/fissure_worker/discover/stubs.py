"""Type stubs (`.pyi`) that lie beside a module: signatures of what Python itself knows none of."""

import ast
import os
import sys

from fissure_worker import texts
from fissure_worker.discover import annotations, signatures
from fissure_worker.discover.words import evidence, form, of, optional, parameter, sorts, unique

#: Stub file → what it declares.
CACHE = {}
#: Bytes; a stub larger than this takes too long to read.
LARGEST = 4 << 20


class Stub:
    """Functions and classes of one file by qualified name, and the names it gives to types."""

    def __init__(self, text):
        tree = ast.parse(text)
        self.functions = {}
        self.aliases = {}
        self.renamed = {}
        self.read(tree.body, "")

    def read(self, body, prefix):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault(prefix + node.name, []).append(node)
            elif isinstance(node, ast.ClassDef):
                self.read(node.body, prefix + node.name + ".")
            elif isinstance(node, ast.If):
                self.read(node.body, prefix)
                self.read(node.orelse, prefix)
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    if one.asname and one.asname != one.name:
                        self.aliases[one.asname] = annotations.word(one.name)
                        self.renamed[one.asname] = one.name
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self.alias(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self.alias(node.target, node.value)

    def alias(self, target, value):
        if isinstance(target, ast.Name) and isinstance(
            value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)
        ):
            try:
                self.aliases.setdefault(target.id, annotations.from_ast(value, self.renamed))
            except (ValueError, RecursionError):
                pass


def load(file):
    if file not in CACHE:
        CACHE[file] = None
        try:
            if os.path.getsize(file) <= LARGEST:
                with open(file, encoding="utf-8", errors="replace") as stream:
                    CACHE[file] = Stub(stream.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            pass
    return CACHE[file]


def stub_of_code(target):
    """The stub beside the file that a Python function was compiled from."""
    code = getattr(signatures.unwrapped(target), "__code__", None)
    file = getattr(code, "co_filename", "")
    candidate = os.path.splitext(file)[0] + ".pyi"
    return load(candidate) if file.endswith(".py") and os.path.isfile(candidate) else None


def stub_of(module_name):
    """The stub of a module: beside its file, or where a package keeps those of its extensions."""
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    candidates = []
    if isinstance(file, str):
        base = os.path.splitext(file)[0]
        candidates.append(base + ".pyi")
        # `name.cpython-311-x86_64-linux-gnu.so`
        folder, stem = os.path.split(base)
        candidates.append(os.path.join(folder, stem.partition(".")[0] + ".pyi"))
        candidates.append(os.path.join(folder, stem.partition(".")[0], "__init__.pyi"))
    package, _, last = module_name.rpartition(".")
    parent = getattr(sys.modules.get(package), "__file__", None)
    if isinstance(parent, str):
        folder = os.path.dirname(parent)
        candidates.append(os.path.join(folder, last + ".pyi"))
        candidates.append(os.path.join(folder, last, "__init__.pyi"))
    for candidate in candidates:
        if os.path.isfile(candidate):
            return load(candidate)
    return None


def homes(path, target):
    """(module, qualified name) pairs under which a stub may have the object."""
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    name = name if isinstance(name, str) else path.rpartition(".")[2]
    plain = name.rpartition(".")[2]
    found = []
    module = getattr(target, "__module__", None)
    if isinstance(module, str):
        found.append((module, name))
    owner = getattr(target, "__objclass__", None) or getattr(target, "__self__", None)
    if isinstance(owner, type):
        found.append((owner.__module__, "%s.%s" % (owner.__name__, plain)))
        # PyTorch's functions are methods of a hidden class, with a stub named after it.
        found.append(("%s.%s" % (owner.__module__, owner.__name__), plain))
    elif owner is not None and type(owner).__name__ == "module":
        found.append((owner.__name__, plain))
    parts = path.split(".")
    for at in range(len(parts) - 1, 0, -1):
        found.append((".".join(parts[:at]), ".".join(parts[at:])))
    return found


def forms(path, target):
    """One form for each declaration of a function, or of a class's `__init__`."""
    seen = set()
    beside = stub_of_code(target)
    if beside is not None:
        nodes = beside.functions.get(getattr(target, "__qualname__", ""))
        if nodes:
            return merged([form_of(beside, node, False) for node in nodes])
    for module, name in homes(path, target):
        if (module, name) in seen:
            continue
        seen.add((module, name))
        stub = stub_of(module)
        if stub is None:
            continue
        names = [name]
        if isinstance(target, type):
            names = [name + ".__init__", name + ".__new__"]
        for one in names:
            nodes = stub.functions.get(one)
            if nodes:
                bound = isinstance(target, type)
                return merged([form_of(stub, node, bound) for node in nodes])
    return []


def merged(forms):
    """Overloads with the same parameters differ only in what they return: one form, any type."""
    found = {}
    for one in forms:
        key = tuple(param["name"] for param in one["params"])
        if key not in found:
            found[key] = one
            continue
        for param, more in zip(found[key]["params"], one["params"]):
            param["types"] = without_halves(unique(param["types"] + more["types"]))
            if not more["required"] and param["required"]:
                param["required"] = False
                param["default"] = more["default"]
            if param["default"] in (None, "...") and more["default"] is not None:
                param["default"] = more["default"]
    return list(found.values())


def without_halves(types):
    """`Literal[True]` and `Literal[False]` of two overloads are a flag."""
    flags = [one for one in types if one["sort"] == "bool"]
    if len(flags) > 1:
        types = [one for one in types if one["sort"] != "bool"] + [of("bool")]
    return types


def form_of(stub, node, bound):
    given = node.args
    params = []
    positional_only = list(getattr(given, "posonlyargs", []))
    plain = positional_only + list(given.args)
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    for at, (argument, default) in enumerate(zip(plain, defaults)):
        kind = "positional_only" if at < len(positional_only) else "positional_or_keyword"
        params.append(parameter_of(stub, argument, default, kind))
    if given.vararg is not None:
        params.append(parameter_of(stub, given.vararg, None, "var_positional"))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        params.append(parameter_of(stub, argument, default, "keyword_only"))
    if given.kwarg is not None:
        params.append(parameter_of(stub, given.kwarg, None, "var_keyword"))
    if bound and params:
        del params[0]
    return form("stub", params, node.name)


def parameter_of(stub, argument, default, kind):
    types = []
    told = []
    if argument.annotation is not None:
        tree = annotations.from_ast(argument.annotation, stub.renamed)
        types = annotations.types_of(tree, stub.aliases)
        told.append(evidence("stub", source_of(argument.annotation)))
    text = None if default is None else source_of(default)
    required = default is None and not kind.startswith("var_")
    name = argument.arg
    if kind == "positional_or_keyword" and name.startswith("__") and not name.endswith("__"):
        kind = "positional_only"
        name = name[2:]
    if text == "None":
        types = optional(types)
    elif text not in (None, "...") and (not types or "any" in sorts(types)):
        types = signatures.types_of_default(texts.literal(text))
    return parameter(name, kind, required, text, types, told)


def source_of(node):
    """The text of an expression; `ast.unparse` came with 3.9."""
    if hasattr(ast, "unparse"):
        return ast.unparse(node)
    value = annotations.constant(node)
    if value is not annotations.ANY:
        return repr(value)
    tree = annotations.from_ast(node)
    return tree[0] if not tree[1] else "%s[…]" % tree[0]
