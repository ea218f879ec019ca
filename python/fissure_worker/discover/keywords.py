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
    taken, count = set(), 0
    for base in inspect.getmro(target):
        init = vars(base).get("__init__")
        if base is object or init is None:
            continue
        if base is not target:
            own = (signatures.from_python(init) or [])[1:]
            # What the derived class hands on itself nobody else can give.
            own = [one for one in own[count:] if not one["kind"].startswith("var_")]
            found += [by_name(one) for one in own if one["name"] not in taken]
        found += [one for one in named_in(init) if one["name"] not in taken]
        if not takes_any(init):
            break
        names, count = given_beside(init)
        taken |= names
    return found[:MOST]


def given_beside(function):
    """Names, and how many arguments by position, that a function gives beside its `**kwargs`."""
    outer, rest = source_of(function)
    names, count = set(), 0
    for node in ast.walk(outer) if rest is not None else ():
        if not isinstance(node, ast.Call):
            continue
        if any(one.arg is None and is_name(one.value, rest) for one in node.keywords):
            names.update(one.arg for one in node.keywords if one.arg is not None)
            if not isinstance(node.func, ast.Attribute) or node.func.attr != "__init__":
                continue
            plain = [one for one in node.args if not isinstance(one, ast.Starred)]
            # `Base.__init__(self, …)` has the object among them, `super().__init__(…)` has not.
            count = max(count, len(plain) - isinstance(node.func.value, ast.Name))
    return names, count


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
    outer, rest = source_of(function)
    if rest is None:
        return []
    instead = {id(one) for node in ast.walk(outer) for one in otherwise(node, rest)}
    found = {}
    for node in ast.walk(outer):
        name, default = asked(node, rest)
        if name is not None and name.isidentifier() and id(node) not in instead:
            found.setdefault(name, default)
    told = [evidence("validation", "taken out of `**%s`" % rest)]
    return [
        parameter(name, "keyword_only", False, default, types_of(default), list(told))
        for name, default in found.items()
    ]


def source_of(function):
    """The syntax of a function that takes any keyword, and the name of those; (None, None)."""
    function = signatures.unwrapped(function)
    if getattr(function, "__code__", None) is None:
        return None, None
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text) if len(text) < LONGEST else None
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None, None
    outer = tree.body[0] if tree is not None and tree.body else None
    rest = getattr(getattr(outer, "args", None), "kwarg", None)
    return (None, None) if rest is None else (outer, rest.arg)


def otherwise(node, rest):
    """What an `else` looks up: keywords that stand for another one, and are refused beside it."""
    if not isinstance(node, ast.If):
        return []
    inside = [one for part in node.orelse for one in ast.walk(part)]
    return [one for one in inside if asked(one, rest)[0] is not None]


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
