"""TensorFlow's registry of operations: dtypes of inputs, sorts, minimums and choices of attributes.

Knows every `tf.raw_ops` and the functions that were generated from the same definitions
(`tensorflow.python.ops.gen_*`), whichever public name they have.
"""

import inspect
import re
import sys

from fissure_worker.discover import names, public_facts
from fissure_worker.discover.words import evidence, form, of, optional, parameter, relation, sorts

GENERATED = re.compile(
    r"^tensorflow\.python\.ops\.gen_|^tensorflow\.raw_ops$|_gen_\w+_ops$|gen_\w+_op"
)
#: Names of dtypes that no tensor of plain data has: only another operation makes them.
HANDLES = ("resource", "variant")
CACHE = {}


def registry():
    """(module of definitions, module of dtypes), or None outside TensorFlow."""
    if "tensorflow" not in sys.modules:
        return None
    if "modules" not in CACHE:
        try:
            from tensorflow.python.framework import dtypes, op_def_registry

            CACHE["modules"] = (op_def_registry, dtypes)
        except ImportError:
            CACHE["modules"] = None
    return CACHE["modules"]


def definition(name):
    found = registry()
    if found is None:
        return None
    module = found[0]
    if hasattr(module, "get"):
        return module.get(name)
    # Before 2.2.
    return module.get_registered_ops().get(name)


def camel_names():
    """Names of `tf.raw_ops` in small letters without `_` → the names."""
    if "camel" not in CACHE:
        import tensorflow

        known = [one for one in dir(tensorflow.raw_ops) if not one.startswith("_")]
        CACHE["camel"] = {one.lower(): one for one in known}
    return CACHE["camel"]


def operation_of(path, target):
    """The operation that a path or a generated function stands for, or None."""
    if registry() is None:
        return None
    parts = path.split(".")
    if len(parts) == 3 and parts[0] in ("tensorflow", "tf") and parts[1] == "raw_ops":
        return parts[2]
    inner = inspect.unwrap(target) if callable(target) and not isinstance(target, type) else target
    module = getattr(inner, "__module__", None) or ""
    if not GENERATED.search(module):
        return None
    name = getattr(inner, "__name__", "").replace("_", "").lower()
    return camel_names().get(name)


def dtype_names(numbers):
    dtypes = registry()[1]
    found = []
    for number in numbers:
        try:
            name = dtypes.as_dtype(number).name
        except TypeError:
            continue
        if not name.endswith("_ref") and name not in found:
            found.append(name)
    return found


def input_type(argument, attributes):
    """The type of an input, with the attribute that decides its dtype."""
    name = argument.name
    if argument.type_list_attr:
        attribute = attributes[argument.type_list_attr]
        allowed = dtype_names(attribute.allowed_values.list.type) or None
        least = int(attribute.minimum) if attribute.has_minimum else 0
        return of("tensors", of=of("tensor", dtypes=allowed), mixed=True, min_length=least)
    allowed = None
    if argument.type_attr:
        allowed = dtype_names(attributes[argument.type_attr].allowed_values.list.type) or None
    elif argument.type:
        allowed = dtype_names([argument.type])
    sort = "tensor"
    integers = allowed is not None and all(one.startswith(("int", "uint")) for one in allowed)
    if integers and names.is_index(name):
        sort = "index_tensor"
    elif integers and names.is_axes(name):
        sort = "axis"
    elif integers and names.is_shape(name):
        sort = "shape"
    made = of(sort, dtypes=allowed)
    if argument.is_ref:
        made["written"] = True
    if argument.number_attr:
        attribute = attributes[argument.number_attr]
        least = int(attribute.minimum) if attribute.has_minimum else 0
        return of("tensors", of=made, min_length=least)
    return made


def kernel_dtypes(operation):
    """Attribute → numbers of the dtypes that the processor has kernels for, where they are told."""
    try:
        from tensorflow.python.framework import kernels

        known = kernels.get_registered_kernels_for_op(operation).kernel
    except Exception:
        return {}
    found = {}
    for kernel in known:
        if kernel.device_type not in ("CPU", "DEFAULT"):
            continue
        said = {one.name: list(one.allowed_values.list.type) for one in kernel.constraint}
        for name in set(found) | set(said) if found else set(said):
            if name not in said:
                # A kernel for all of them.
                found[name] = None
            elif found.get(name, ()) is not None:
                found.setdefault(name, []).extend(said[name])
    return {name: numbers for name, numbers in found.items() if numbers}


def narrowed(definition):
    """A copy of the definition: attributes allow what the processor has kernels for."""
    numbers = kernel_dtypes(definition.name)
    if not numbers:
        return definition
    copy = type(definition)()
    copy.CopyFrom(definition)
    for attribute in copy.attr:
        here = numbers.get(attribute.name)
        if here is None or attribute.type != "type":
            continue
        allowed = list(attribute.allowed_values.list.type) or here
        both = sorted(set(allowed) & set(here))
        if both:
            del attribute.allowed_values.list.type[:]
            attribute.allowed_values.list.type.extend(both)
    return copy


