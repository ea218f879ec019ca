"""The same call in `float64`: what a result in a lower precision is measured by."""

import contextlib

from fissure_worker import dtypes
from fissure_worker.oracles import compare

#: Element types that have a wider one.
NARROW = frozenset(name for name in dtypes.INEXACT if dtypes.wider(name))


def promoted(call, arguments):
    """(arguments with tensors and dtypes of low precision made wide, the statements that do it);
    (None, []) when there is nothing of low precision."""
    lines = []
    for place, value in arguments.values(call.parameter):
        if compare.is_torch(value) and compare.dtype_name(value) in NARROW:
            name = dtypes.wider(compare.dtype_name(value))
            wide = value.to(getattr(library(), name))
            text = "%s.to(torch.%s)" % (place.expression, name)
        elif compare.is_numpy(value) and compare.dtype_name(value) in NARROW:
            name = dtypes.wider(compare.dtype_name(value))
            wide = value.astype(name)
            text = "%s.astype(%r)" % (place.expression, name)
        elif arguments.layer is not None and place.part < 2:
            # The weights are drawn in the type that was asked for, and made wide then: drawn in another, they
            # would be other numbers.
            continue
        elif type(value).__name__ == "dtype" and str(value).rpartition(".")[2] in NARROW:
            name = dtypes.wider(str(value).rpartition(".")[2])
            wide = getattr(library(), name)
            text = "torch.%s" % name
        else:
            continue
        lines.append(place.assignment(arguments, text))
        arguments = arguments.replace(place, wide)
    if not lines and arguments.layer is None:
        return None, []
    return arguments, lines


def library():
    import torch

    return torch


def promoted_result(call, arguments=None):
    """The result in `float64`, or None when the call takes none or is in `float64` already. `arguments`: others
    than those of the call, made for this."""
    narrow = call.build() if arguments is None else arguments
    wide, _ = promoted(call, narrow)
    if wide is None:
        wide = with_wide_integers(call, narrow)
    if wide is None:
        return None
    with narrow_constants(call, narrow):
        result, error = call.attempt(wide, change_layer=widened)
    return None if error is not None else result


@contextlib.contextmanager
def narrow_constants(call, arguments):
    """A function may take a bound from its element type (`finfo(x.dtype).eps`): in the wider type it is to take the same
    one, or it would be another function."""
    finfo = getattr(call.library, "finfo", None)
    names = [compare.dtype_name(tensor) for _, tensor in call.tensors(arguments)]
    names = [name for name in names if name in NARROW]
    if finfo is None or not names:
        yield
        return
    largest = max(names, key=lambda name: dtypes.INEXACT[name].largest)
    narrow = finfo(getattr(call.library, largest))
    widest = str(dtypes.wider(largest))

    def same(dtype=None, **keywords):
        info = finfo(dtype, **keywords) if dtype is not None else finfo(**keywords)
        return narrow if str(info.dtype).rpartition(".")[2] == widest else info

    call.library.finfo = same
    try:
        yield
    finally:
        call.library.finfo = finfo


def with_wide_integers(call, arguments):
    """Integers are computed with in the library's default precision where the result is a float: the
    same numbers in `float64`, or None when there are none."""
    found = False
    for place, value in arguments.values(call.parameter):
        if compare.is_torch(value) and compare.dtype_name(value) in dtypes.INTEGERS:
            arguments = arguments.replace(place, value.to(library().float64))
            found = True
    return arguments if found else None


def widened(layer):
    """A layer with its weights in `float64`."""
    return layer.double() if hasattr(layer, "double") else layer


def call_source(call):
    """`{call}` for the promoted arguments: a layer's weights are made wide between its making and
    its call."""
    if not call.is_layer:
        return "{call}"
    return "%s(*arguments, **keywords).double()(*layer_arguments, **layer_keywords)" % call.path
