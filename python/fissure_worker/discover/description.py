"""What is known of one callable, from every source there is, most exact first."""

import inspect
import os
import sys

from fissure_worker.build import resolve
from fissure_worker.discover import (
    documentation,
    instances,
    keywords,
    names,
    public_facts,
    signatures,
    stubs,
    tensorflow_registry,
    torch_schemas,
    ufuncs,
    usage,
    validation,
)
from fissure_worker.discover.limits import limited
from fissure_worker.discover.words import (
    NONE,
    evidence,
    form,
    is_open,
    of,
    optional,
    parameter,
    sorts,
)
from fissure_worker.outcome import message_of, name_of

#: Longest first: more overloads of one function are not worth their time.
MOST_FORMS = 12
#: For trying how objects are made.
OBJECT_SECONDS = 5
SELF_NAMES = ("self", "cls")


def find(path):
    """The object with a path: dotted, or `file.py::name.of.it`."""
    if "::" in path:
        file, _, inside = path.partition("::")
        target = module_of_file(file)
        for part in inside.replace("::", ".").split("."):
            target = getattr(target, part)
        return target
    return resolve(path)


def module_of_file(file):
    import importlib.util

    file = os.path.abspath(file)
    name = os.path.splitext(os.path.basename(file))[0]
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == file:
        return known
    folder = os.path.dirname(file)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def kind_of(path, target):
    if ufuncs.is_ufunc(target):
        return "ufunc"
    if inspect.ismodule(target):
        return "module"
    if isinstance(target, type):
        return "class"
    if torch_schemas.operator_packet(target)[0]:
        return "operator"
    if owner_class(path) is not None:
        return "method"
    return "function"


def owner_class(path):
    """The class that a path's object is an attribute of, or None."""
    if "::" in path:
        return None
    before = path.rpartition(".")[0]
    try:
        owner = resolve(before) if before else None
    except BaseException:
        return None
    return owner if isinstance(owner, type) else None


def describe(path):
    """The description of the callable with this path; never raises."""
    answer = {
        "path": path,
        "kind": "function",
        "callable_path": path,
        "layer": False,
        "forms": [],
        "relations": [],
        "doc_constraints": [],
        "problem": None,
    }
    try:
        target = find(path)
    except BaseException as error:
        answer["problem"] = "not found: %s: %s" % (name_of(error), message_of(error))
        answer["missing"] = True
        return answer
    try:
        fill(answer, path, target)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        answer["problem"] = "cannot be described: %s: %s" % (name_of(error), message_of(error))
    return answer


def fill(answer, path, target):
    answer["kind"] = kind_of(path, target)
    if not callable(target):
        answer["problem"] = "is not callable (%s)" % type(target).__name__
        return
    answer["layer"] = is_layer(target)
    forms, problem = sources(path, target, answer["kind"])
    if answer["layer"]:
        call = call_params(target)
        for one in forms:
            one["call_params"] = [dict(p) for p in call]
    answer["problem"] = problem
    answer["forms"] = forms[:MOST_FORMS]
    answer["aliases"] = aliases_of(path, target)
    tensorflow_registry.add_choices(answer["forms"], target)
    documentation.apply(answer, target)
    validation.apply(answer, target)
    usage.apply(answer, target)
    keywords.apply(answer, target)
    for one in answer["forms"]:
        complete(one["params"])
        complete(one["call_params"] or [])
    known = {}
    with limited(OBJECT_SECONDS):
        for one in answer["forms"]:
            for param in one["params"] + (one["call_params"] or []):
                add_objects(param, known)


