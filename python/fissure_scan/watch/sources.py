"""Which calls create inputs, and the range that follows from the call."""

import sys

from . import operations, whole_numbers

_START = "where a module begins at random"

# A grid this fine is no accident: v * 255 is whole for every element.
_GRID = 1e-3
_LEAST_PIXELS = 16


def is_bytes(value):
    """Eight-bit data: an image, or part of one."""
    return str(getattr(value, "dtype", "")) in ("uint8", "torch.uint8") and len(value.shape) >= 1


def image_range(value, minimum, maximum, whole, count):
    """(low, high, why) of an array that looks like an image, else None."""
    if count < _LEAST_PIXELS or minimum < 0.0:
        return None
    if maximum <= 1.0 and not whole and _on_grid(value):
        return 0.0, 1.0, "an image scaled to [0, 1]"
    shape = tuple(value.shape)
    if (
        whole
        and 1.0 < maximum <= 255.0
        and len(shape) >= 3
        and (shape[-1] in (1, 3, 4) or shape[-3] in (1, 3, 4))
    ):
        return 0.0, 255.0, "an image of 8 bits"
    return None


def _on_grid(value):
    scaled = value.detach().double() if hasattr(value, "detach") else value.astype("float64")
    scaled = scaled.reshape(-1)[:4096] * 255.0
    return bool((abs(scaled - scaled.round()) < _GRID).all())


def distributions(backend, name, value):
    """Is it a table that the program writes down, of rows that are probabilities and sum to 1?"""
    if operations.source(name) != "literal" or not backend.is_float(value):
        return False
    numbers = backend.numbers(value)
    return (
        numbers.ndim >= 1
        and numbers.size > 0
        and numbers.shape[-1] >= 2
        and bool(((numbers >= 0.0) & (numbers <= 1.0)).all())
        # Directions and labels are made of zeros and ones, too.
        and bool(((numbers > 0.0) & (numbers < 1.0)).any(axis=-1).all())
        and bool((abs(numbers.sum(axis=-1) - 1.0) < 1e-6).all())
    )


def _drawn(name, low, high):
    if low is None:
        return "a draw of %s is unbounded" % name
    if high is None:
        return "a draw of %s is not negative" % name
    return "%s draws from [%g, %g]" % (name, low, high)


# Where a module of torch sets itself up.
_BEGINNINGS = ("__init__", "reset_parameters", "init_weights", "_init_weights", "reset")


def _random_start(frame):
    """Is it a module that begins somewhere at random (the vectors of a power iteration)? That is no data."""
    torch = sys.modules.get("torch")
    return (
        torch is not None
        and frame is not None
        and frame.f_code.co_name in _BEGINNINGS
        and isinstance(frame.f_locals.get("self"), torch.nn.Module)
    )


def source_range(name, arguments, keywords, values, value=None, frame=None):
    """(low, high, why, frozen_reason) of a source call in `frame` whose own values are `values` (float64 list
    stats: minimum, maximum, whole numbers only)."""
    minimum, maximum, whole, count = values
    if operations.source(name) == "draw" and _random_start(frame):
        return None, None, _START, _START
    if whole_numbers.is_whole(value):
        return whole_numbers.range_of(name, arguments, keywords, minimum, maximum)
    if is_bytes(value):
        top = 1.0 if count and minimum >= 0.0 and maximum <= 1.0 else 255.0
        return (
            0.0,
            top,
            "data of 8 bits" if top > 1.0 else "all values are 0 or 1",
            None if operations.source(name) != "constant" else "a constant of the program",
        )
    if name in ("uniform",):
        low = arguments[0] if arguments else keywords.get("low", 0.0)
        high = arguments[1] if len(arguments) > 1 else keywords.get("high", 1.0)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            return float(low), float(high), "uniform draws from [%g, %g)" % (low, high), None
        return None, None, "a uniform draw", None
    if operations.source(name) == "draw":
        low, high = operations.drawn_range(name)
        return low, high, _drawn(name, low, high), None
    if operations.source(name) == "constant":
        return None, None, "a constant of the program", "a constant of the program"
    if count >= 4 and whole and minimum == 0.0 and maximum == 1.0:
        return 0.0, 1.0, "all values are 0 or 1", None
    image = image_range(value, minimum, maximum, whole, count) if value is not None else None
    if image is not None:
        return image + (None,)
    if count == 1:
        return None, None, "a literal number", "a single literal number"
    return None, None, "data of the program", None
