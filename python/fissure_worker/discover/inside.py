"""Calls of an operation that public functions make inside the library.

Operators (`torch.ops.aten.*`, `torch._C._nn.*`, `tf.raw_ops.*`) have no examples of their own, but the
functions that people call are made of them. The examples of those whose names resemble the operation's
are run while the library tells of every operation that it carries out, and those of the wanted one are
written down with the arguments they had.
"""

import contextlib
import inspect
import sys
import types

from fissure_worker.discover import public_facts, recipes, tensorflow_registry, torch_schemas

#: Functions whose examples are run.
RELATIVES = 8
#: Letters that two names have in common at least.
COMMON = 4
#: Calls that are kept.
MOST = 6
#: What operations of the way back are called.
BACKWARD = ("backward", "backprop", "grad")


def is_operation(path, target):
    """Is it one of those that other functions are made of?"""
    if torch_schemas.operator_packet(target)[0] is not None:
        return True
    if path.startswith("torch._C."):
        return callable(target)
    return path.startswith("tensorflow.raw_ops.")


def plain(name):
    return name.rpartition(".")[2].replace("_", "").lower()


def relatives(path):
    """Public functions and classes: by how much of their name is in the operation's; those whose code
    names the operation count as named like it, those whose code names one of the latter a little less."""
    wanted = plain(path)
    members = {}
    for module in modules(path.partition(".")[0]):
        for name, value in list(vars(module).items()):
            if name.startswith("_") or isinstance(value, types.ModuleType) or not callable(value):
                continue
            members[id(value)] = (plain(name), value, mentioned(value))
    found = {}
    callers = set()
    for key, (name, value, inner) in members.items():
        if wanted in inner:
            callers.add(name)
            found[key] = (len(wanted), value)
        elif name in wanted and len(name) >= COMMON or wanted in name and len(wanted) >= COMMON:
            found[key] = (min(len(name), len(wanted)), value)
    for key, (_, value, inner) in members.items():
        if key not in found and callers & inner:
            found[key] = (len(wanted) - 1, value)
    order = sorted(
        found.values(), key=lambda pair: (-pair[0], str(getattr(pair[1], "__name__", "")))
    )
    return [value for _, value in order[: 4 * RELATIVES]]


def mentioned(value):
    """Plain names that the code of a function names, or that of a layer's call."""
    try:
        if isinstance(value, type):
            value = getattr(value, "forward", None) or getattr(value, "call", None)
        code = getattr(inspect.unwrap(value), "__code__", None)
    except (AttributeError, TypeError, ValueError):
        return frozenset()
    return frozenset(plain(one) for one in getattr(code, "co_names", ()))


def modules(root):
    found = []
    for name in public_facts.ALIAS_MODULES.get(root, ()) + public_facts.SHOWN_MODULES.get(root, ()):
        module = sys.modules.get(root)
        for part in name.split(".")[1:]:
            module = getattr(module, part, None)
        if isinstance(module, types.ModuleType):
            found.append(module)
    return found


class Inside:
    """Keeps the calls of one operation."""

    def __init__(self, path, target):
        name = torch_schemas.operator_packet(target)[0]
        self.wanted = (name or path).rpartition("::")[2].rpartition(".")[2]
        self.backward = any(one in self.wanted.lower() for one in BACKWARD)
        self.found = []
        self.book = recipes.Recipes()

    def is_full(self):
        return len(self.found) >= MOST

    def keep(self, arguments, keywords):
        if self.is_full():
            return
        call = self.book.call(arguments, keywords)
        if call is None:
            return
        call = dict(call, call=None)
        if call not in self.found:
            self.found.append(call)

    def watching(self):
        """A block in which the library tells of its operations."""
        if "torch" in sys.modules:
            return watching_torch(self)
        return watching_tensorflow(self)


@contextlib.contextmanager
def watching_torch(inside):
    try:
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        yield
        return

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, kinds, arguments=(), keywords=None):
            keywords = keywords or {}
            if getattr(function, "__name__", None) == inside.wanted:
                if torch_schemas.is_builtin(function):
                    inside.keep(arguments, keywords)
            return function(*arguments, **keywords)

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
            keywords = keywords or {}
            if function._schema.name.rpartition("::")[2] == inside.wanted:
                inside.keep(arguments, keywords)
            return function(*arguments, **keywords)

    with Operators(), Functions(), replaced(inside):
        yield


