"""The program's source with a question after each call and attribute: is this an array of NumPy that
a library made where nobody watched?

SciPy, scikit-learn, pandas, image libraries and most others give plain arrays, whatever they are given.
The question is asked in the expression itself, so that nothing of them has to be known by name; lines,
names and tracebacks of the program stay as they are.
"""

import ast
import contextlib
import os

#: The name of the question among the builtins.
NAME = "__fissure_result__"


class _Asks(ast.NodeTransformer):
    def visit_Call(self, node):
        # The function itself is no array: its path is left alone.
        node.func = self._path(node.func)
        node.args = [self.visit(item) for item in node.args]
        node.keywords = [self.visit(item) for item in node.keywords]
        return _asked(node)

    def visit_Attribute(self, node):
        held = self._path(node)
        return _asked(held) if isinstance(node.ctx, ast.Load) else held

    def _path(self, node):
        if isinstance(node, ast.Attribute):
            node.value = self._path(node.value)
            return node
        return node if isinstance(node, ast.Name) else self.visit(node)

    # Annotations are read by others, as text even.

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node):
        return node

    def visit_FunctionDef(self, node):
        returns, node.returns = node.returns, None
        node.decorator_list, decorators = [], node.decorator_list
        self.generic_visit(node)
        node.returns, node.decorator_list = returns, decorators
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        node.body = [self.visit(item) for item in node.body]
        return node

    def visit_Match(self, node):
        # Patterns are no expressions.
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = self.visit(case.guard) if case.guard is not None else None
            case.body = [self.visit(item) for item in case.body]
        return node


def _asked(node):
    """The expression inside the question; of a call with the path of its function."""
    told = [node]
    if isinstance(node, ast.Call):
        path = _dotted(node.func)
        if path:
            told.append(ast.copy_location(_text(path), node))
    asked = ast.Call(func=ast.Name(id=NAME, ctx=ast.Load()), args=told, keywords=[])
    ast.copy_location(asked.func, node)
    return ast.copy_location(asked, node)


def _text(value):
    return ast.Constant(value=value) if hasattr(ast, "Constant") else ast.Str(s=value)


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id] + parts) if isinstance(node, ast.Name) else None


def gives_data(frame, path, modules):
    """Does the path lead, through modules alone, to a function of one of these modules?"""
    if not path:
        return False
    first, _, rest = path.partition(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for part in rest.split(".") if rest else []:
        if type(value) is not type(ast):
            return False
        value = getattr(value, part, None)
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and any(
        home == module or home.startswith(module + ".") for module in modules
    )


def compiled(source, file):
    """The code of a file of the program (its text or its tree), with the question in it."""
    tree = source if isinstance(source, ast.AST) else ast.parse(source, file)
    return compile(_Asks().visit(tree), file, "exec")


#: Statements that compute nothing of their own.
DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)


def execute(source, path, namespace, code=None):
    """Executes a file in a namespace. What it raises is returned, and then its definitions are there
    as far as they can be: a script that cannot run here (no data, no arguments, nobody to answer
    `input()`) has functions all the same."""
    try:
        exec(code if code is not None else compiled(source, path), namespace)
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        return error
    except BaseException as error:
        for statement in ast.parse(source, path).body:
            if isinstance(statement, DEFINITIONS) and _missing(statement, namespace):
                with contextlib.suppress(Exception):
                    exec(compiled(_module(statement), path), namespace)
        return error
    return None


def _missing(statement, namespace):
    name = getattr(statement, "name", None)
    return name is None or name not in namespace


def _module(statement):
    module = ast.parse("")
    module.body = [statement]
    return module


class Modules:
    """The modules of the program that its runs import: compiled in the same way, once each, and from the changed source
    where a fix is tried."""

    def __init__(self, written, sources=dict):
        self._written = written  # is a file the user's own?
        self._sources = sources  # gives the changed sources by file
        self._codes = {}

    def get_code(self, original):
        def get_code(loader, fullname):
            file = loader.path
            if not self._written(file):
                return original(loader, fullname)
            changed = self._sources().get(os.path.abspath(file))
            if changed is not None:
                return compiled(changed, file)
            if file not in self._codes:
                try:
                    self._codes[file] = compiled(loader.get_data(file), file)
                except (SyntaxError, ValueError, RecursionError):
                    return original(loader, fullname)
            return self._codes[file]

        return get_code
