"""Writes reproduce.py of a finding: plain Python and the library, exact to the last bit."""

import base64
import os
import sys
import zlib

from ..backends import library as backends
from . import crash
from ..watch import operations
from ..run.arguments import is_array, library_of
from ..search.changes import (
    ArgumentChange,
    AutocastChange,
    ConstantChange,
    ConstructorChange,
    SizeChange,
)

_HERE = os.path.dirname(os.path.abspath(__file__))
_NUMPY, _ARRAYS = "reproduce_numpy.txt", "reproduce_arrays.txt"
_GRAPH, _PROGRAM = "reproduce_graph.txt", "reproduce_program.txt"
_QUESTION = os.path.join(os.pardir, "run", "instrument.py")
_MEETING = os.path.join(os.pardir, "backends", "meeting.py")


def script(program, found, folder):
    """The text of reproduce.py, written beside the other files of the finding in `folder`."""
    failure = found.failure
    lines = [
        '"""%s at line %d of %s: %s.'
        % (failure.name, failure.site.line, os.path.basename(failure.site.file), failure.detail),
        "",
        "Exits with 1 when the failure reproduces, with 0 when it does not.",
        '"""',
        "",
        "import base64, os, sys, warnings, zlib",
        "",
        "# Functions compiled by torch or numba run as ordinary Python.",
        "os.environ.setdefault('PYTORCH_JIT', '0')",
        "os.environ.setdefault('NUMBA_DISABLE_JIT', %r)" % os.environ.get("NUMBA_DISABLE_JIT", "1"),
        "",
    ]
    # Inputs are counted in the order they are made, those of torch among them.
    torch_used = (
        failure.library == "torch"
        or "torch" in sys.modules
        and (
            failure.library == "math"
            or any(info.library == "torch" for info in found.space.known.values())
        )
    )
    lines.append("import numpy")
    if torch_used:
        lines.append("import torch")
    lines += ["", _HELPERS_TORCH if torch_used else "", _HELPERS_NUMPY, ""]
    lines += [text for library, text in _HELPERS_OWN.items() if library in sys.modules]
    lines.append(
        "print('python', sys.version.split()[0], 'numpy', numpy.__version__%s)"
        % (", 'torch', torch.__version__" if torch_used else "")
    )
    lines += ["warnings.simplefilter('ignore')", "numpy.set_printoptions(threshold=40)"]
    if torch_used:
        lines.append("torch.set_printoptions(threshold=40)")
    alone = _operation_alone(failure)
    if alone:
        lines += ["", "# The operation alone, on the operands it had."] + alone
    # In a precision that the program does not run in here, the operation alone decides.
    lines.append(
        "ALONE = %s"
        % (
            "not bool(torch.isfinite(result).all())"
            if alone and failure.oracle == "low_precision" and found.variation is None
            else "False"
        )
    )
    lines += [
        "",
        "# The whole program with the failing input.",
        "SCRIPT = %s"
        % (
            "os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), %r))"
            % os.path.relpath(program.file, folder)
            if program.file
            else "''"
        ),
        "MODULE = %r" % program.module,
        "ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), %r))"
        % os.path.relpath(program.plan["root"], folder),
        "FUNCTION = %r" % program.function,
        "DIFFERENTIATED = %r"
        % (program.differentiation.wanted and failure.oracle == "gradient_nonfinite"),
        "PACKAGE = %r" % (program.module.split(".")[0] if program.module else None),
        "ARGUMENTS = %r" % (list(program.arguments),),
        "SITE_LINE = %d" % failure.site.line,
        "SITE_FILE = %r" % os.path.basename(failure.site.file),
        "SITE_FUNCTION = %r" % failure.site.function,
        "ORACLE = %r" % failure.oracle,
        "LIBRARY = %r" % failure.library,
        "RAISES = %r" % failure.raises,
        "IGNORED = %r" % (sorted(operations.TABLE.unwatched["torch"]),),
        "FILLS = %r" % (operations.TABLE.with_property("fills"),),
        "LITERAL = %r" % (sorted(operations.sources("literal")),),
        "SOURCES = %r"
        % (sorted(operations.sources("literal", "constant", "draw", "integers") - {"from_numpy"}),),
        "NUMPY_SOURCES = %r" % (operations.numpy_sources("numpy"),),
        "NUMPY_COPIES = %r" % (operations.numpy_copies(),),
        "NUMPY_RANDOM = %r" % (operations.numpy_sources("numpy.random"),),
        "NUMPY_PICKS = %r" % (operations.picks(),),
        "DATA_MODULES = %r" % (operations.TABLE.data_modules,),
        "PANDAS = %r" % ("pandas" in sys.modules),
        "RECORDED = %s" % _recorded(failure),
        "VALUES = {",
    ]
    for key, value in found.overrides.items():
        info = found.space.known[key]
        lines.append("    %r: %s,  # %s" % (key, array_text(value, info), info.name))
    lines.append("}")
    lines += _variation(found.variation, program.gets_data())
    if program.synthesised is not None:
        lines += _call(program.synthesised, found.variation)
    parts = [_QUESTION, _NUMPY, _PROGRAM]
    if failure.library == "tensorflow1":
        lines.append("TF1 = %r" % program.settings.tf1)
        parts.insert(2, _GRAPH)
    elif backends.numpy_based(failure.library):
        lines += _array_facts(backends.of(failure.library), found)
        parts.insert(2, _ARRAYS)
    for part in parts:
        with open(os.path.join(_HERE, part), encoding="utf-8") as handle:
            lines.append(handle.read())
        if part == _NUMPY:
            with open(os.path.join(_HERE, _MEETING), encoding="utf-8") as handle:
                lines += [handle.read(), "install(Watched)"]
    text = "\n".join(lines) + "\n"
    return crash.guarded(text) if failure.oracle in ("crash", "hang") else text


