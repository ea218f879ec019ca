"""Keywords that a function takes out of its `**kwargs`: those that its source names, and those of the base class that a
constructor hands them on to.
"""

import ast
import inspect
import textwrap

from fissure_worker.discover import signatures
from fissure_worker.discover.words import evidence, parameter

LONGEST = 60000
#: Keywords that are added to one function at most.
MOST = 12
#: Methods of a dictionary that name one of its keys.
ASKING = ("get", "pop", "setdefault")


def apply(answer, target):
    """Adds them to each form that takes any keyword, as parameters of their own."""
    for form in answer["forms"]:
        if not any(one["kind"] == "var_keyword" for one in form["params"]):
            continue
        known = {one["name"] for one in form["params"]}
        for one in keywords_of(target):
            if one["name"] not in known and len(known) < 40:
                known.add(one["name"])
                form["params"].append(one)


def keywords_of(target):
    """Optional parameters that go by name."""
    if not isinstance(target, type):
        return named_in(target)[:MOST]
    found = []
    for base in inspect.getmro(target):
        init = vars(base).get("__init__")
        if base is object or init is None:
            continue
        if base is not target:
            own = signatures.from_python(init) or []
            found += [by_name(one) for one in own[1:] if not one["kind"].startswith("var_")]
        found += named_in(init)
        if not takes_any(init):
            break
    return found[:MOST]


def by_name(one):
    found = dict(one, kind="keyword_only", required=False)
    if found["default"] is None:
        found["default"] = "None"
    found["evidence"] = [evidence("signature", "`**kwargs` go to the base class")]
    return found


def takes_any(function):
    try:
        params = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in params)


def named_in(function):
    """Keywords that the source asks its `**kwargs` for."""
    function = signatures.unwrapped(function)
    if getattr(function, "__code__", None) is None:
        return []
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text) if len(text) < LONGEST else None
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return []
    outer = tree.body[0] if tree is not None and tree.body else None
    rest = getattr(getattr(outer, "args", None), "kwarg", None)
    if rest is None:
        return []
    found = {}
    for node in ast.walk(outer):
        name, default = asked(node, rest.arg)
        if name is not None and name.isidentifier():
            found.setdefault(name, default)
    told = [evidence("validation", "taken out of `**%s`" % rest.arg)]
    return [
        parameter(name, "keyword_only", False, default, types_of(default), list(told))
        for name, default in found.items()
    ]


def asked(node, rest):
    """(keyword, source text of its default) of an expression that looks one up; (None, None)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ASKING and is_name(node.func.value, rest) and node.args:
            default = literal(node.args[1]) if len(node.args) > 1 else None
            return text_of(node.args[0]), repr(default)
    elif isinstance(node, ast.Subscript) and is_name(node.value, rest):
        inner = node.slice
        return text_of(getattr(inner, "value", inner) if is_index(inner) else inner), "None"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        if isinstance(node.ops[0], (ast.In, ast.NotIn)) and is_name(node.comparators[0], rest):
            return text_of(node.left), "None"
    return None, None


def is_index(node):
    return type(node).__name__ == "Index"  # before 3.9


def is_name(node, name):
    return isinstance(node, ast.Name) and node.id == name


def text_of(node):
    value = literal(node)
    return value if isinstance(value, str) else None


def literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        return None


def types_of(default):
    return signatures.types_of_default(literal(ast.parse(default, mode="eval").body))
