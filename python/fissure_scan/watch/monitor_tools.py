"""Small helpers of the monitor that the oracles need too."""

import math


def flatten(values, found):
    """Arrays inside arguments, two levels of lists deep: enough for cat, stack, einsum."""
    for value in values:
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value:
                if hasattr(item, "shape") and hasattr(item, "dtype"):
                    found.append(item)
                elif isinstance(item, (list, tuple)):
                    for inner in item:
                        if hasattr(inner, "shape") and hasattr(inner, "dtype"):
                            found.append(inner)
    return found


def has_nonfinite_scalar(values):
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            return True
        if isinstance(value, (list, tuple)) and has_nonfinite_scalar(value):
            return True
    return False


def still_bad(backend, values, bad):
    """Is one of the arrays spoiled? What was written into it since then (`y[x == 0] = 0`) may have cured it."""
    return any(id(value) in bad and not backend.finite(value) for value in values)