def _array_sources():
    """As they are called in the libraries: those that one calls otherwise too."""
    known = operations.sources("literal", "constant", "draw", "integers")
    told = [
        name
        for name, row in operations.TABLE.rows.items()
        for name in row.get("jax", []) + row.get("tensorflow", [])
        if row.get("source") is not None
    ]
    return sorted(known.union(told))


def _array_facts(backend, found):
    """What the part for JAX and TensorFlow needs to know."""
    inputs = found.space.known
    own = [
        "    %r: %s," % (key, _literal(inputs[key].value))
        for key in found.overrides
        if inputs[key].kind in ("batch", "entering")
    ]
    return (
        [
            "MODULES = %r" % (backend.modules(),),
            "SKIPPED = %r" % (sorted(backend.skipped()),),
            "METHODS = %r" % (sorted(backend.methods()),),
            "ARRAY_SOURCES = %r" % (_array_sources(),),
            "# Values that the program has where it gets the failing ones.",
            "OWN = {",
        ]
        + own
        + ["}"]
    )


def _variation(variation, gets_data):
    """A changed size, number or precision of the program."""
    size, constant, precision = "None", "None", "None"
    if isinstance(variation, SizeChange):
        size = variation.how.source()
    elif isinstance(variation, ConstantChange):
        scalar = variation.scalar
        constant = repr((scalar.line, scalar.column, variation.value))
    elif isinstance(variation, AutocastChange):
        precision = "torch." + variation.precision
    return [
        "# (rows of the data, rows that are kept, on every axis, only one element)",
        "RESIZE = %s" % size,
        "# Only its arguments have another size.",
        "GETS_DATA = %r" % gets_data,
        "# (line, column, value) of a number of the script",
        "CONSTANT = %s" % constant,
        "# of autocast around the whole program",
        "AUTOCAST = %s" % precision,
    ]


