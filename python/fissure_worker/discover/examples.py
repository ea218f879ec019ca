"""Calls of a callable that the examples of its documentation make, written down as plain data.

Every call in an example is rewritten to go through an observer, so that built-in functions, methods
and classes are seen alike and nothing of the library is replaced. An argument that is no plain data
is written down by the calls that made it.
"""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import re
import sys
import textwrap
import time
import warnings

from fissure_worker.discover import inside, observed, recipes
from fissure_worker.discover.limits import limited

#: Seconds for all examples of one callable.
SECONDS = 6
#: Calls that are kept.
MOST = 8
#: Calls from which on no others are looked for inside the library.
FEW = 2
#: The same for what the user wants observed.
OBSERVED_SECONDS = 30
MOST_OBSERVED = 32
#: Statements of one documentation that are run.
STATEMENTS = 60
#: Lines of one statement.
LINES = 40
#: Other documentations that mention the callable and are run as well.
NEIGHBOURS = 6
#: Names that examples use without importing them → module.
USUAL = (
    ("np", "numpy"), ("numpy", "numpy"), ("torch", "torch"), ("nn", "torch.nn"),
    ("F", "torch.nn.functional"), ("optim", "torch.optim"), ("jax", "jax"), ("jnp", "jax.numpy"),
    ("lax", "jax.lax"), ("random", "jax.random"), ("tf", "tensorflow"),
    ("tensorflow", "tensorflow"), ("keras", "keras"), ("layers", "keras.layers"),
    ("ops", "keras.ops"), ("scipy", "scipy"), ("math", "math"), ("functools", "functools"),
    ("mx", "mxnet"), ("partial", "functools.partial"),
)  # fmt: skip
FENCE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
BLOCK = re.compile(
    r"(?:\.\. (?:code-block|code|testcode)::[^\n]*|::[ ]*)\n\n?((?:[ \t]+[^\n]*\n|\n)+)"
)
CALL_NAME = "__observed_call__"


class Rewriter(ast.NodeTransformer):
    """`f(a, b=c)` becomes `__observed_call__(f, a, b=c)`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals"):
            return node
        name = ast.copy_location(ast.Name(id=CALL_NAME, ctx=ast.Load()), node)
        made = ast.Call(func=name, args=[node.func] + node.args, keywords=node.keywords)
        return ast.copy_location(made, node)


class Observer:
    """Runs examples; `found` are the calls of the target."""

    def __init__(self, path, target):
        self.path = path
        self.target = target
        self.name = path.rpartition(".")[2]
        self.same = same_functions(path, target)
        self.book = recipes.Recipes()
        #: Objects made by the target, with the call that made them.
        self.made = {}
        self.found = []

    def call(self, function, *arguments, **keywords):
        given, named = self.recognised(function, arguments, keywords)
        call = None
        if given is not None:
            call = self.book.call(given, named)
        layer = self.made.get(id(function))
        inner = None if layer is None else self.book.call(arguments, keywords)
        result = function(*arguments, **keywords)
        if layer is not None and layer[0] is function and inner is not None:
            self.keep(dict(layer[1], call=inner))
        if call is not None:
            self.keep(dict(call, call=None))
            if isinstance(self.target, type) and isinstance(result, self.target):
                self.made[id(result)] = (result, call)
        self.book.note(result, function, arguments, keywords)
        return result

    def recognised(self, function, arguments, keywords):
        """The arguments, if this is a call of the target; of a method with its object."""
        if any(function is one for one in self.same):
            return list(arguments), keywords
        owner = getattr(function, "__self__", None)
        if (
            owner is None
            or inspect.ismodule(owner)
            or getattr(function, "__name__", "") != self.name
        ):
            return None, None
        if isinstance(owner, type):
            # A class method is called as it is.
            same = getattr(owner, self.name, None) == self.target
            return (list(arguments), keywords) if same else (None, None)
        own = getattr(type(owner), self.name, None)
        if any(own is one for one in self.same):
            return [owner] + list(arguments), keywords
        return None, None

    def keep(self, call):
        if call not in self.found and len(self.found) < 4 * MOST:
            self.found.append(call)

    def is_full(self):
        return len(self.found) >= 4 * MOST

    def run(self, text, scope):
        for source in sources(text):
            names = dict(scope)
            names[CALL_NAME] = self.call
            names["__name__"] = "example"
            for statement in source[:STATEMENTS]:
                try:
                    tree = Rewriter().visit(ast.parse(statement))
                    ast.fix_missing_locations(tree)
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(tree, "<example>", "exec"), names)
                except (Exception, SystemExit):
                    # An example that fails, or that follows one, says nothing.
                    continue


def same_functions(path, target):
    """The target, and the function of the library that a method of its arrays stands for."""
    found = [target, getattr(target, "__func__", None)]
    parts = path.split(".")
    if len(parts) > 2 and parts[-2] in ("Tensor", "ndarray", "Array"):
        root = sys.modules.get(".".join(parts[:-2]))
        found.append(getattr(root, parts[-1].rstrip("_"), None))
    return [one for one in found if one is not None]


def sources(text):
    """Groups of statements: the examples of doctest's form together, each block of code alone."""
    found = []
    try:
        found.append([whole(one) for one in doctest.DocTestParser().get_examples(text)])
    except ValueError:
        # Not indented as doctest wants it: every prompt for itself.
        lines = [line.strip() for line in text.splitlines()]
        found.append([line[4:] for line in lines if line.startswith(">>> ")])
    for pattern in (FENCE, BLOCK):
        for block in pattern.findall(text):
            if ">>>" not in block:
                found.append(statements(textwrap.dedent(block)))
    return [group for group in found if group]


