"""Are the numbers of an input of ordinary size? An overflow on the way explains a NaN."""

from fissure_worker import dtypes
from fissure_worker.oracles import compare

#: A setting beyond this is no sensible exponent, factor or temperature.
LARGE_SETTING = 1024.0


def is_ordinary(call, arguments, finite):
    """No number so large that its square overflows its type or a type that the call asks for, or so
    small that its reciprocal does; with `finite`, no NaN and no infinity either. Integers count as
    `float32`, which they become as soon as they meet a float."""
    values = [value for _, value in arguments.values(call.parameter)]
    names = [name for name in map(type_named, values) if name]
    asked = min(dtypes.INEXACT[name].largest for name in names + ["float64"])
    for value in values:
        if compare.is_tensor(value):
            if not is_ordinary_tensor(value, finite, asked):
                return False
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if value != value or abs(value) > LARGE_SETTING:
                return False
    return True


def type_named(value):
    """The name of a floating type that is given as an argument (`dtype=torch.float16`)."""
    if compare.is_tensor(value) or isinstance(value, (str, int, float, list, tuple, dict)):
        return None
    name = str(getattr(value, "name", value)).rpartition(".")[2]
    return name if name in dtypes.INEXACT else None


def is_ordinary_tensor(value, finite, asked):
    name = compare.dtype_name(value)
    if name not in dtypes.INEXACT and not name.startswith(("int", "uint")):
        return True
    if compare.count(value) == 0:
        # The mean of nothing is NaN by definition.
        return not finite
    largest = min(dtypes.INEXACT.get(name, dtypes.INEXACT["float32"]).largest, asked)
    size = abs(compare.wide(compare.plain(value)[0])[0])
    if finite and bool((~(size < float("inf"))).any()):
        return False
    odd = (size > largest**0.5) & (size < float("inf"))
    odd = odd | ((size > 0.0) & (size < 1.0 / largest))
    return not bool(odd.any())
