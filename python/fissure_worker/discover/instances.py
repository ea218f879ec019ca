"""An object of a class that a parameter wants, as the call that makes one.

Tried on the spot: a class is constructed with arguments that its own signature suggests, and what
works is written down.
"""

import importlib
import inspect
import sys

from fissure_worker.build import resolve
from fissure_worker.discover import names, records, signatures
from fissure_worker.discover.recipes import NotPlain, path_of

DEPTH = 3
#: Classes of a kind that are tried when it is abstract.
SUBCLASSES = 12


def call(path, *arguments):
    return {"call": {"path": path, "arguments": list(arguments)}}


def number(value):
    return {"int": value} if isinstance(value, int) else {"float": value}


def floats(*shape):
    """A small tensor."""
    count = 1
    for size in shape:
        count *= size
    data = ("0000803f" + "0000003f") * 4
    pattern = data[: 8 * min(count, 8)]
    return {"tensor": {"dtype": "float32", "shape": list(shape), "data": {"pattern": pattern}}}


#: Name of a class → calls that make an object of it. What people hand over, not what is smallest.
MAKERS = {
    "torch.nn.modules.module.Module": (
        call("torch.nn.Linear", number(4), number(4)),
        call("torch.nn.ReLU"),
        call("torch.nn.Sequential", call("torch.nn.Linear", number(4), number(4))),
    ),
    "torch.optim.optimizer.Optimizer": (
        call("torch.optim.SGD", {"list": [floats(3)]}, number(0.1)),
        call("torch.optim.Adam", {"list": [floats(2, 2)]}),
    ),
    "torch.utils.data.dataset.Dataset": (call("torch.utils.data.TensorDataset", floats(4, 2)),),
    "torch.distributions.distribution.Distribution": (
        call("torch.distributions.Normal", floats(2), floats(2)),
    ),
    "torch.distributions.transforms.Transform": (call("torch.distributions.ExpTransform"),),
    "torch.fx.graph_module.GraphModule": (
        call("torch.fx.symbolic_trace", call("torch.nn.Linear", number(4), number(4))),
    ),
    "torch.jit._script.ScriptModule": (
        call("torch.jit.script", call("torch.nn.Linear", number(4), number(4))),
    ),
    "keras.src.layers.layer.Layer": (
        call("tensorflow.keras.layers.Dense", number(2)),
        call("tensorflow.keras.layers.ReLU"),
    ),
    "keras.src.optimizers.optimizer.Optimizer": (
        call("tensorflow.keras.optimizers.SGD"),
        call("tensorflow.keras.optimizers.Adam"),
    ),
    "keras.src.models.model.Model": (
        call("tensorflow.keras.Sequential",
             {"list": [call("tensorflow.keras.layers.Dense", number(2))]}),
    ),
    "tensorflow.python.data.ops.dataset_ops.DatasetV2": (
        call("tensorflow.data.Dataset.range", number(5)),
        call("tensorflow.data.Dataset.from_tensor_slices", floats(4, 2)),
    ),
    "tensorflow.python.ops.variables.Variable": (call("tensorflow.Variable", floats(3)),),
    "tensorflow.python.framework.tensor.TensorSpec": (
        call("tensorflow.TensorSpec", {"list": [number(2), number(3)]}),
    ),
    "tensorflow.python.framework.type_spec.TypeSpec": (
        call("tensorflow.TensorSpec", {"list": [number(2), number(3)]}),
    ),
    "datetime.datetime": (call("datetime.datetime", number(2020), number(1), number(1)),),
    "jaxlib._jax.pytree.PyTreeDef": (
        call("jax.tree.structure", {"list": [number(1), number(2)]}),
    ),
}  # fmt: skip
#: Name of a parameter → class of its object, by library.
NAMED = {
    "torch": {
        "optimizer": "torch.optim.optimizer.Optimizer", "module": "torch.nn.modules.module.Module",
        "model": "torch.nn.modules.module.Module", "mod": "torch.nn.modules.module.Module",
        "parametrization": "torch.nn.modules.module.Module",
        "base_distribution": "torch.distributions.distribution.Distribution",
        "gm": "torch.fx.graph_module.GraphModule",
        "graph_module": "torch.fx.graph_module.GraphModule",
    },
    "tensorflow": {
        "layer": "keras.src.layers.layer.Layer", "optimizer": "keras.src.optimizers.optimizer.Optimizer",
        "default_optimizer": "keras.src.optimizers.optimizer.Optimizer",
        "model": "keras.src.models.model.Model",
        "dataset": "tensorflow.python.data.ops.dataset_ops.DatasetV2",
        "input_dataset": "tensorflow.python.data.ops.dataset_ops.DatasetV2",
        "var": "tensorflow.python.ops.variables.Variable",
        "ref": "tensorflow.python.ops.variables.Variable",
    },
    "jax": {"treedef": "jaxlib._jax.pytree.PyTreeDef"},
}  # fmt: skip


def library():
    return next((name for name in ("torch", "tensorflow", "jax") if name in sys.modules), None)


def named(name):
    """Calls that make what a parameter of this name wants."""
    wanted = NAMED.get(library(), {}).get(name)
    return list(MAKERS.get(wanted, ()))


def recipes_of(path):
    """Calls that make an object of the class with this path; an empty list if none is found."""
    try:
        found = resolve(path)
    except BaseException:
        return []
    return of_class(found, 0) if isinstance(found, type) else []


