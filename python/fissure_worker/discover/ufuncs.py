"""NumPy's universal functions (and objects that look like one): inputs, results and their types."""

from fissure_worker.discover.words import evidence, form, of, optional, parameter

#: Letters of NumPy's type codes → dtype names; the rest (objects, dates) no tensor has.
LETTERS = {
    "?": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "l": "int64", "L": "uint64", "q": "int64", "Q": "uint64", "e": "float16",
    "f": "float32", "d": "float64", "F": "complex64", "D": "complex128",
}  # fmt: skip
NAMES = ("x1", "x2", "x3", "x4", "x5", "x6")


def is_ufunc(target):
    return not isinstance(target, type) and all(
        hasattr(target, name) for name in ("nin", "nout", "reduce", "accumulate")
    )


def forms(target, own):
    inputs = int(target.nin)
    results = int(target.nout)
    sort = "ndarray" if type(target).__module__.partition(".")[0] == "numpy" else "tensor"
    allowed = [[] for _ in range(inputs)]
    codes = list(getattr(target, "types", ()) or ())
    for code in codes:
        letters = code.partition("->")[0]
        for at, letter in enumerate(letters[:inputs]):
            name = LETTERS.get(letter)
            if name and name not in allowed[at]:
                allowed[at].append(name)
    shapes = core_shapes(getattr(target, "signature", None), inputs)
    own_names = [one["name"] for one in own or [] if one["kind"].startswith("positional")]
    names = own_names[:inputs] if len(own_names) >= inputs else list(NAMES[:inputs])
    if inputs == 1 and not own_names:
        names = ["x"]
    told = [evidence("ufunc", " ".join(codes[:24]) or "nin=%d" % inputs)]
    params = []
    for at in range(inputs):
        types = [of(sort, dtypes=allowed[at] or None, shape=shapes[at])]
        if shapes[at] is None:
            types.append(of("number"))
        params.append(parameter(names[at], "positional_only", True, None, types, told))
    out = of(sort) if results == 1 else of("tuple", of=of(sort), length=results)
    if sort == "ndarray":
        params.append(parameter("out", "keyword_only", False, "None", optional([out]), told))
        params.append(
            parameter("where", "keyword_only", False, "True",
                      [of("bool"), of(sort, dtypes=["bool"])], told)
        )  # fmt: skip
        params.append(
            parameter("casting", "keyword_only", False, "'same_kind'",
                      [of("string", choices=["no", "equiv", "safe", "same_kind", "unsafe"])], told)
        )  # fmt: skip
        params.append(
            parameter("dtype", "keyword_only", False, "None", optional([of("dtype")]), told)
        )
    return [form("ufunc", params, getattr(target, "__name__", None))]


def core_shapes(signature, inputs):
    """Of generalised functions: `(m,n),(n)->(m)` are the last dimensions of each input."""
    if not signature:
        return [None] * inputs
    left = signature.partition("->")[0].replace(" ", "")
    found = []
    for group in left.strip("()").split("),("):
        parts = [part.rstrip("?") for part in group.split(",") if part]
        found.append("[%s]" % ",".join(["..."] + parts))
    return (found + [None] * inputs)[:inputs]
