"""PyTorch operator schemas: every overload of an operator, with its types and defaults.

Their text (`aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`) is the same
in every version, so it is what is read.
"""

import re
import sys

from fissure_worker import documented, texts
from fissure_worker.discover import names
from fissure_worker.discover.words import evidence, form, of, optional, parameter, sorts

HEAD = re.compile(r"^(?P<name>[\w:]+)(?:\.(?P<overload>\w+))?\(")
ARGUMENT = re.compile(
    r"^(?P<type>[A-Za-z_][\w.]*(?:\([^)]*\))?(?:\[\d*\]|\?|\([^)]*\))*(?:\[\d*\]|\?)*)\s+"
    r"(?P<name>\w+)(?:\s*=\s*(?P<default>.*))?$"
)
ALIAS = re.compile(r"\([^)]*\)")
#: A letter of TorchScript's generic types: such overloads are not for Python's callers.
GENERIC = re.compile(r"^(t|t1|t2|tVal|tKey|k|v)$")
BASES = {
    "Tensor": of("tensor"),
    "int": of("int"),
    "SymInt": of("int"),
    "float": of("float"),
    "SymFloat": of("float"),
    "bool": of("bool"),
    "SymBool": of("bool"),
    "str": of("string"),
    "complex": of("complex"),
    "Scalar": of("number"),
    "number": of("number"),
    "ScalarType": of("dtype"),
    "Layout": of("layout"),
    "Device": of("device"),
    "MemoryFormat": of("memory_format"),
    "Generator": of("generator"),
    "Dimname": of("string"),
    "QScheme": of("object", of=of("string")),
    "DeviceIndex": of("int"),
    "Any": of("any"),
    "NoneType": of("none"),
    "AnyEnumType": of("int"),
}


def type_of(text, name):
    """Alternatives for the text of a schema type; None for one that Python cannot make."""
    text = ALIAS.sub("", text).strip()
    if text.endswith("?"):
        inner = type_of(text[:-1], name)
        return None if inner is None else optional(inner)
    match = re.match(r"^(.*)\[(\d*)\]$", text)
    if match:
        return list_of(match.group(1), match.group(2), name)
    base = BASES.get(text)
    if base is None:
        return None
    if base["sort"] == "int" and names.is_axis(name):
        base = of("axis")
    elif base["sort"] == "tensor" and names.is_index(name):
        base = of("index_tensor")
    return [base]


def list_of(inner, length, name):
    entries = type_of(inner, name)
    if entries is None:
        return None
    length = int(length) if length else None
    entry = entries[0]
    if entry["sort"] in ("tensor", "index_tensor"):
        # `Tensor?[]`: some of them may be None.
        holes = True if "none" in sorts(entries) else None
        return [of("tensors", of=entry, length=length, holes=holes)]
    if entry["sort"] == "int" and names.is_axes(name):
        entry = of("axis")
    if entry["sort"] == "int" and names.is_shape(name):
        found = [of("shape", length=length)]
    else:
        found = [of("list", of=entry, length=length)]
    if length is not None and entry["sort"] in ("int", "float", "bool", "axis"):
        # The bindings take one number for all of a list whose length the schema fixes.
        found.append(entry)
    return found


class Schema:
    """One overload: its qualified name, arguments and what it returns."""

    def __init__(self, text):
        match = HEAD.match(text)
        if match is None:
            raise ValueError("not a schema: %s" % text[:80])
        self.text = text
        self.name = match.group("name")
        self.overload = match.group("overload") or ""
        end = texts.bracketed(text, match.end() - 1)
        self.returns = text[end + 1 :].partition("->")[2].strip()
        self.arguments = []
        keyword_only = False
        for piece in texts.split(text[match.end() : end]):
            if piece == "*":
                keyword_only = True
                continue
            argument = ARGUMENT.match(piece)
            if argument is None:
                raise ValueError("not an argument: %s" % piece[:80])
            kind = argument.group("type")
            self.arguments.append(
                {
                    "type": kind,
                    "name": argument.group("name"),
                    "default": argument.group("default"),
                    "keyword_only": keyword_only,
                    "written": "!" in kind,
                }
            )

    def out(self):
        """The arguments that take results."""
        return [one for one in self.arguments if one["written"] and one["keyword_only"]]

    def key(self):
        """What an overload and its form with `out` have in common."""
        return tuple(
            (ALIAS.sub("", one["type"]), one["name"])
            for one in self.arguments
            if not (one["written"] and one["keyword_only"])
        )

    def is_generic(self):
        return any(GENERIC.match(re.sub(r"[\[\]?\d]", "", a["type"])) for a in self.arguments)


def parameter_of(argument, rename):
    types = type_of(argument["type"], argument["name"])
    if types is None:
        if argument["type"].endswith("?"):
            types = [of("none")]
        else:
            raise ValueError("nothing makes a value of type %s" % argument["type"])
    name = argument["name"]
    if argument.get("made") == "sparse":
        types = [of("sparse")]
    elif argument.get("made") == "quantized":
        types = [of("tensor", dtypes=["qint8", "quint8", "qint32"])]
    return parameter(
        rename.get(name, name),
        "keyword_only" if argument["keyword_only"] else "positional_or_keyword",
        argument["default"] is None,
        argument["default"],
        types,
        [evidence("schema", "%s %s" % (argument["type"], name))],
    )


def form_of(schema, rename, separate_out=False):
    """The form of an overload; `out` in the way that Python's bindings have it."""
    out = [] if separate_out else schema.out()
    params = [parameter_of(a, rename) for a in schema.arguments if a not in out]
    if out:
        params.append(out_parameter(len(out), required=True))
    name = schema.name + ("." + schema.overload if schema.overload else "")
    return form("schema", params, name, schema.returns)


