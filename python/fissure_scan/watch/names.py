"""One name per operation, whatever form the program wrote it in.

`x / y`, `torch.div(x, y)`, `x.div_(y)` and `x.__rtruediv__(y)` are all `div` here. The names are
those of the registry of unstable functions.
"""

ALIASES = {
    "__truediv__": "div",
    "true_divide": "div",
    "divide": "div",
    "reciprocal": "reciprocal",
    "__pow__": "pow",
    "float_power": "pow",
    "power": "pow",
    "float_pow": "pow",
    "__matmul__": "matmul",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "dot": "matmul",
    "inner": "matmul",
    "addmm": "addmm",
    "baddbmm": "addmm",
    "multiply": "mul",
    "__mul__": "mul",
    "subtract": "sub",
    "__sub__": "sub",
    "__add__": "add",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "maximum": "max",
    "minimum": "min",
    "clip": "clamp",
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "special_expit": "sigmoid",
    "expit": "sigmoid",
    "special_logit": "logit",
    "special_log_softmax": "log_softmax",
    "special_softmax": "softmax",
    "special_logsumexp": "logsumexp",
    "special_expm1": "expm1",
    "special_log1p": "log1p",
    "special_exp2": "exp2",
    "special_xlogy": "xlogy",
    "special_gammaln": "lgamma",
    "special_digamma": "digamma",
    "special_erfinv": "erfinv",
    "arccos": "acos",
    "arcsin": "asin",
    "arctanh": "atanh",
    "arccosh": "acosh",
    "arctan2": "atan2",
    "linalg_solve": "solve",
    "linalg_inv": "inverse",
    "inv": "inverse",
    "linalg_pinv": "pinverse",
    "linalg_det": "det",
    "linalg_slogdet": "slogdet",
    "linalg_cholesky": "cholesky",
    "linalg_norm": "norm",
    "linalg_vector_norm": "norm",
    "linalg_matrix_norm": "norm",
    "linalg_svd": "svd",
    "linalg_eigh": "eigh",
    "linalg_eig": "eig",
    "linalg_qr": "qr",
    "linalg_lstsq": "lstsq",
    "native_layer_norm": "layer_norm",
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
}

# Right-hand operators whose arguments come in the order of the left-hand one reversed.
REVERSED = {"__rdiv__": "div", "__rtruediv__": "div", "__rpow__": "pow", "__rsub__": "sub",
            "__rmatmul__": "matmul", "__rmul__": "mul", "__radd__": "add", "rsub": "sub"}

# Casts: the target type is in the name or in the arguments.
CASTS = {"to", "type", "byte", "char", "short", "int", "long", "half", "bfloat16", "float",
         "double", "bool", "astype", "type_as"}
ALIASES.update((name, "cast") for name in CASTS)

# Calls that read facts about a tensor or steer the library: never part of the computation.
IGNORED = {
    "size", "dim", "numel", "nelement", "ndimension", "stride", "is_contiguous", "element_size",
    "__len__", "__repr__", "__format__", "__hash__", "__bool__", "is_floating_point", "is_complex",
    "is_leaf", "storage", "data_ptr", "untyped_storage", "get_device", "__dir__", "__reduce_ex__",
    "_set_grad_enabled", "_record_function_enter_new", "_is_all_true", "_is_any_true", "is_tensor",
    "__index__", "__contains__", "register_hook", "retain_grad", "is_same_size", "names",
    "set_default_dtype", "_has_compatible_shallow_copy_type", "is_nonzero", "manual_seed",
    "__deepcopy__", "__setstate__", "is_storage", "is_conj", "is_neg", "allclose", "equal",
    "is_inference", "is_signed", "is_distributed", "has_names", "_is_view", "is_set_to",
    "share_memory_", "is_shared", "pin_memory", "is_pinned",
    "result_type", "can_cast", "promote_types", "get_default_dtype",
}


def base_name(function):
    """The canonical name of a torch function object and whether its operands are reversed."""
    name = getattr(function, "__name__", None) or str(function)
    if name in REVERSED:
        return REVERSED[name], True
    in_place = name
    if name.startswith("__i") and name.endswith("__") and name not in ("__index__", "__invert__"):
        in_place = "__" + name[3:]
    elif name.endswith("_") and not name.endswith("__"):
        in_place = name[:-1]
    return ALIASES.get(in_place, in_place.strip("_") if in_place.startswith("__") else in_place), False