def input_types(argument, attributes):
    """The alternatives of an input: texts are no tensors of plain data."""
    made = input_type(argument, attributes)
    if made["sort"] == "tensor" and made.get("dtypes") == ["string"]:
        return [of("string"), of("list", of=of("string"))]
    return [made]


def attribute_type(attribute):
    kind = attribute.type
    least = int(attribute.minimum) if attribute.has_minimum else None
    allowed = attribute.allowed_values.list
    choices = [text.decode("utf-8", "replace") for text in allowed.s] or None
    types = dtype_names(allowed.type) or None
    single = {
        "int": of("axis") if names.is_axis(attribute.name) else of("int", min=least),
        "float": of("float"),
        "bool": of("bool"),
        "string": of("string", choices=choices),
        "type": of("dtype", dtypes=types),
        "shape": of("shape"),
        "tensor": of("tensor"),
        "func": of("callable"),
    }
    if kind.startswith("list("):
        inner = single.get(kind[5:-1])
        if inner is None:
            return None
        if kind == "list(int)":
            inner = of("int")
        # Of lists with a least length (`ksize`, `strides`) longer ones are refused as a rule.
        length = least if kind in ("list(int)", "list(float)") and least else None
        return of("list", of=inner, min_length=least, length=length)
    return single.get(kind)


#: Sizes and steps of a window along the dimensions between batch and channels.
WINDOWS = ((1, 1, 1), (2, 2, 2), (1, 1, 1), (3, 2, 1), (2, 1, 3), (3, 3, 3))


def window_values(attribute, definition):
    """Values of `ksize`, `strides` and the like: operations move over images, not over batches or channels."""
    if attribute.type != "list(int)" or not names.is_window(attribute.name):
        return None
    known = [len(one.default_value.list.i) for one in definition.attr if names.is_window(one.name)]
    known += [int(one.minimum) for one in definition.attr if names.is_window(one.name)]
    rank = max(known + [0])
    if rank not in (4, 5):
        # "Conv2D" and its gradients say it of their dilations; the rest have four dimensions.
        rank = 4
    plain = [{"int": 1}]
    made = [plain + [{"int": size} for size in one[: rank - 2]] + plain for one in WINDOWS]
    return [{"list": one} for one in made]


def default_of(attribute):
    """Source text of an attribute's default, or None."""
    value = attribute.default_value
    if not attribute.HasField("default_value"):
        return None
    kind = attribute.type
    if kind == "int":
        return repr(int(value.i))
    if kind == "float":
        return repr(float(value.f))
    if kind == "bool":
        return repr(bool(value.b))
    if kind == "string":
        return repr(value.s.decode("utf-8", "replace"))
    if kind == "type":
        named = dtype_names([value.type])
        return "tf." + named[0] if named else None
    if kind.startswith("list("):
        items = {"int": value.list.i, "float": value.list.f, "bool": value.list.b}.get(kind[5:-1])
        if items is not None:
            return repr([one for one in items])
        texts = [one.decode("utf-8", "replace") for one in value.list.s]
        return repr(texts)
    return "None"


def form_of(name, definition, own, keyword_only):
    """The form of an operation; `own` are the parameters that the function itself has, in order."""
    definition = narrowed(definition)
    attributes = {one.name: one for one in definition.attr}
    found = {}
    shared = {}
    for argument in definition.input_arg:
        made = input_types(argument, attributes)
        text = argument.description or "%s: input of %s" % (argument.name, name)
        found[argument.name] = parameter(
            argument.name, "positional_or_keyword", True, None, made,
            [evidence("registry", text)],
        )  # fmt: skip
        if argument.type_attr:
            shared.setdefault(argument.type_attr, []).append(argument.name)
    inferred = set()
    for argument in definition.input_arg:
        inferred.update((argument.type_attr, argument.number_attr, argument.type_list_attr))
    for attribute in definition.attr:
        if attribute.name in inferred:
            continue
        made = attribute_type(attribute)
        windows = window_values(attribute, definition)
        if windows:
            made = of("object", values=windows)
        default = default_of(attribute)
        text = attribute.description or "attribute %s: %s" % (attribute.name, attribute.type)
        found[attribute.name] = parameter(
            attribute.name, "positional_or_keyword", default is None, default,
            [of("any")] if made is None else [made], [evidence("registry", text)],
        )  # fmt: skip
    relate_coordinates(found)
    params = ordered(found, own)
    if keyword_only:
        for one in params:
            one["kind"] = "keyword_only"
    made = form("registry", params, name)
    made["keyword_only_call"] = keyword_only
    for attribute, users in shared.items():
        if len(users) > 1:
            made["relations"].append(
                relation("same_dtype", users, "registry", "attribute %s" % attribute)
            )
    return made


