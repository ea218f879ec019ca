"""Every public callable of a package as it is installed, its names grouped by the object they mean.

Modules are those that can be reached through public names; of a small package also the submodules
that nobody has imported yet. What cannot be called with values made on the spot is listed with the
reason.
"""

import dis
import enum
import fnmatch
import importlib
import inspect
import pkgutil
import sys
import time
import types
import warnings

from fissure_worker.discover import description as describing
from fissure_worker.discover import names, public_facts, tensorflow_registry, ufuncs

#: Packages with more submodules than this are taken as they present themselves.
SMALL_PACKAGE = 150
IMPORT_SECONDS = 20
MOST_DEPTH = 7


def list_public(package, deny=()):
    """Entries in the order of their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = importlib.import_module(package)
        walk = Walk(package, root)
        import_submodules(root)
        walk.modules(root, package)
        if package == package.partition(".")[0]:
            walk.operators(package)
        return walk.entries(deny)


def import_submodules(root):
    """Imports the modules of a small package; what fails to import is not listed."""
    folders = getattr(root, "__path__", None)
    if folders is None:
        return
    found = []
    pending = [(root.__name__, folders)]
    while pending:
        prefix, places = pending.pop()
        for module in pkgutil.iter_modules(places):
            if module.name.startswith("_") or module.name in public_facts.SKIPPED_MODULES:
                continue
            name = "%s.%s" % (prefix, module.name)
            found.append(name)
            if len(found) > SMALL_PACKAGE:
                return
            if module.ispkg:
                inner = ["%s/%s" % (place, module.name) for place in places]
                pending.append((name, inner))
    begin = time.time()
    for name in found:
        if name not in sys.modules and time.time() - begin < IMPORT_SECONDS:
            try:
                importlib.import_module(name)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise


class Walk:
    def __init__(self, package, root):
        self.package = package
        #: The name that the module itself has, which can be longer than the public one.
        self.inside = root.__name__
        self.root = package.partition(".")[0]
        #: Identity → [object, paths]; the object is kept so that its identity stays its own.
        self.found = {}
        self.visited = set()

    def modules(self, root, path):
        """Breadth first: the short way to a module is the one that people use."""
        level = [(root, path)]
        self.visited.add(id(root))
        for _ in range(MOST_DEPTH):
            below = []
            for module, where in level:
                for inner, name in self.module(module, where):
                    if id(inner) not in self.visited:
                        self.visited.add(id(inner))
                        below.append((inner, name))
            level = below

    def module(self, module, path):
        """Adds the callables of a module; gives the modules inside it."""
        inner = []
        for name, value in members(module):
            where = "%s.%s" % (path, name)
            if isinstance(value, types.ModuleType) and not is_operator(value):
                if self.is_own_module(value) and not is_skipped(name, where):
                    inner.append((value, where))
            elif is_operator(value):
                # Helpers that hold an operator under a name of their own.
                continue
            elif callable(value) and self.belongs(value, module):
                self.add(value, where)
                if isinstance(value, type) and is_array_class(value):
                    self.methods(value, where)
        return inner

    def is_own_module(self, module):
        name = getattr(module, "__name__", "") or ""
        if name == self.inside or name.startswith(self.inside + "."):
            return True
        # What a whole package shows as its own; of a module only what is in it counts.
        backends = public_facts.BACKENDS.get(self.package, ())
        return name.partition(".")[0] in backends

    def belongs(self, value, module):
        """Is a member of this module its own, not a helper that it imported?"""
        if has_all(module):
            return True
        home = getattr(value, "__module__", None)
        if not isinstance(home, str):
            # Built-in functions often have none.
            return True
        if not (home == self.root or home.startswith((self.root + ".", "_"))):
            # Bindings and generated code: public wherever a library shows them as its own.
            return home in public_facts.BACKENDS.get(self.root, ()) or home.partition(".")[0] in (
                public_facts.BACKENDS.get(self.root, ())
            )
        here = module.__name__
        if home == here or home.startswith(here + "."):
            return True
        # From a private place, or from below a package that only shows it (`__init__`).
        return public_facts.is_private(home) or hasattr(module, "__path__")

    def add(self, value, path):
        try:
            key = id(value)
            self.found.setdefault(key, [value, []])[1].append(path)
        except BaseException:
            pass

    def methods(self, owner, path):
        for name in dir(owner):
            if name.startswith("_"):
                continue
            try:
                value = getattr(owner, name)
            except BaseException:
                continue
            if callable(value) and not isinstance(value, type):
                self.found.setdefault((id(owner), name), [value, []])[1].append(
                    "%s.%s" % (path, name)
                )

    def operators(self, package):
        """Operators that the package's imports registered with PyTorch's dispatcher."""
        torch = sys.modules.get("torch")
        if torch is None or package == "torch" or not hasattr(torch, "ops"):
            return
        try:
            registered = torch._C._dispatch_get_all_op_names()
        except AttributeError:
            return
        for full in sorted({one.partition(".")[0] for one in registered}):
            space, _, name = full.partition("::")
            if space in public_facts.TORCH_NAMESPACES or name.startswith("_"):
                continue
            try:
                value = getattr(getattr(torch.ops, space), name)
            except (AttributeError, RuntimeError):
                continue
            self.add(value, "torch.ops.%s.%s" % (space, name))

    def entries(self, deny):
        entries = []
        absent = {}
        for value, paths in self.found.values():
            paths = sorted(set(paths), key=lambda path: (path.count("."), len(path), path))
            path = paths[0]
            reason = denied(paths, deny) or left_out(path, value) or absent_device(path, absent)
            entries.append(
                {
                    "path": path,
                    "aliases": paths[1:],
                    "kind": kind_of(path, value),
                    "layer": describing.is_layer(value),
                    "left_out": reason,
                }
            )
        return sorted(entries, key=lambda entry: entry["path"])


def kind_of(path, value):
    if ufuncs.is_ufunc(value):
        return "ufunc"
    if isinstance(value, type):
        return "class"
    if path.startswith("torch.ops."):
        return "operator"
    return describing.kind_of(path, value)


def has_all(module):
    return isinstance(getattr(module, "__all__", None), (list, tuple))


def members(module):
    """Public members: `__all__` and, since few packages keep it complete, what is shown beside it."""
    listed = getattr(module, "__all__", None)
    names_here = list(vars(module))
    if has_all(module):
        shown = [name for name in listed if isinstance(name, str)]
        shown += [
            name
            for name in names_here
            if isinstance(vars(module).get(name), types.ModuleType) and name not in listed
        ]
    else:
        shown = names_here
        if hasattr(module, "__getattr__"):
            shown = sorted(set(shown) | set(safe_dir(module)))
    for name in shown:
        if name.startswith("_"):
            continue
        try:
            yield name, getattr(module, name)
        except BaseException:
            continue


def safe_dir(module):
    try:
        return dir(module)
    except BaseException:
        return []


def is_operator(value):
    return type(value).__name__ in ("OpOverloadPacket", "OpOverload", "_OpNamespace", "_Ops")


def is_skipped(name, path):
    return name in public_facts.SKIPPED_MODULES or path in public_facts.SKIPPED_PATHS


def is_array_class(value):
    return value.__name__ in public_facts.ARRAY_CLASSES


def denied(paths, deny):
    for rule in deny:
        pattern = rule["pattern"].lower()
        for path in paths:
            short = (
                path.replace("tensorflow.", "tf.", 1) if path.startswith("tensorflow.") else path
            )
            if fnmatch.fnmatchcase(path.lower(), pattern) or fnmatch.fnmatchcase(
                short.lower(), pattern
            ):
                return rule["reason"]
    return None


def left_out(path, value):
    """Why nothing can be learned by calling it with values made on the spot, or None."""
    if path.startswith(tuple(place + "." for place in public_facts.NETWORK)):
        return "needs the network"
    if is_type_expression(value):
        return "is for type checkers"
    if isinstance(value, type):
        return class_reason(value)
    operation = None
    if path.startswith("tensorflow."):
        operation = tensorflow_registry.operation_of(path, value)
    if operation is not None:
        definition = tensorflow_registry.definition(operation)
        if definition is not None:
            return tensorflow_registry.problem_of(definition)
    code = getattr(value, "__code__", None)
    if is_declared_only(value):
        return "is only declared: other classes implement it"
    if only_raises(code):
        return "only raises an exception: it was removed or is for another system"
    if code is None and describing.torch_forms(path, value)[1] is not None:
        return "has no kernel for the processor"
    return file_reason(value)


def is_declared_only(function):
    """All that it does is to raise `NotImplementedError`."""
    code = getattr(function, "__code__", None)
    return getattr(code, "co_names", None) == ("NotImplementedError",)


def is_type_expression(value):
    """`Callable[[int], str]` can be called, and does nothing that anyone could want."""
    return hasattr(value, "__origin__") and hasattr(value, "__args__")


#: Bytes of code that a function without a result has at most.
SHORT_CODE = 160


def only_raises(code):
    """Does a function raise in any case? Short, without a branch, and its first way out is a `raise`."""
    if not isinstance(code, types.CodeType) or len(code.co_code) > SHORT_CODE:
        return False
    for step in dis.get_instructions(code):
        if "JUMP" in step.opname or step.opname.startswith(("RETURN", "YIELD", "SETUP", "FOR_")):
            return False
        if step.opname == "RAISE_VARARGS":
            return True
    return False


def absent_device(path, known):
    """Modules say themselves that what they are for is not there: `is_available()`."""
    parts = path.split(".")
    for length in range(2, len(parts)):
        place = ".".join(parts[:length])
        if place not in known:
            known[place] = availability(sys.modules.get(place))
        if known[place] is not None and parts[-1] != known[place]:
            return "needs what is not there: %s.%s() is False" % (place, known[place])
    return None


def availability(module):
    """The name of the function that says no."""
    for name in ("is_available", "is_initialized"):
        ask = vars(module).get(name) if isinstance(module, types.ModuleType) else None
        try:
            # Without arguments, and the answer is no.
            # Also where the answer is kept (`functools.lru_cache`).
            plain = callable(ask) and not isinstance(ask, type)
            if plain and not inspect.signature(ask).parameters:
                if ask() is False and not (name == "is_initialized" and has_available(module)):
                    return name
        except BaseException:
            continue
    return None


def has_available(module):
    """What is there, and only not started: a module that is started by its first use."""
    return "is_available" in vars(module) and "init" in vars(module)


#: Methods of which one is what a call of an object runs.
CALLED = ("forward", "call", "__call__")


def class_reason(value):
    try:
        if issubclass(value, BaseException):
            return "is an exception"
        if issubclass(value, enum.Enum):
            return "is an enumeration"
        if inspect.isabstract(value):
            return "is abstract: only subclasses can be made"
        if issubclass(value, type):
            return "is a class of classes"
        if only_raises(getattr(value.__init__, "__code__", None)):
            return "is made by the library only"
        if getattr(value, "_is_protocol", False):
            return "is a protocol for type checkers"
        if value.__module__ == "typing":
            return "is for type checkers"
        if issubclass(value, tuple) and hasattr(value, "n_fields"):
            return "is the type of a result"
        if has_no_constructor(value):
            return "is made by the library only"
        if describing.is_layer(value) and any(
            is_declared_only(getattr(value, name, None)) for name in CALLED
        ):
            return "is only declared: other classes implement it"
    except TypeError:
        return None
    return file_reason(value)


def has_no_constructor(value):
    """Bindings made with pybind11 give an `__init__` of their own to what can be constructed."""
    bound = any(base.__name__ == "pybind11_object" for base in inspect.getmro(value))
    text = getattr(value.__init__, "__doc__", None) or ""
    return bound and text.startswith("Initialize self")


def file_reason(value):
    try:
        signature = inspect.signature(value)
    except Exception:
        return None
    for one in signature.parameters.values():
        if one.default is not inspect.Parameter.empty or one.kind.name.startswith("VAR_"):
            continue
        suggested = names.types_of(one.name)
        if suggested and suggested[0]["sort"] == "path":
            return "needs a file (`%s`)" % one.name
        if one.name in public_facts.UNAVAILABLE:
            return public_facts.UNAVAILABLE[one.name] + " (`%s`)" % one.name
    return None