def of_class(wanted, depth):
    for base in inspect.getmro(wanted):
        known = MAKERS.get("%s.%s" % (base.__module__, base.__qualname__))
        if known and base is wanted:
            return list(known)
    if depth > DEPTH:
        return []
    if records.is_typed_dict(wanted):
        return records.typed_dicts(wanted, value_of, depth)
    candidates = [wanted] if not inspect.isabstract(wanted) else []
    candidates += subclasses(wanted)[:SUBCLASSES]
    for candidate in candidates:
        made = constructed(candidate, depth)
        if made is not None:
            return [made] + (other_records(candidate, made) if depth == 0 else [])
    return []


def other_records(candidate, made):
    """Objects of a class that only holds fields, with other values in them, tried."""
    found = []
    if not records.is_record(candidate):
        return found
    params = signatures.from_python(candidate) or []
    for one in records.variants(made, params):
        try:
            realise(one)
        except Exception:
            continue
        found.append(one)
    # Spread over all fields.
    step = max(1, len(found) // records.MOST)
    return found[::step][: records.MOST]


def subclasses(wanted):
    """Those that the library itself shows, nearest first."""
    found = []
    try:
        level = list(wanted.__subclasses__())
    except TypeError:
        return found
    while level and len(found) < 4 * SUBCLASSES:
        found.extend(one for one in level if not inspect.isabstract(one))
        level = [inner for one in level for inner in one.__subclasses__()]
    return sorted(found, key=lambda one: one.__module__.count("._"))


def constructed(candidate, depth):
    """The call that makes an object of exactly this class, tried."""
    try:
        path = path_of(candidate)
    except NotPlain:
        return None
    attempts = []
    for params in signature_choices(candidate):
        required = [one for one in params if one["required"] and one["kind"] != "keyword_only"]
        for choice in (0, 1) if required else (0,):
            attempts.append(call(path, *[argument(one, depth, choice) for one in required]))
    attempts += [call("%s.%s" % (path, name)) for name in own_makers(candidate)]
    for made in attempts:
        if None in made["call"]["arguments"]:
            continue
        try:
            if isinstance(realise(made), candidate):
                return made
        except Exception:
            continue
    return None


def signature_choices(candidate):
    """Parameters of the constructor, once for each form of it that is known."""
    own = signatures.from_python(candidate)
    if own is not None:
        return [own]
    return [one["params"] for one in signatures.from_signature_lines(candidate)] or [[]]


def own_makers(candidate):
    """Functions of a class that say that they make an object of it, out of nothing."""
    title = candidate.__name__
    found = []
    for name, value in vars(candidate).items():
        function = getattr(value, "__func__", value)
        text = getattr(function, "__doc__", None) or ""
        first = text.partition("\n")[0]
        if not name.startswith("_") and first.startswith("%s() -> " % name):
            if first.rpartition(".")[2].strip() == title or first.endswith("-> " + title):
                found.append(name)
    return found


def argument(param, depth, choice):
    """A value for a parameter: what its annotation says, else its name."""
    types = [one for one in param["types"] if one["sort"] not in ("none", "any")]
    types = types or names.types_of(param["name"])
    if not types:
        return floats(3) if choice == 0 else number(1)
    return value_of(types[min(choice, len(types) - 1)], depth)


def value_of(one, depth):
    sort = one["sort"]
    choices = one.get("choices")
    if sort == "object":
        if choices:
            return {"object": choices[0]}
        found = recipes_at(one.get("instance"), depth + 1)
        return found[0] if found else None
    if choices:
        first = choices[0]
        return {"text": first} if isinstance(first, str) else number(first)
    if sort in ("list", "tuple", "tensors"):
        inner = {"sort": "tensor"} if sort == "tensors" else one.get("of") or {"sort": "int"}
        made = value_of(inner, depth + 1)
        return None if made is None else {
            "tuple" if sort == "tuple" else "list": [made] * (one.get("length") or 1)
        }  # fmt: skip
    plain = {
        "tensor": floats(3), "ndarray": floats(3), "int": number(max(1, int(one.get("min") or 1))),
        "axis": number(0), "float": number(0.5), "number": number(1), "bool": {"bool": True},
        "string": {"text": "a"}, "dtype": {"dtype": "float32"}, "shape": {"list": [number(3)]},
        "dict": {"dict": []}, "callable": {"object": "builtins.abs"}, "index_tensor": None,
        "any": number(1), "none": "none",
    }  # fmt: skip
    if sort == "module":
        return MAKERS["torch.nn.modules.module.Module"][0]
    if sort == "optimizer":
        return MAKERS["torch.optim.optimizer.Optimizer"][0]
    return plain.get(sort)


def recipes_at(path, depth):
    if path is None or depth > DEPTH:
        return []
    try:
        found = resolve(path)
    except BaseException:
        return []
    return of_class(found, depth) if isinstance(found, type) else []


def realise(value):
    """The object that a value stands for."""
    if value == "none":
        return None
    ((kind, inner),) = value.items()
    if kind == "call":
        return resolve(inner["path"])(*[realise(one) for one in inner["arguments"]])
    if kind == "object":
        return resolve(inner)
    if kind == "list":
        return [realise(one) for one in inner]
    if kind == "tuple":
        return tuple(realise(one) for one in inner)
    if kind == "dict":
        return {realise(key): realise(entry) for key, entry in inner}
    if kind == "tensor":
        return small_tensor(inner["shape"])
    if kind == "dtype":
        module = importlib.import_module(
            "jax.numpy" if library() == "jax" else library() or "numpy"
        )
        return getattr(module, inner)
    return inner


def small_tensor(shape):
    found = library()
    if found == "torch":
        return sys.modules["torch"].ones(shape)
    if found == "tensorflow":
        return sys.modules["tensorflow"].ones(shape)
    if found == "jax":
        return importlib.import_module("jax.numpy").ones(shape)
    return importlib.import_module("numpy").ones(shape)