#: The three inputs that are one sparse tensor: positions, elements, sizes.
COORDINATES = ("indices", "values", ("shape", "dense_shape"))


def relate_coordinates(found):
    """`a_indices`, `a_values`, `a_shape` together are a sparse tensor: their shapes agree, and the
    positions lie inside the sizes."""
    for name in list(found):
        if not name.endswith("indices"):
            continue
        prefix = name[: -len("indices")]
        values = found.get(prefix + "values")
        sizes = next((found[prefix + one] for one in COORDINATES[2] if prefix + one in found), None)
        if values is None or sizes is None:
            continue
        kinds = [one["types"][0] for one in (found[name], values, sizes)]
        if any(kind["sort"] in ("tensors", "list") for kind in kinds):
            continue
        entries, rank = prefix + "entries", prefix + "rank"
        found[name]["types"] = [
            of("index_tensor", dtypes=["int64"], ndim=[2], shape="[%s,%s]" % (entries, rank), max=2)
        ]
        values["types"] = [dict(kinds[1], ndim=[1], shape="[%s]" % entries)]
        sizes["types"] = [
            of("tensor", dtypes=["int64"], ndim=[1], shape="[%s]" % rank, min=3, max=6)
        ]


def ordered(found, own):
    """In the order and with the names and defaults of the Python function."""
    if own is None:
        return list(found.values())
    params = []
    plain = {one.lower(): one for one in found}
    for mine in own:
        key = mine["name"] if mine["name"] in found else plain.get(mine["name"].lower())
        if key is None:
            if not mine["types"] and mine["name"] == "name":
                mine["types"] = [of("string"), of("none")]
            params.append(mine)
            continue
        one = found[key]
        one["name"] = mine["name"]
        if mine["default"] is not None:
            one["default"] = mine["default"]
            one["required"] = False
        params.append(one)
    return params


def devices():
    """Operation → devices that it has kernels for; None where TensorFlow does not tell."""
    if "devices" not in CACHE:
        try:
            from tensorflow.python.framework import kernels

            found = {}
            for kernel in kernels.get_all_registered_kernels().kernel:
                found.setdefault(kernel.op, set()).add(kernel.device_type)
            CACHE["devices"] = found
        except (ImportError, AttributeError):
            CACHE["devices"] = None
    return CACHE["devices"]


def add_choices(all_forms, target):
    """To the wrapper of an operation: the choices of its attributes, the dtypes of its inputs."""
    name = getattr(target, "__name__", "")
    module = getattr(target, "__module__", None) or ""
    if registry() is None or not module.startswith("tensorflow"):
        return
    operation = camel_names().get(re.sub(r"_v\d$", "", name).replace("_", "").lower())
    found = None if operation is None else definition(operation)
    if found is None:
        return
    stated = {p["name"]: p for p in form_of(operation, found, None, False)["params"]}
    for made in all_forms:
        for one in made["params"]:
            known = stated.get(one["name"])
            if known is None or is_annotated(one):
                continue
            choices = known["types"][0].get("choices")
            if choices and not any(kind.get("choices") for kind in one["types"]):
                nullable = "none" in sorts(one["types"])
                one["types"] = optional(known["types"]) if nullable else known["types"]
                one["evidence"].append(evidence("registry", "attribute of %s" % operation))


def is_annotated(one):
    return any(told["source"] == "annotation" for told in one["evidence"])


def problem_of(definition):
    """Why an operation cannot be called with values made on the spot, or None."""
    known = devices()
    if known:
        places = known.get(definition.name, set())
        if not places & {"CPU", "DEFAULT"}:
            return "has no kernel for the processor (%s)" % (", ".join(sorted(places)) or "none")
    for argument in definition.input_arg:
        if argument.type and not argument.type_attr:
            named = dtype_names([argument.type])
            if named and named[0] in HANDLES:
                return "needs a handle (%s `%s`) that another operation makes" % (
                    named[0],
                    argument.name,
                )
        if argument.is_ref:
            return "writes to a reference variable, which only graphs have"
    for one in list(definition.input_arg) + list(definition.attr):
        if one.name in public_facts.UNAVAILABLE and one.name != "dataset":
            return "%s (`%s`)" % (public_facts.UNAVAILABLE[one.name], one.name)
    if any(argument.is_ref for argument in definition.output_arg):
        return "gives a reference, which only graphs have"
    if definition.HasField("deprecation") and definition.deprecation.version:
        return "is no longer there: %s" % (definition.deprecation.explanation or "deprecated")
    for attribute in definition.attr:
        if attribute.type in ("func", "list(func)") and not attribute.HasField("default_value"):
            return "needs a graph function (`%s`)" % attribute.name
    return None
