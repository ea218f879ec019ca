"""Annotations into types: objects of `typing`, texts, and the expressions of stubs.

Whatever an annotation is written as becomes one small tree first, `(name, arguments)`, so that one
reader serves all of them. Arguments are trees, or plain values below `Literal`.
"""

import ast
import collections.abc
import enum
import inspect
import sys

from fissure_worker.discover.words import NONE, of, unique

MOST_DEPTH = 6


def word(name):
    return (name, ())


ANY = word("Any")

#: Last part of a name → its type. Names of classes that libraries give to the same thing.
PLAIN = {
    "int": of("int"), "_int": of("int"), "SymInt": of("int"), "Integral": of("int"),
    "SupportsInt": of("int"), "SupportsIndex": of("int"), "Index": of("int"), "IntLike": of("int"),
    "float": of("float"), "_float": of("float"), "Real": of("float"), "FloatLike": of("float"),
    "complex": of("complex"), "_complex": of("complex"),
    "bool": of("bool"), "_bool": of("bool"), "BoolLike": of("bool"),
    "Number": of("number"), "Scalar": of("number"), "NumberType": of("number"),
    "SupportsFloat": of("float"), "number": of("number"),
    "str": of("string"), "AnyStr": of("string"), "Text": of("string"), "LiteralString": of("string"),
    "bytes": of("bytes"), "bytearray": of("bytes"),
    "None": NONE, "NoneType": NONE,
    "Tensor": of("tensor"), "Variable": of("tensor"), "Parameter": of("tensor"),
    "FloatTensor": of("tensor", dtypes=["float32"]),
    "DoubleTensor": of("tensor", dtypes=["float64"]),
    "LongTensor": of("index_tensor", dtypes=["int64"]),
    "IntTensor": of("tensor", dtypes=["int32"]),
    "BoolTensor": of("tensor", dtypes=["bool"]), "ByteTensor": of("tensor", dtypes=["uint8"]),
    "TensorLike": of("tensor"), "TensorLikeType": of("tensor"), "TensorType": of("tensor"),
    "Array": of("tensor"), "ArrayLike": of("tensor"), "ndarray": of("ndarray"),
    "NDArray": of("ndarray"), "DeviceArray": of("tensor"), "DuckTypedArray": of("tensor"),
    "KerasTensor": of("tensor"), "EagerTensor": of("tensor"), "TensorFuzzingAnnotation": of("tensor"),
    "SparseTensor": of("sparse"), "RaggedTensor": of("tensor", ragged=True),
    "dtype": of("dtype"), "_dtype": of("dtype"), "DType": of("dtype"), "DTypeLike": of("dtype"),
    "DTypeLikeInexact": of("dtype"), "DTypeLikeFloat": of("dtype"), "DTypeLikeInt": of("dtype"),
    "device": of("device"), "Device": of("device"), "DeviceLikeType": of("device"),
    "DeviceLike": of("device"), "layout": of("layout"), "_layout": of("layout"),
    "memory_format": of("memory_format"), "Generator": of("generator"),
    "RandomState": of("generator"), "Module": of("module"), "Optimizer": of("optimizer"),
    "slice": of("slice"), "Size": of("shape"), "_size": of("shape"), "Shape": of("shape"),
    "TensorShape": of("shape"), "ShapeLike": of("shape"), "_ShapeLike": of("shape"),
    "Axis": of("axis"), "AxisName": of("string"), "Path": of("path"), "PathLike": of("path"),
    "IO": of("path"), "BinaryIO": of("path"), "TextIO": of("path"), "StrPath": of("path"),
    "ConvertibleToInt": of("int"), "_DTypeLike": of("dtype"), "DTypeLikeUnsafe": of("dtype"),
    "Callable": of("callable"), "function": of("callable"), "partial": of("callable"),
    "dict": of("dict"), "OrderedDict": of("dict"), "Dict": of("dict"), "Mapping": of("dict"),
    "MutableMapping": of("dict"), "PyTree": of("pytree"), "Pytree": of("pytree"), "object": of("any"), "Any": of("any"),
}  # fmt: skip
#: Names that stand for several alternatives at once.
SEVERAL = {
    "_size_1_t": [of("int"), of("tuple", of=of("int"), length=1)],
    "_size_2_t": [of("int"), of("tuple", of=of("int"), length=2)],
    "_size_3_t": [of("int"), of("tuple", of=of("int"), length=3)],
    "_size_any_t": [of("int"), of("tuple", of=of("int"))],
    "_ratio_2_t": [of("float"), of("tuple", of=of("float"), length=2)],
    "_ratio_3_t": [of("float"), of("tuple", of=of("float"), length=3)],
    "_dispatchable": [of("any")],
}
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REALS = ["float16", "float32", "float64"]
#: NumPy's names for what becomes an array of some kind.
LIKE = {
    "Bool": ["bool"], "UInt": INTEGERS[4:], "Int": INTEGERS, "Float": REALS + INTEGERS,
    "Complex": REALS + ["complex64", "complex128"], "Number": REALS + INTEGERS, "Num": REALS,
}  # fmt: skip
#: jaxtyping: the name of the class says which dtypes.
JAXTYPING = {
    "Float": ["float16", "bfloat16", "float32", "float64"],
    "Float32": ["float32"], "Float64": ["float64"], "Float16": ["float16"],
    "BFloat16": ["bfloat16"],
    "Int": ["int8", "int16", "int32", "int64"],
    "Int32": ["int32"], "Int64": ["int64"], "Int8": ["int8"], "Int16": ["int16"],
    "UInt8": ["uint8"], "UInt": ["uint8", "uint16", "uint32", "uint64"],
    "Integer": ["int8", "int16", "int32", "int64", "uint8"],
    "Bool": ["bool"], "Complex": ["complex64", "complex128"],
    "Complex64": ["complex64"], "Complex128": ["complex128"],
    "Inexact": ["float32", "float64", "complex64"],
    "Num": None, "Real": None, "Shaped": None, "Key": ["uint32"],
}  # fmt: skip
SEQUENCES = ("List", "list", "Sequence", "Iterable", "Collection", "MutableSequence", "Iterator",
             "Set", "set", "FrozenSet", "frozenset", "deque")  # fmt: skip