@contextlib.contextmanager
def replaced(inside):
    """The function of this name stands behind one that tells of its calls: a mode does not see what
    Python functions of the library call, once it has handed the call on to them."""
    before = []
    for place in public_facts.BUILT_IN_MODULES:
        holder = sys.modules.get("torch")
        for part in place.split(".")[1:]:
            holder = getattr(holder, part, None)
        function = getattr(holder, inside.wanted, None)
        if function is None or not torch_schemas.is_builtin(function):
            continue
        own = vars(holder).get(inside.wanted)
        with contextlib.suppress(AttributeError, TypeError):
            setattr(holder, inside.wanted, telling(inside, function))
            before.append((holder, own))
    try:
        yield
    finally:
        for holder, own in before:
            if own is None:
                delattr(holder, inside.wanted)
            else:
                setattr(holder, inside.wanted, own)


def telling(inside, function):
    def call(*arguments, **keywords):
        inside.keep(arguments, keywords)
        return function(*arguments, **keywords)

    return call


@contextlib.contextmanager
def watching_tensorflow(inside):
    try:
        from tensorflow.python.framework import op_callbacks
    except ImportError:
        yield
        return

    def tell(operation, inputs, attributes, outputs, op_name=None, graph=None):
        if text(operation) == inside.wanted and graph is None:
            with contextlib.suppress(Exception):
                named = tensorflow_arguments(inside.wanted, list(inputs), attributes)
                if named is not None:
                    inside.keep((), named)

    op_callbacks.add_op_callback(tell)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(tell)


def tensorflow_arguments(operation, inputs, attributes):
    """The arguments by name, as `tf.raw_ops` takes them."""
    definition = tensorflow_registry.definition(operation)
    given = dict(zip(attributes[::2], attributes[1::2]))
    given = {text(name): value for name, value in given.items()}
    named, inferred = {}, set()
    for argument in definition.input_arg:
        inferred.update((argument.type_attr, argument.number_attr, argument.type_list_attr))
        count = 1
        if argument.number_attr:
            count = given.get(argument.number_attr)
        elif argument.type_list_attr:
            count = len(given.get(argument.type_list_attr) or ())
        if count is None:
            return None
        several = argument.number_attr or argument.type_list_attr
        taken, inputs = inputs[:count], inputs[count:]
        named[argument.name] = taken if several else taken[0]
    dtypes = tensorflow_registry.registry()[1]
    for attribute in definition.attr:
        if attribute.name in inferred or attribute.name not in given:
            continue
        value = given[attribute.name]
        if attribute.type == "type":
            value = dtypes.as_dtype(value)
        elif attribute.type == "list(type)":
            value = [dtypes.as_dtype(one) for one in value]
        elif isinstance(value, bytes):
            value = text(value)
        named[attribute.name] = value
    return named


def text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


#: Elements of a tensor that an example may make; larger ones are made with a batch of one.
LARGE = 1 << 18


def smaller(arguments):
    """Sizes of a large tensor (`randn(20, 16, 50, 44, 31)`) with the first one 1; others as they are."""
    if len(arguments) < 3 or not all(type(one) is int for one in arguments):
        return arguments
    count = 1
    for one in arguments:
        count *= one
    return (1,) + tuple(arguments[1:]) if count > LARGE else arguments


def with_gradients(function, arguments, keywords):
    """The call once more, with derivatives: operations of the way back are only met so."""
    torch = sys.modules.get("torch")
    if torch is not None:
        floats = [one for one in arguments if isinstance(one, torch.Tensor)]
        if not any(one.is_floating_point() for one in floats):
            return
        given = [
            one.detach().clone().requires_grad_()
            if isinstance(one, torch.Tensor) and one.is_floating_point()
            else one
            for one in arguments
        ]
        result = function(*given, **keywords)
        results = result if isinstance(result, (list, tuple)) else [result]
        total = sum(
            one.sum() for one in results if isinstance(one, torch.Tensor) and one.requires_grad
        )
        if isinstance(total, torch.Tensor):
            total.backward()
        return
    tensorflow = sys.modules.get("tensorflow")
    tensors = [one for one in arguments if isinstance(one, tensorflow.Tensor)]
    with tensorflow.GradientTape() as tape:
        tape.watch(tensors)
        result = function(*arguments, **keywords)
    if tensors:
        tape.gradient(result, tensors)