def sources(path, target, kind):
    """The forms, and why it cannot be used."""
    message = signatures.from_message(target)
    if message is not None:
        return [form("registry", message, getattr(target, "__name__", None))], None
    own = signatures.from_python(target)
    operation = tensorflow_registry.operation_of(path, target)
    if operation is not None:
        definition = tensorflow_registry.definition(operation)
        if definition is not None:
            by_name = path.startswith(("tensorflow.raw_ops.", "tf.raw_ops."))
            made = tensorflow_registry.form_of(operation, definition, own, by_name)
            return [made], tensorflow_registry.problem_of(definition)
    if kind == "ufunc":
        return ufuncs.forms(target, own), None
    found, reason = torch_forms(path, target)
    if reason is not None:
        return [], reason
    if not found:
        found = dispatched_forms(target)
    if not found:
        stub = stubs.forms(path, target)
        plain = own is not None and not signatures.is_vague(own)
        if plain:
            found = [form("signature", own, getattr(target, "__name__", None))]
            # A stub says more than a signature without annotations.
            if stub and not any(is_annotated(one) for one in own):
                found = stub + found
        else:
            found = stub or signatures.from_overloads(target)
            found = found or signatures.from_signature_lines(target)
            found = found or documentation.forms(target)
            if not found and own is not None:
                found = [form("signature", own, getattr(target, "__name__", None))]
    found = [one for one in found if not signatures.is_vague(one["params"])] or found
    if kind == "method":
        found = [with_self(one, owner_class(path)) for one in found]
    problem = None if found else "nothing says which parameters it has"
    return found, problem


def aliases_of(path, target):
    """Other public names of the same object, as far as they are quickly found."""
    name = path.rpartition(".")[2]
    root = path.partition(".")[0]
    candidates = []
    home = getattr(target, "__module__", None)
    if isinstance(home, str) and "<" not in getattr(target, "__qualname__", "<"):
        candidates.append("%s.%s" % (home, target.__qualname__))
    for module in public_facts.ALIAS_MODULES.get(root, ()):
        candidates.append("%s.%s" % (module, name))
    if root == "tensorflow":
        try:
            from tensorflow.python.util import tf_export

            candidates.extend("tensorflow." + one for one in tf_export.get_v2_names(target))
        except (ImportError, AttributeError):
            pass
    found = []
    for candidate in candidates:
        if candidate == path or candidate in found or public_facts.is_private(candidate):
            continue
        module = sys.modules.get(candidate.rpartition(".")[0])
        if root != "tensorflow" and getattr(module, name, None) is not target:
            continue
        found.append(candidate)
    return found


def is_annotated(one):
    return any(told["source"] == "annotation" for told in one["evidence"])


def torch_forms(path, target):
    """(forms of the operator behind a callable, why it cannot be called here)."""
    operators = torch_schemas.operators()
    if operators is None:
        return [], None
    scripted = torch_schemas.scripted(target)
    if scripted is not None:
        return torch_schemas.forms([scripted], {}), None
    schemas, rename, separate = operator_schemas(path, target, operators)
    if not schemas:
        return [], None
    here = torch_schemas.usable(operators.torch, schemas)
    if not here:
        return [], "has no kernel for the processor"
    return torch_schemas.forms(here, rename, separate), None


def operator_schemas(path, target, operators):
    """(overloads, names that Python has instead of the schema's, is `out` a parameter of its own)."""
    name, overload = torch_schemas.operator_packet(target)
    if name is not None:
        schemas = operators.schemas(name)
        if not schemas:
            # Registered after the first look.
            torch_schemas.forget()
            schemas = torch_schemas.operators().schemas(name)
        if overload is not None:
            schemas = [one for one in schemas if one.overload == overload]
        return schemas, {}, True
    if not torch_schemas.is_builtin(target):
        return [], {}, False
    owner = owner_class(path)
    if owner is not None:
        if not issubclass(owner, operators.torch.Tensor):
            return [], {}, False
        schemas = operators.schemas("aten::" + target.__name__)
        # A method is there where the tensor is `self`; `out` belongs to functions.
        return [one for one in schemas if has_self(one) and not one.out()], {}, False
    name = operators.name_of_function(target)
    if name is None:
        module = getattr(target, "__module__", None) or ""
        inside = getattr(target, "__self__", None)
        if not (module.startswith("torch") or "torch" in str(inside)):
            return [], {}, False
        name = "aten::" + target.__name__
    return operators.schemas(name), {"self": "input"}, False


def dispatched_forms(target):
    """PyTorch's functions that a boolean parameter sends to one of two others."""
    internal = sys.modules.get("torch._jit_internal")
    try:
        choice = internal.boolean_dispatched[target]
    except (AttributeError, KeyError, TypeError):
        return []
    own = signatures.from_python(choice["if_false"])
    return [] if own is None else [form("signature", own, getattr(target, "__name__", None))]