def _call(arguments, variation):
    """The call of a target function, and how the object of its class is made."""
    values = dict(arguments.values)
    for part in getattr(variation, "parts", [variation]):
        if isinstance(part, ArgumentChange):
            values[part.scalar.name] = part.value
    lines = ["CALL = {"]
    lines += [
        "    %r: %s," % (name, arguments.sources.get(name) or _value(value))
        for name, value in values.items()
    ]
    lines += [
        "}",
        "POSITIONAL = %r" % (arguments.positional,),
        "REST = %s" % _value(arguments.rest),
    ]
    constructor = arguments.constructor
    if constructor is None:
        return lines + ["CONSTRUCTOR = None"]
    values = dict(constructor.values)
    for part in getattr(variation, "parts", [variation]):
        if isinstance(part, ConstructorChange):
            values[part.scalar.name] = part.value
    lines.append("CONSTRUCTOR = {")
    lines += [
        "    %r: %s," % (name, constructor.sources.get(name) or _value(value))
        for name, value in values.items()
    ]
    return lines + [
        "}",
        "CONSTRUCTOR_POSITIONAL = %r" % (constructor.positional,),
        "CONSTRUCTOR_REST = %s" % _value(constructor.rest),
    ]


def call_text(arguments):
    """The call of a target function as a part of a script."""
    lines = ["import base64, zlib", "import numpy"]
    if "torch" in sys.modules:
        lines += ["import torch", _HELPERS_TORCH]
    lines.append(_HELPERS_NUMPY)
    lines += [text for library, text in _HELPERS_OWN.items() if library in sys.modules]
    return "\n".join(lines + _call(arguments, None))


def _value(value):
    """Plain data as source; something else is left to its `repr`."""
    if type(value) is dict:
        return "{%s}" % ", ".join("%r: %s" % (key, _value(item)) for key, item in value.items())
    try:
        return _argument(value)
    except TypeError:
        return repr(value)


_HELPERS_TORCH = """
def tensor(text, dtype, *shape):
    raw = bytearray(zlib.decompress(base64.b85decode(text)))
    if not raw:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(raw, dtype=dtype).reshape(shape).clone()
"""

_HELPERS_NUMPY = """
def array(text, dtype, *shape):
    raw = zlib.decompress(base64.b85decode(text))
    return numpy.frombuffer(raw, dtype=dtype).reshape(shape).copy()
"""


# Arrays of the library, for the arguments of a function.
_HELPERS_OWN = {
    "jax": """
def jax_array(values):
    import jax.numpy
    return jax.numpy.asarray(values)
""",
    "tensorflow": """
def tensorflow_array(values):
    import tensorflow
    return tensorflow.constant(values)
""",
}


def _pack(raw):
    return base64.b85encode(zlib.compress(raw, 9)).decode("ascii")


def stored(value, info):
    """A candidate (array of doubles) with the bits that the program gets, as a NumPy array."""
    if info.library == "torch" and info.dtype() == "bfloat16":
        # NumPy has no such type; every value of it is a float32.
        import torch
        from ..backends.torch_backend import _as_tensor

        return _as_tensor(value, torch.bfloat16).float().numpy()
    return value.astype(info.dtype())


def array_text(value, info):
    """A candidate (array of doubles) as the library's array in the input's own dtype."""
    if info.library == "torch":
        import torch
        from ..backends.torch_backend import _as_tensor

        return _literal(_as_tensor(value, getattr(torch, info.dtype())))
    text = _literal(value.astype(info.dtype()))
    if info.kind == "parameter" and backends.numpy_based(info.library):
        return "%s_array(%s)" % (info.library, text)
    return text


