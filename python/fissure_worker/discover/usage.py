"""How a function's own source uses a parameter of which nothing else says what it is: which attributes it asks for, which
keys, whether it calls it, and to which annotated parameter of another function it hands it on.
"""

import ast
import inspect
import sys

from fissure_worker.discover import names, signatures, validation
from fissure_worker.discover.words import NONE, evidence, is_open, of, optional, sorts

#: Functions that hand a parameter on, one inside the other.
DEPTH = 2
MOST_KEYS = 12
#: Classes whose objects have what is asked for, the likeliest first: (module, class, type).
CLASSES = (
    ("torch", "Tensor", of("tensor")),
    ("tensorflow", "Tensor", of("tensor")),
    ("jax", "Array", of("tensor")),
    ("numpy", "ndarray", of("ndarray")),
    ("builtins", "str", of("string")),
    ("builtins", "dict", of("dict")),
    ("builtins", "list", of("list")),
    ("torch.nn", "Module", of("module")),
)


class Used:
    """What is done with one parameter."""

    def __init__(self):
        self.attributes = set()
        self.keys = []
        self.called = False
        self.types = None


def apply(answer, target):
    """Gives types to parameters that have none."""
    own = getattr(target, "__init__", None) if isinstance(target, type) else target
    call = None
    if answer["layer"] and isinstance(target, type):
        call = getattr(target, "forward", None) or getattr(target, "call", None)
    for form in answer["forms"]:
        for function, params in ((own, form["params"]), (call, form["call_params"] or [])):
            unknown = [one for one in params if is_unknown(one)]
            if not unknown or function is None:
                continue
            used = uses(function, {one["name"] for one in unknown}, 0)
            for one in unknown:
                put(one, used.get(one["name"]))


def is_unknown(one):
    known = [kind for kind in one["types"] if kind != NONE]
    return is_open(known) and not one["kind"].startswith("var_")


def put(one, used):
    types = None if used is None else types_of(used, names.types_of(one["name"]))
    if types:
        nullable = "none" in sorts(one["types"]) or one["default"] == "None"
        one["types"] = optional(types) if nullable else types
        one["evidence"].append(evidence("usage", "its source uses it so"))


def types_of(used, suggested):
    """What has all that is asked for; what the name suggests is left alone unless it has not."""
    if used.keys:
        # Values of keys are most often tensors.
        pairs = [[{"text": key}, small_tensor()] for key in used.keys[:MOST_KEYS]]
        return [of("object", values=[{"dict": pairs}])]
    if used.types:
        return used.types
    if suggested:
        return None
    if used.called and not used.attributes:
        return [of("callable")]
    if not used.attributes:
        return None
    for module, title, kind in CLASSES:
        found = getattr(sys.modules.get(module), title, None)
        if found is not None and all(hasattr(found, one) for one in used.attributes):
            return [kind]
    return None


def small_tensor():
    data = {"pattern": "0000803f0000003f"}
    return {"tensor": {"dtype": "float32", "shape": [2, 3], "data": data}}


def uses(function, wanted, depth):
    """{parameter: how it is used}"""
    function = signatures.unwrapped(function)
    tree = validation.tree_of(function)
    if tree is None:
        return {}
    scope = getattr(function, "__globals__", {})
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_name(node.value, wanted):
            found.setdefault(node.value.id, Used()).attributes.add(node.attr)
        elif isinstance(node, ast.Subscript) and is_name(node.value, wanted):
            key = constant(node.slice)
            used = found.setdefault(node.value.id, Used())
            if key is not None and key not in used.keys:
                used.keys.append(key)
        elif isinstance(node, ast.Call):
            if is_name(node.func, wanted):
                found.setdefault(node.func.id, Used()).called = True
            elif depth < DEPTH:
                handed_on(node, wanted, scope, found, depth)
    return found


def is_name(node, wanted):
    return isinstance(node, ast.Name) and node.id in wanted


def constant(node):
    """The text that a subscript is, or None."""
    node = getattr(node, "value", None) if type(node).__name__ == "Index" else node
    value = getattr(node, "value", getattr(node, "s", None))
    return value if isinstance(value, str) else None


def handed_on(node, wanted, scope, found, depth):
    """The parameter of another function that a bare name becomes."""
    given = [(at, one.id) for at, one in enumerate(node.args) if is_name(one, wanted)]
    named = [(one.arg, one.value.id) for one in node.keywords if one.arg and is_name(one.value, wanted)]  # fmt: skip
    if not given and not named or any(isinstance(one, ast.Starred) for one in node.args):
        return
    callee = resolved(node.func, scope)
    if not inspect.isfunction(callee):
        return
    params = signatures.from_python(callee) or []
    pairs = [(params[at], name) for at, name in given if at < len(params)]
    by_name = {one["name"]: one for one in params}
    pairs += [(by_name[arg], name) for arg, name in named if arg in by_name]
    inner = {}
    for param, name in pairs:
        used = found.setdefault(name, Used())
        if used.types is not None or param["kind"].startswith("var_"):
            continue
        if not is_unknown(param):
            used.types = [dict(one) for one in param["types"]]
            continue
        inner = inner or uses(callee, {one["name"] for one, _ in pairs}, depth + 1)
        below = inner.get(param["name"])
        if below is not None:
            used.attributes |= below.attributes
            used.keys += [key for key in below.keys if key not in used.keys]
            used.types = below.types


def resolved(node, scope):
    """What a name or a dotted name means in the function's module."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        before = resolved(node.value, scope)
        return getattr(before, node.attr, None) if inspect.ismodule(before) else None
    return None