def whole(example):
    """The statement of an example. Many documentations leave the dots before its further lines away, so
    that they look like output."""
    source = example.source
    for line in [""] + example.want.splitlines()[:LINES]:
        source += line + "\n" if line else ""
        try:
            ast.parse(source)
            return source
        except SyntaxError:
            continue
    return example.source


def statements(code):
    """The statements of a block; what cannot be read is left out line by line."""
    lines = code.splitlines()
    for _ in range(20):
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError as error:
            at = (error.lineno or 1) - 1
            if not 0 <= at < len(lines) or not lines[at].strip():
                return []
            lines[at] = ""
            continue
        except ValueError:
            return []
        found = []
        for node in tree.body:
            end = getattr(node, "end_lineno", None)
            if end is None:
                return ["\n".join(lines)]
            found.append("\n".join(lines[node.lineno - 1 : end]))
        return found
    return []


def scope_of(target):
    """What an example may name: the usual short names, and its own module."""
    scope = {}
    for short, module in USUAL:
        root = module.partition(".")[0]
        if root not in sys.modules and root not in ("math", "functools"):
            continue
        try:
            scope[short] = importlib.import_module(module)
        except ImportError:
            parent, _, name = module.rpartition(".")
            scope[short] = getattr(sys.modules.get(parent), name, None)
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    if module is not None:
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                scope.setdefault(name, value)
    root = (getattr(target, "__module__", None) or "").partition(".")[0]
    if root in sys.modules:
        scope.setdefault(root, sys.modules[root])
    return scope


def documentation_of(value):
    try:
        text = getattr(value, "__doc__", None)
    except Exception:
        return ""
    return text if isinstance(text, str) else ""


def texts_of(path, target):
    """Documentations that may hold a call: its own, those around it, those that mention it."""
    own = [target]
    if isinstance(target, type):
        own += [getattr(target, name, None) for name in ("__init__", "forward", "call", "__call__")]
    own += same_functions(path, target)
    parent, _, name = path.rpartition(".")
    holder = None
    try:
        from fissure_worker.build import resolve

        holder = resolve(parent) if parent and "::" not in path else None
    except Exception:
        pass
    if holder is not None:
        own.append(holder)
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    own.append(module)
    seen = []
    for value in own:
        text = documentation_of(value)
        if text and text not in seen:
            seen.append(text)
    near = 0
    for place in (holder, module):
        for other in list(vars(place).values()) if hasattr(place, "__dict__") else ():
            text = documentation_of(other) if callable(other) else ""
            if near < NEIGHBOURS and name + "(" in text and text not in seen:
                seen.append(text)
                near += 1
    return seen


def seed():
    """The same examples give the same numbers every time."""
    import random

    random.seed(0)
    for name, function in (("numpy", "random.seed"), ("torch", "manual_seed"),
                           ("tensorflow", "random.set_seed")):  # fmt: skip
        found = sys.modules.get(name)
        for part in function.split("."):
            found = getattr(found, part, None)
        if found is not None:
            found(0)


def examples_of(path, target):
    """Calls of the target: `{"arguments": […], "keywords": {…}, "call": null or the same}`."""
    seed()
    observer = Observer(path, target)
    begin = time.time()
    scope = scope_of(target)
    own = []
    if observed.files():
        with limited(OBSERVED_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            observed.run(observer, Rewriter(), CALL_NAME)
        own = chosen(observer.found, MOST_OBSERVED)
        observer.found = []
        begin = time.time()
    with limited(SECONDS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in texts_of(path, target):
            observer.run(text, scope)
            if len(observer.found) >= MOST or time.time() - begin > SECONDS / 2:
                break
    found = chosen(observer.found, MOST)
    if len(found) < FEW and inside.is_operation(path, target):
        found += inner_calls(path, target)
    return own + found


def inner_calls(path, target):
    """Calls of an operation inside the functions that resemble it."""
    watch = inside.Inside(path, target)

    class Relative(Observer):
        def call(self, function, *arguments, **keywords):
            arguments = inside.smaller(arguments)
            result = Observer.call(self, function, *arguments, **keywords)
            if watch.backward:
                with contextlib.suppress(Exception):
                    inside.with_gradients(function, arguments, keywords)
            return result

    begin = time.time()
    ran = 0
    with limited(SECONDS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in inside.relatives(path):
            text = documentation_of(value)
            if not sources(text):
                continue
            with watch.watching():
                Relative(path, target).run(text, scope_of(value))
            ran += 1
            if watch.is_full() or ran >= inside.RELATIVES or time.time() - begin > SECONDS / 2:
                break
    return watch.found


def chosen(found, most):
    """Calls on the object say more than its construction alone."""
    called = [one for one in found if one["call"] is not None]
    return (called or found)[:most]