WRAPPERS = ("Final", "ClassVar", "Annotated", "Required", "NotRequired", "ReadOnly", "Ref")


def from_object(found, depth=0):
    """The tree of an annotation object."""
    if depth > MOST_DEPTH:
        return ANY
    if found is None or found is type(None):
        return word("None")
    if isinstance(found, str):
        return from_text(found)
    name = type(found).__name__
    if name == "ForwardRef":
        return from_text(found.__forward_arg__)
    if name in ("TypeVar", "ParamSpec"):
        constraints = getattr(found, "__constraints__", ()) or ()
        bound = getattr(found, "__bound__", None)
        if constraints:
            return ("Union", tuple(from_object(one, depth + 1) for one in constraints))
        return ANY if bound is None else from_object(bound, depth + 1)
    if name == "NewType" or hasattr(found, "__supertype__"):
        return from_object(found.__supertype__, depth + 1)
    if name == "TypeAliasType":
        return from_object(found.__value__, depth + 1)
    if isinstance(found, type) and hasattr(found, "dim_str") and hasattr(found, "array_type"):
        # jaxtyping's classes: their name is `Float[Tensor, 'a b']`.
        return ("jaxtyping", (getattr(found, "__name__", ""), getattr(found, "dim_str", ""),
                              from_object(getattr(found, "array_type", None), depth + 1)))  # fmt: skip
    origin = getattr(found, "__origin__", None)
    if origin is not None and not (isinstance(found, type) and origin is found):
        arguments = getattr(found, "__args__", None) or ()
        title = getattr(found, "_name", None) or getattr(origin, "_name", None)
        title = title or getattr(origin, "__name__", None) or str(origin).rpartition(".")[2]
        if title == "Literal" or str(origin).endswith("Literal"):
            return ("Literal", tuple(arguments))
        if origin in (collections.abc.Callable,) or title == "Callable":
            return word("Callable")
        if str(origin) == "typing.Union" or title in ("Union", "Optional"):
            title = "Union"
        if type(found).__name__ == "_AnnotatedAlias":
            return from_object(found.__origin__, depth + 1)
        return (title, tuple(from_object(one, depth + 1) for one in arguments))
    if name in ("UnionType", "Union"):
        return ("Union", tuple(from_object(one, depth + 1) for one in found.__args__))
    if found is Ellipsis:
        return word("...")
    if isinstance(found, type):
        if issubclass(found, enum.Enum):
            return ("enum", (found,))
        return class_tree(found)
    return word(getattr(found, "_name", None) or getattr(found, "__name__", None) or "Any")