def out_parameter(results, required=False):
    tensor = of("tensor")
    kind = tensor if results == 1 else of("tuple", of=tensor, length=results)
    types = [kind] if required else optional([kind])
    return parameter(
        "out", "keyword_only", required, None if required else "None", types,
        [evidence("schema", "out")],
    )  # fmt: skip


def usable(torch, schemas):
    """The overloads that have a kernel here."""
    found = []
    where_of = {id(schema): places(torch, schema) for schema in schemas}
    plain = {schema.key(): where_of[id(schema)] for schema in schemas if not schema.out()}
    for schema in schemas:
        where = where_of[id(schema)]
        # A generated `out` form hands on to the plain one: it has no more kernels than that has.
        if where is None or schema.out() and plain.get(schema.key(), where) is None:
            continue
        if where != "cpu":
            for one in schema.arguments[:1]:
                one["made"] = where if one["type"].startswith("Tensor") else None
        found.append(schema)
    return found


def forms(schemas, rename, separate_out=False):
    """One form for each overload; the ones with `out` become a parameter of their partners."""
    with_out = {}
    plain = []
    for schema in schemas:
        if schema.out() and not separate_out:
            with_out[schema.key()] = schema
        else:
            plain.append(schema)
    found = []
    for schema in plain:
        try:
            made = form_of(schema, rename, separate_out)
        except ValueError:
            continue
        partner = with_out.pop(schema.key(), None)
        if partner is not None:
            made["params"].append(out_parameter(len(partner.out())))
        found.append(made)
    for schema in with_out.values():
        try:
            found.append(form_of(schema, rename))
        except ValueError:
            continue
    return found


class Operators:
    """All operators that are registered now, by qualified name."""

    def __init__(self, torch):
        self.torch = torch
        self.by_name = {}
        self.by_function = None
        known = dispatched(torch)
        for entry in torch._C._jit_get_all_schemas():
            full = entry.name + ("." + entry.overload_name if entry.overload_name else "")
            if known is None or full in known:
                self.by_name.setdefault(entry.name, []).append(entry)
        self.parsed = {}

    def schemas(self, name):
        if name not in self.parsed:
            found = []
            for entry in self.by_name.get(name, ()):
                try:
                    schema = Schema(str(entry))
                except ValueError:
                    continue
                if not schema.is_generic():
                    found.append(schema)
            self.parsed[name] = found
        return self.parsed[name]

    def name_of_function(self, function):
        """The operator behind a function of `torch`, as TorchScript knows it."""
        if self.by_function is None:
            self.by_function = {}
            try:
                import torch.jit._builtins as builtins

                builtins._find_builtin(function)
                table = builtins._get_builtin_table()
                self.by_function = dict(table)
            except (ImportError, AttributeError, RuntimeError):
                pass
        return self.by_function.get(id(function))


#: Dispatch keys under which a call with tensors of the processor finds a kernel.
PROCESSOR = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd",
             "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor")  # fmt: skip


def places(torch, schema):
    """`cpu`, `sparse`, `quantized` or None: which tensors of the processor an overload takes."""
    name = schema.name + ("." + schema.overload if schema.overload else "")
    has = getattr(torch._C, "_dispatch_has_kernel_for_dispatch_key", None)
    if has is None:
        return "cpu"
    try:
        if any(has(name, key) for key in PROCESSOR):
            return "cpu"
        if has(name, "SparseCPU") or has(name, "SparseCsrCPU"):
            return "sparse"
        return "quantized" if has(name, "QuantizedCPU") else None
    except RuntimeError:
        return "cpu"


def dispatched(torch):
    """Names that the dispatcher knows; the rest is TorchScript's own. None: cannot be asked."""
    try:
        return set(torch._C._dispatch_get_all_op_names())
    except AttributeError:
        return None


def declared(schemas, is_method=False):
    """The parameters of a function of Python with these schemas, as `documented.parameters`; None where there are none."""
    overloads = []
    for text in schemas:
        try:
            schema = Schema(text)
        except ValueError:
            continue
        if schema.is_generic():
            continue
        given = [one for one in schema.arguments if one not in schema.out()]
        params = [
            {
                "name": "input" if one["name"] == "self" else one["name"],
                "kind": "keyword_only" if one["keyword_only"] else "positional_or_keyword",
                "default": one["default"],
            }
            for one in given
            if not (is_method and one["name"] == "self")
        ]
        if schema.out():
            params.append({"name": "out", "kind": "keyword_only", "default": "None"})
        overloads.append(params)
    return documented.merge(overloads) if overloads else None


def is_builtin(function):
    return type(function).__name__ in (
        "builtin_function_or_method",
        "method_descriptor",
        "wrapper_descriptor",
        "getset_descriptor",
    )


#: Filled when first asked for; operators that are registered later need `forget`.
CACHE = {}


def forget():
    CACHE.clear()


def operators():
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "_C"):
        return None
    if "operators" not in CACHE:
        CACHE["operators"] = Operators(torch)
    return CACHE["operators"]


def scripted(target):
    """The schema that a function compiled by TorchScript carries, or None."""
    if type(target).__name__ != "ScriptFunction":
        return None
    try:
        return Schema(str(target.schema).strip())
    except (AttributeError, ValueError, RuntimeError):
        return None


def operator_packet(target):
    """`namespace::name` of something below `torch.ops`, or None."""
    kind = type(target).__name__
    if kind == "OpOverloadPacket":
        return getattr(target, "_qualified_op_name", None), None
    if kind == "OpOverload":
        schema = target._schema
        return schema.name, schema.overload_name
    if kind == "CustomOpDef":
        # What `torch.library.custom_op` makes of a function.
        return getattr(target, "_qualname", None), None
    return None, None