def has_self(schema):
    return any(one["name"] == "self" for one in schema.arguments)


def with_self(found, owner):
    """A method is called through its class: the object is the first parameter."""
    params = found["params"]
    types = self_types(owner)
    for one in params:
        if one["name"] == "self":
            one["types"] = types
            one["kind"] = "positional_only"
            one["required"] = True
            one["default"] = None
            # Wherever the schema has it (`where`), Python takes it first.
            params.remove(one)
            params.insert(0, one)
            return found
    params.insert(0, parameter("self", "positional_only", True, None, types,
                               [evidence("signature", "the object itself")]))  # fmt: skip
    return found


def self_types(owner):
    known = {base.__name__ for base in inspect.getmro(owner)}
    if known & {"Tensor", "EagerTensor", "Array", "_TensorBase", "TensorBase"}:
        return [of("tensor")]
    if "ndarray" in known:
        return [of("ndarray")]
    if "Module" in known:
        return [of("module", instance="%s.%s" % (owner.__module__, owner.__qualname__))]
    return [of("object", instance="%s.%s" % (owner.__module__, owner.__qualname__))]


def is_layer(target):
    """A class whose objects are called."""
    if not isinstance(target, type):
        return False
    if issubclass(target, (BaseException, tuple, dict, list, str, int, float)):
        return False
    if getattr(getattr(target, "forward", None), "__name__", "") == "_forward_unimplemented":
        # A module that only holds something: it is made, and never called.
        return False
    for base in inspect.getmro(target):
        if base is object or base is type:
            continue
        if "forward" in vars(base) and base.__name__ != "Module":
            return True
        if "__call__" in vars(base):
            return True
        if "call" in vars(base) and any(b.__name__ == "Layer" for b in inspect.getmro(target)):
            return True
    return False


def call_params(target):
    """Parameters of the call on a constructed object, without the object."""
    for name in ("forward", "call", "__call__"):
        method = getattr(target, name, None)
        if method is None:
            continue
        found = signatures.from_python(method)
        if found is None or signatures.is_vague(found[1:]) and name != "__call__":
            continue
        found = [one for one in found if one["name"] not in SELF_NAMES]
        return found
    return []


def complete(params):
    """What nothing said, the name may; what is left can be anything."""
    for one in params:
        types = one["types"]
        if not is_open([t for t in types if t != NONE]):
            narrow(one)
            continue
        suggested = names.types_of(one["name"])
        nullable = "none" in sorts(types) or one["default"] == "None"
        if suggested:
            one["types"] = optional(suggested) if nullable else suggested
            one["evidence"].append(evidence("name", one["name"]))
        elif not types or types == [NONE]:
            one["types"] = optional([of("any")]) if nullable else [of("any")]


def add_objects(param, known):
    """Ready objects for what wants one: by its class, else by its name."""
    for outer in param["types"]:
        for one in [outer, outer.get("of")]:
            path = one.get("instance") if one else None
            if path is None or one["sort"] not in ("object", "module"):
                continue
            if path not in known:
                known[path] = instances.recipes_of(path)
            if known[path]:
                one["values"] = known[path]
    param["types"] = [one for one in param["types"] if not cannot_be_made(one)] or [of("any")]
    if any(one.get("values") for one in param["types"]):
        return
    values = instances.named(param["name"])
    sorts_here = sorts(param["types"]) - {"none"}
    if values and sorts_here <= {"any", "module", "optimizer", "object", "tensor"}:
        param["types"] = [of("object", values=values)] + [
            one for one in param["types"] if one["sort"] in ("none", "tensor")
        ]
        param["evidence"].append(evidence("name", param["name"]))


def cannot_be_made(one):
    """An object of a class that no call was found to make."""
    inner = one.get("of") or one
    return inner["sort"] == "object" and not inner.get("values") and not inner.get("choices")


def narrow(one):
    """An integer that is named like an axis is one; a count that is named so has its minimum."""
    found = names.refined(one["name"], one["types"])
    if found != one["types"]:
        one["types"] = found
        one["evidence"].append(evidence("name", one["name"]))