def _literal(value):
    shape = "".join(", %d" % size for size in value.shape)
    if type(value).__module__.startswith("torch"):
        import torch

        # A copy: an axis of one element keeps any stride while it counts as contiguous.
        raw = value.detach().cpu().reshape(-1).clone(memory_format=torch.contiguous_format)
        data = bytes(raw.view(torch.uint8).numpy().tobytes()) if raw.numel() else b""
        if str(raw.dtype) == "torch.bool":
            return "tensor(%r, torch.uint8%s).bool()" % (_pack(data), shape)
        return "tensor(%r, %s%s)" % (_pack(data), raw.dtype, shape)
    library = library_of(value)
    if backends.numpy_based(library):
        return "%s_array(%s)" % (library, _literal(backends.of(library).to_numpy(value)))
    from ..backends.numpy_backend import plain

    ordinary = plain(value)
    return "array(%r, %r%s)" % (_pack(ordinary.tobytes()), str(ordinary.dtype), shape)


def _count(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def _recorded(failure):
    """The wrong but finite result, for oracles that compare with a better computation."""
    if (
        failure.oracle in ("nonfinite", "gradient_nonfinite")
        or failure.oracle == "wraparound"
        and failure.name == "cast"
        or failure.output is None
        or _count(failure.output.shape) > 4096
    ):
        return "None"
    return _literal(failure.output)


def _operation_alone(failure):
    if failure.library == "math":
        if failure.function is None:
            return None
        name = failure.function.__name__
        return [
            "import math",
            "try:",
            "    print(math.%s(%s))"
            % (name, ", ".join(_argument(value) for value in failure.arguments)),
            "except (ValueError, OverflowError) as error:",
            "    print('math.%s:', error)" % name,
        ]
    if failure.library == "numpy" and failure.oracle == "wraparound" and failure.name == "cast":
        dtype = str(failure.output.dtype)
        return [
            "operand = %s" % _literal(failure.arguments[0]),
            "result = operand.astype(%r)" % dtype,
            "print(operand, 'as', %r, result)" % dtype,
        ]
    path = function_path(failure.function, failure.library)
    if (
        path is None
        or failure.raises
        or failure.oracle not in ("nonfinite", "range", "wraparound", "low_precision")
    ):
        return None
    try:
        arguments = [_argument(value) for value in failure.arguments]
        arguments += ["%s=%s" % (key, _argument(value)) for key, value in failure.keywords.items()]
    except TypeError:
        return None
    return ["result = %s(%s)" % (path, ", ".join(arguments)), "print(%r, result)" % path]


def _argument(value):
    if is_array(value):
        return _literal(value)
    if type(value) in (list, tuple):
        inner = ", ".join(_argument(item) for item in value)
        return (
            "[%s]" % inner
            if isinstance(value, list)
            else "(%s%s)" % (inner, "," if len(value) == 1 else "")
        )
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "float(%r)" % str(value)
    if isinstance(value, (int, float, bool, str, type(None), slice)):
        return repr(value)
    if str(value).startswith("torch."):
        return str(value)
    raise TypeError("an operand without a source form")


def function_path(function, library):
    """The public dotted name of a function object, where there is one."""
    name = getattr(function, "__name__", None)
    if not name:
        return None
    if library == "numpy":
        import numpy

        if getattr(numpy, name, None) is not None:
            return "numpy." + name
        if hasattr(numpy.linalg, name):
            return "numpy.linalg." + name
        return None
    if backends.numpy_based(library):
        return None
    import torch

    qualified = getattr(function, "__qualname__", "")
    if qualified.startswith(("TensorBase.", "Tensor.", "_TensorBase.")):
        return "torch.Tensor." + name if hasattr(torch.Tensor, name) else None
    for owner, prefix in (
        (torch.nn.functional, "torch.nn.functional."),
        (torch, "torch."),
        (torch.special, "torch.special."),
        (torch.linalg, "torch.linalg."),
    ):
        if getattr(owner, name, None) is function:
            return prefix + name
    for owner, prefix in ((torch.linalg, "linalg_"), (torch.special, "special_")):
        if name.startswith(prefix) and hasattr(owner, name[len(prefix) :]):
            return "%s.%s" % (owner.__name__, name[len(prefix) :])
    if hasattr(torch, name) and callable(getattr(torch, name)):
        return "torch." + name
    return None
