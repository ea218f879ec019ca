"""What a function's own Python source checks: choices, bounds, ranks, types of its parameters.

`if mode not in ("a", "b"): raise`, `if size <= 0: raise`, `assert x.dim() == 4`, `isinstance(k, int)`.
"""

import ast
import inspect
import textwrap

from fissure_worker.discover import annotations, signatures
from fissure_worker.discover.words import NONE, evidence, is_open, optional, sorts

LONGEST = 60000
#: Negation of a comparison: a check that raises says the opposite of its condition.
OPPOSITE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
            ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip


class Facts:
    """What is known of each parameter."""

    def __init__(self, scope):
        self.scope = scope
        self.choices = {}
        self.compared = {}
        self.bounds = {}
        self.ranks = {}
        self.classes = {}
        self.texts = {}

    def note(self, name, node):
        try:
            text = ast.unparse(node)
        except AttributeError:
            text = "a check in its source"
        self.texts.setdefault(name, text)


def apply(answer, target):
    """Adds to the types of a description what the source of its function checks."""
    function = getattr(target, "__init__", None) if isinstance(target, type) else target
    own = facts_of(function)
    call = None
    if answer["layer"] and isinstance(target, type):
        call = facts_of(getattr(target, "forward", None) or getattr(target, "call", None))
    for form in answer["forms"]:
        for found, params in ((own, form["params"]), (call, form["call_params"] or [])):
            if found is not None:
                for one in params:
                    put(one, found)


def tree_of(function):
    """The source of a function, parsed, or None."""
    if getattr(function, "__code__", None) is None:
        return None
    try:
        text = textwrap.dedent(inspect.getsource(function))
        return None if len(text) > LONGEST else ast.parse(text)
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError, IndentationError):
        return None


def facts_of(function):
    function = signatures.unwrapped(function)
    tree = tree_of(function)
    if tree is None:
        return None
    code = function.__code__
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    found = Facts(getattr(function, "__globals__", {}))
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            if raises(node.body):
                conditions(node.test, names, found, negated=True)
                exact_class(node.test, names, found)
            equalities(node.test, names, found)
        elif isinstance(node, ast.Assert):
            conditions(node.test, names, found, negated=False)
            exact_class(node.test, names, found)
        elif isinstance(node, ast.Call):
            instance(node, names, found)
    return found


def raises(body):
    """Is the first thing that a branch does an error?"""
    return bool(body) and isinstance(body[0], ast.Raise)


def conditions(test, names, found, negated):
    """The parts of a condition that must hold; `negated` where it must not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return conditions(test.operand, names, found, not negated)
    if isinstance(test, ast.BoolOp):
        # `a or b` raising: neither may hold. `a and b` raising says nothing of one of them.
        wanted = ast.Or if negated else ast.And
        if isinstance(test.op, wanted):
            for value in test.values:
                conditions(value, names, found, negated)
        return None
    if isinstance(test, ast.Compare):
        left = test.left
        for operator, right in zip(test.ops, test.comparators):
            kind = type(operator)
            kind = OPPOSITE.get(kind) if negated else kind
            if kind is not None and (not negated or len(test.ops) == 1):
                compare(left, kind, right, names, found, test)
            left = right
    return None


def compare(left, kind, right, names, found, node):
    swapped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
    if not subject(left, names)[0] and subject(right, names)[0]:
        left, right, kind = right, left, swapped.get(kind, kind)
    name, aspect = subject(left, names)
    if name is None:
        return
    value = constant(right, found.scope)
    if kind is ast.In and isinstance(value, (list, tuple, set, frozenset, dict)):
        values = list(value)
        if values and all(isinstance(one, (str, int)) or one is None for one in values):
            if aspect == "value":
                found.choices.setdefault(name, values[:64])
            elif aspect == "rank":
                found.ranks.setdefault(name, [v for v in values if isinstance(v, int)])
            found.note(name, node)
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    if aspect == "rank" and kind is ast.Eq:
        found.ranks.setdefault(name, [value])
    elif aspect == "value" and kind in (ast.Gt, ast.GtE):
        found.bounds.setdefault(name, {}).update(min=value, min_open=kind is ast.Gt)
    elif aspect == "value" and kind in (ast.Lt, ast.LtE):
        found.bounds.setdefault(name, {}).update(max=value, max_open=kind is ast.Lt)
    else:
        return
    found.note(name, node)


def subject(node, names):
    """(parameter, what of it): its value, or its rank as `x.dim()`, `x.ndim`, `len(x.shape)`."""
    if isinstance(node, ast.Name) and node.id in names:
        return node.id, "value"
    if isinstance(node, ast.Attribute) and node.attr == "ndim":
        return named(node.value, names), "rank"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "dim"
    ):
        return (named(node.func.value, names), "rank") if not node.args else (None, None)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "len"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Attribute)
        and node.args[0].attr == "shape"
    ):
        return named(node.args[0].value, names), "rank"
    return None, None


def named(node, names):
    return node.id if isinstance(node, ast.Name) and node.id in names else None


def constant(node, scope):
    """The value of a literal, or of a constant of the module."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        pass
    if isinstance(node, ast.Name):
        value = scope.get(node.id)
        if isinstance(value, (list, tuple, set, frozenset, dict, int, float, str)):
            return value
    return None


