"""TensorFlow's own definitions of its operations: the dtypes of inputs and the bounds of attributes,
as sorts of values for the search in `seeds_typed.py`.
"""

from tensorflow.python.framework import dtypes, op_def_registry

#: Names of dtypes that a tensor of plain data can have.
PLAIN = set(
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "complex64 complex128".split()
)


def names_of(values):
    names = [dtypes.as_dtype(number).name for number in values]
    return [name for name in names if name in PLAIN]


def sorts(name):
    """Parameter → sort, each a pair of a function of (search, shape, dtype) and a name."""
    definition = op_def_registry.get(name)
    if definition is None or definition.is_stateful:
        raise ValueError("an operation with a state of its own")
    attributes = {attribute.name: attribute for attribute in definition.attr}
    found = {}
    for argument in definition.input_arg:
        found[argument.name] = (input_sort(argument, attributes), "registry")
    inferred = set()
    for argument in definition.input_arg:
        inferred.update((argument.type_attr, argument.number_attr, argument.type_list_attr))
    for attribute in definition.attr:
        if attribute.name not in inferred:
            found[attribute.name] = (attribute_sort(attribute), "registry")
    return found


def input_sort(argument, attributes):
    if argument.type_list_attr:
        raise ValueError("a list of tensors of several types")
    if argument.type_attr:
        values = attributes[argument.type_attr].allowed_values.list.type
        allowed = names_of(values) or sorted(PLAIN)
    else:
        allowed = names_of([argument.type])
    if not allowed:
        raise ValueError("tensors that are no plain data")
    several = bool(argument.number_attr)

    def draw(search, base, dtype):
        # One dtype for the whole call, as the attribute is one.
        name = dtype if dtype in allowed else allowed[len(dtype) % len(allowed)]
        library, pick = search.library, search.random
        if several:
            return [library.tensor(base, name, pick) for _ in range(pick.randrange(1, 4))]
        shape = search.shape(base)
        if name in ("int32", "int64") and pick.random() < 0.5:
            return library.own(library.index(shape, pick).numpy(), name)
        return library.tensor(shape, name, pick)

    return draw


def attribute_sort(attribute):
    kind = attribute.type
    least = attribute.minimum if attribute.has_minimum else None
    texts = [text.decode() for text in attribute.allowed_values.list.s]
    types = names_of(attribute.allowed_values.list.type)

    def draw(search, base, dtype):
        pick = search.random
        if kind == "int":
            return pick.choice((0, 1, 2, 3, 4)) if least is None else least + pick.randrange(4)
        if kind == "list(int)":
            return search.value("sizes", attribute.name, base, dtype)
        if kind == "bool":
            return pick.random() < 0.5
        if kind == "float":
            return pick.choice((0.0, 0.5, 1.0, 2.0))
        if kind == "string":
            return pick.choice(texts or search.words)
        if kind == "type":
            return search.library.dtype(pick.choice(types or sorted(PLAIN)))
        if kind == "shape":
            return list(base)
        raise ValueError(kind)

    return draw