#: Classes of which an annotation names one member and means it.
FAMILIES = ("Module", "Optimizer")


def class_tree(found):
    """A class that a known one is among the bases of is that kind of thing."""
    for base in inspect.getmro(found):
        if base is object:
            break
        if base.__name__ in PLAIN and not (base is dict and found is not dict):
            if base is not found and base.__name__ in FAMILIES:
                # Another member of the family will not do.
                return ("class", (found,))
            return word(base.__name__)
        if base is tuple and hasattr(found, "_fields"):
            return ("class", (found,))
    return ("class", (found,))


def from_text(text):
    """The tree of an annotation's text; of several readings the one that parses."""
    try:
        return from_ast(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ANY


def from_ast(node, renamed=None):
    """The tree of an expression; `renamed` are the names that `import … as …` gave."""
    if isinstance(node, ast.Name):
        return word((renamed or {}).get(node.id, node.id))
    if isinstance(node, ast.Attribute):
        found = None if node.attr in PLAIN else class_at(dotted(node))
        return word(node.attr) if found is None else from_object(found)
    if isinstance(node, ast.Subscript):
        inner = node.slice
        if type(inner).__name__ == "Index":  # before 3.9
            inner = inner.value
        title = from_ast(node.value, renamed)[0]
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if title == "Literal":
            return ("Literal", tuple(value for value in map(constant, parts) if value is not ANY))
        if title == "Callable":
            return word("Callable")
        if title in JAXTYPING and len(parts) == 2 and isinstance(constant(parts[1]), str):
            return ("jaxtyping", (title, constant(parts[1]), from_ast(parts[0], renamed)))
        return (title, tuple(from_ast(part, renamed) for part in parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ("Union", (from_ast(node.left, renamed), from_ast(node.right, renamed)))
    value = constant(node)
    if value is None:
        return word("None")
    if value is Ellipsis:
        return word("...")
    if isinstance(value, str):
        return from_text(value)
    return ANY


def dotted(node):
    """The text of a dotted name, or None."""
    if isinstance(node, ast.Name):
        return node.id
    before = dotted(node.value) if isinstance(node, ast.Attribute) else None
    return None if before is None else "%s.%s" % (before, node.attr)


def class_at(path):
    """The class that a dotted name means in the modules that are loaded, or None."""
    module, _, name = (path or "").rpartition(".")
    if module.partition(".")[0] in ("typing", "collections"):
        return None
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None


def constant(node):
    """The value of a literal node, `ANY` where it is none."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        if isinstance(node, ast.Constant):
            return node.value
        return ANY


def types_of(tree, aliases=None, depth=0):
    """The alternatives of a tree. `aliases` gives the trees of names that a file defines itself."""
    title, arguments = tree
    if depth > MOST_DEPTH:
        return [of("any")]
    if title == "enum":
        return [of("object", choices=[path_of(one) for one in list(arguments[0])[:32]])]
    if title == "class":
        return class_types(arguments[0])
    if title == "jaxtyping":
        return jaxtyping(*arguments)
    if title == "Literal":
        values = [one for one in arguments if one is not None and one is not ANY]
        return literal_types(values) + ([NONE] if None in arguments else [])
    if not arguments and aliases and title in aliases:
        rest = {name: alias for name, alias in aliases.items() if name != title}
        return types_of(aliases[title], rest, depth + 1)
    if title in ("Union", "Optional"):
        found = []
        for one in arguments:
            found.extend(types_of(one, aliases, depth + 1))
        if title == "Optional":
            found.append(NONE)
        return unique(found) or [of("any")]
    if title in WRAPPERS and arguments:
        return types_of(arguments[0], aliases, depth + 1)
    if title in SEQUENCES:
        return sequence("list", arguments[:1], None, aliases, depth)
    if title in ("Tuple", "tuple"):
        if len(arguments) == 2 and arguments[1] == word("..."):
            return sequence("tuple", arguments[:1], None, aliases, depth)
        return sequence("tuple", arguments, len(arguments) or None, aliases, depth)
    if title in ("Type", "type"):
        return [of("any")]
    if title in SEVERAL:
        return list(SEVERAL[title])
    if title in PLAIN:
        return [PLAIN[title]]
    if title.startswith("_ArrayLike"):
        return [of("ndarray", dtypes=LIKE.get(title[10:].partition("_")[0]))]
    if title in ("_NestedSequence", "_SupportsArray", "_DualArrayLike") and arguments:
        return [of("ndarray")]
    if title.endswith("Like_co"):
        return [of("number")]
    return [of("any")]


def sequence(sort, arguments, length, aliases, depth):
    entries = []
    for one in arguments:
        entries.extend(types_of(one, aliases, depth + 1))
    entries = unique(entries)
    if not entries:
        return [of(sort)]
    if len(entries) == 1 or all(one["sort"] == entries[0]["sort"] for one in entries):
        entry = entries[0]
    elif sort == "tuple" and length is not None:
        return [
            of(
                "tuple",
                length=length,
                entries=[e for e in entries] if len(entries) == length else None,
            )
        ]
    else:
        entry = entries[0]
    if entry["sort"] in ("tensor", "index_tensor", "ndarray"):
        return [of("tensors", of=entry, length=length)]
    return [of(sort, of=entry, length=length)]


def literal_types(values):
    """Choices, by the sort of their values."""
    found = []
    for kind, sort in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        chosen = [v for v in values if type(v) is kind]
        if chosen:
            found.append(of(sort, choices=chosen))
    members = [path_of(v) for v in values if isinstance(v, enum.Enum)]
    if members:
        found.append(of("object", choices=members))
    return found or [of("any")]


def path_of(member):
    return "%s.%s" % (place_of(type(member)), member.name)


def place_of(found):
    """The dotted path under which a class is found: its own, or the one its module shows it by."""
    module = sys.modules.get(found.__module__)
    name = found.__qualname__
    if "." not in name and getattr(module, name, None) is not found:
        shown = vars(module) if module is not None else {}
        name = next((title for title, value in shown.items() if value is found), name)
    return "%s.%s" % (found.__module__, name)


def class_types(found):
    """An instance of some class: the class, for whoever can construct one."""
    path = place_of(found)
    if hasattr(found, "_fields") and issubclass(found, tuple):
        # Its fields may be asked for by name, which a plain tuple has not.
        return [of("object", instance=path), of("tuple", length=len(found._fields))]
    if getattr(found, "_is_protocol", False):
        # Whatever behaves so; no object is of that class alone.
        return [of("callable" if "__call__" in vars(found) else "any")]
    members = getattr(found, "__members__", None)
    if isinstance(members, dict) and members:
        # An enumeration of pybind11, which is none of Python's.
        return [of("object", choices=["%s.%s" % (path, name) for name in list(members)[:32]])]
    if found.__module__ == "typing":
        return [of("callable")]
    return [of("object", instance=path)]


def jaxtyping(title, dimensions, array):
    title = title.partition("[")[0]
    dtypes = JAXTYPING.get(title)
    parts = []
    for part in dimensions.split():
        part = part.partition("=")[2] or part
        if part == "..." or part.startswith(("*", "#*")):
            parts.append("...")
        elif part.lstrip("#").isdigit():
            parts.append(part.lstrip("#"))
        elif part.lstrip("#_").isidentifier():
            parts.append(part.lstrip("#_"))
        else:
            # An expression of other dimensions.
            parts.append(part if part.strip("#?") else "...")
    rank = None if "..." in parts else [len(parts)]
    shape = "[%s]" % ",".join(parts) if parts else None
    sort = "ndarray" if array[0] in ("ndarray", "NDArray") else "tensor"
    return [of(sort, dtypes=dtypes, ndim=rank, shape=shape)]


def hints(target):
    """Evaluated annotations of a function; those that cannot be evaluated stay as they are."""
    raw = dict(getattr(target, "__annotations__", None) or {})
    if not any(isinstance(one, str) for one in raw.values()):
        return raw
    try:
        import typing

        if sys.version_info >= (3, 9):
            return typing.get_type_hints(target, include_extras=True)
        return typing.get_type_hints(target)
    except Exception:
        # Names that only a type checker imports.
        module = sys.modules.get(getattr(target, "__module__", ""), None)
        scope = dict(vars(module)) if module is not None else {}
        for name, text in raw.items():
            if isinstance(text, str):
                try:
                    raw[name] = eval(text, scope)  # the library's own annotation, as it is
                except Exception:
                    continue
        return raw