def equalities(test, names, found):
    """`if mode == "a": … elif mode == "b": …`: words that the parameter is compared with."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            equalities(value, names, found)
        return
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    name = named(test.left, names)
    if name is None:
        return
    value = constant(test.comparators[0], found.scope)
    if isinstance(test.ops[0], (ast.Eq, ast.NotEq)) and isinstance(value, str):
        words = found.compared.setdefault(name, [])
        if value not in words:
            words.append(value)
    elif isinstance(test.ops[0], (ast.In, ast.NotIn)) and isinstance(value, (list, tuple, set)):
        for one in value:
            words = found.compared.setdefault(name, [])
            if isinstance(one, str) and one not in words:
                words.append(one)


def exact_class(test, names, found):
    """`type(x) == C`, `type(x) is not C`, `type_of(x) == C`: the class that a parameter is asked for."""
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left = node.left
        asks = isinstance(left, ast.Call) and isinstance(left.func, ast.Name)
        if not (asks and left.func.id.startswith("type") and len(left.args) == 1):
            continue
        name = named(left.args[0], names)
        if name is not None and isinstance(node.ops[0], (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            note_class(name, node.comparators[0], found)


def note_class(name, node, found):
    known = found.scope.get(node.id) if isinstance(node, ast.Name) else None
    tree = annotations.from_ast(node) if known is None else annotations.from_object(known)
    for one in annotations.types_of(tree):
        if one["sort"] != "any":
            found.classes.setdefault(name, []).append(one)


def instance(node, names, found):
    if not (
        isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2
    ):
        return
    name = named(node.args[0], names)
    if name is None:
        return
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    for kind in kinds:
        note_class(name, kind, found)


def put(one, found):
    name = one["name"]
    known = found.texts.get(name)
    told = len(one["evidence"])
    nullable = "none" in sorts(one["types"])
    choices = found.choices.get(name)
    words = found.compared.get(name, [])
    if choices is None and len(words) > 1 and sorts(one["types"]) <= {"string", "none"}:
        choices = words
        known = "compared with %s" % ", ".join(repr(word) for word in words[:8])
    if is_open([kind for kind in one["types"] if kind != NONE]):
        if choices:
            made = annotations.literal_types([value for value in choices if value is not None])
            one["types"] = optional(made) if nullable or None in choices else made
            one["evidence"].append(evidence("validation", known or "compared in its source"))
            return
        classes = found.classes.get(name)
        if classes:
            one["types"] = optional(classes) if nullable else classes
            one["evidence"].append(evidence("validation", "isinstance"))
    made = []
    for kind in one["types"]:
        kind = dict(kind)
        if kind["sort"] == "string" and choices:
            texts = [value for value in choices if isinstance(value, str)]
            old = kind.get("choices")
            if texts and (not old or set(old) < set(texts)):
                kind["choices"] = texts
                told = -1
        elif kind["sort"] in ("int", "float", "number") and name in found.bounds:
            for key, value in found.bounds[name].items():
                if value is not False and not (key.endswith("_open") and key[:3] not in kind):
                    kind.setdefault(key, value)
                    told = -1
        elif kind["sort"] == "int" and choices and "choices" not in kind:
            numbers = [value for value in choices if type(value) is int]
            if numbers:
                kind["choices"] = numbers
                told = -1
        elif kind["sort"] in ("tensor", "index_tensor", "ndarray") and found.ranks.get(name):
            kind.setdefault("ndim", found.ranks[name])
            told = -1
        made.append(kind)
    one["types"] = made
    if told == -1:
        one["evidence"].append(evidence("validation", known or "checked in its source"))
