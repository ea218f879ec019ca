"""The same element gives another value in a tensor of another length, or at another position.

# What it does

Takes calls that work element by element (found out by trying: overwriting one element of the input
changes that element of the result and no other), and makes them again with the same elements alone,
shifted by one place, and repeated to a longer tensor.

# Why it matters

Vectorised kernels have a body for whole vectors and a tail for the rest, often written twice.
Which of the two an element meets depends on the tensor's length and position. If they disagree,
results depend on the batch size, and tests with small tensors see one half only.

# When it stays silent

- The call is random, changes its arguments, or is not element by element.
- The tensors have different shapes, or the call does not take flat tensors.
- The result has another number of elements than the variant: an argument says how many (`expand`).
- Every element of the variant comes out at another place than it went in (`roll` by the length of
  the tensor leaves that tensor as it is, and no other).
- The difference is within the type's tolerance: vector and scalar code round differently in the
  last place. (Not of functions that give whole numbers whatever they get, such as `floor_divide`: if one of the two
  is the right whole number, the other is wrong.)

# Example

```text
exp(x)[6] != exp(x[6:])[0]   # for a tensor of 7 elements
```
"""

import functools

from fissure_worker import dtypes
from fissure_worker.oracles import compare
from fissure_worker.oracles.locality import (
    counts_parts,
    depends_on_length,
    has_own_size,
    independent,
    local,
    local_in_general,
    moves,
)

PRICE = 12
ONLY = ("torch",)
#: Elements: longer than every unrolled loop over vector registers.
LONG = 160
#: Tensors beyond this are long enough by themselves.
LIMIT = 1 << 16


def check(call):
    places = elementwise_places(call)
    if places is None:
        return
    shape = tuple(call.baseline.shape)
    count = call.baseline.numel()
    # A function that is about rows or positions refuses flat tensors, or gives something else: then
    # it is not element by element, however it looked.
    _, flat = variant(call, places, "{0}", lambda it: it)
    result, error = call.attempt(flat)
    if error is not None or not compare.is_torch(result) or result.numel() != count:
        return
    if compare.difference(result.reshape(shape), call.baseline) is not None:
        return
    whole = whole_numbers(call)
    suspect = None if whole is None else first_wrong(call.baseline, whole)
    for name, text, function, observed, expected in variants(shape, count, suspect):
        lines, changed = variant(call, places, text, function)
        stricter = None
        if whole is not None:
            right = expected[1](whole) if expected else whole
            stricter = functools.partial(one_is_right, right)
        report = call.compare_variant(name, lines, changed, observed, expected, stricter)
        if report is not None and "raises" not in report.detail:
            again = variant(call, places, text, function)[1]
            if has_own_size(call, again, places) or moves(call, again, places):
                return
            # The other variants most likely say the same again.
            yield report
            return


def whole_numbers(call):
    """The result in float64, if it is nothing but whole numbers although the arguments are not; else None."""
    reference = call.referee.reference
    if not compare.is_torch(reference) or not compare.is_inexact(call.baseline):
        return None
    if call.baseline.is_complex() or reference.shape != call.baseline.shape:
        return None
    tensors = [tensor for _, tensor in call.tensors(call.build())]
    fractional = any(
        compare.is_inexact(it) and not it.is_complex() and bool((it != it.trunc()).any())
        for it in tensors
    )
    reference = compare.wide(compare.plain(reference)[0])[0]
    finite = reference[abs(reference) < float("inf")]
    if not fractional or not finite.numel() or bool((finite != finite.trunc()).any()):
        return None
    return reference


def first_wrong(result, right):
    """The position of the first element that is not the whole number that it should be, or None."""
    values = compare.wide(compare.plain(result)[0])[0]
    places = ((abs(values - right) > 0.5) & is_exact(result, right)).reshape(-1).nonzero()
    return int(places[0]) if len(places) else None


def is_exact(result, right):
    """Where the right whole number is one of the numbers of the result's type."""
    return abs(right) <= 2.0 / dtypes.INEXACT[compare.dtype_name(result)].epsilon


def one_is_right(right, first, second):
    """The difference between two results of which only one is the right whole number, or None."""
    a, b = (compare.wide(compare.plain(it)[0])[0] for it in (first, second))
    wrong = ((a == right) != (b == right)) & is_exact(first, right) & (abs(a - b) > 0.5)
    return compare.difference(first, second, 0.0, 0.5) if bool(wrong.any()) else None


def variant(call, places, text, function):
    """(statements, arguments) with `function`, in source `text`, done to each flat tensor."""
    lines = []
    arguments = call.build()
    for place in places:
        it = place.expression + ".reshape(-1)"
        lines.append(place.assignment(arguments, text.format(it)))
        arguments = arguments.replace(place, function(arguments.get(place).reshape(-1)))
    return lines, arguments


def variants(shape, count, suspect=None):
    """(name, source, function) done to each flat tensor, then what is done to the two results. The element at the
    position `suspect` is looked at, too."""
    import torch

    times = -(-LONG // count) + 1
    yield (
        "longer",
        "torch.cat([{0}] * %d)" % times,
        lambda it: torch.cat([it] * times),
        ("%%s[-%d:].reshape(%r)" % (count, shape), lambda it: it[-count:].reshape(shape)),
        None,
    )
    yield (
        "shifted",
        "torch.cat([{0}[:1], {0}])",
        lambda it: torch.cat([it[:1], it]),
        ("%%s[1:].reshape(%r)" % (shape,), lambda it: it[1:].reshape(shape)),
        None,
    )
    positions = {count - 1, 0, count // 2, count // 3} | (
        {suspect} if suspect is not None else set()
    )
    for position in sorted(positions, reverse=True):
        there = slice(position, position + 1)
        text = "[%d:%d]" % (position, position + 1)
        yield (
            "alone",
            "{0}" + text,
            lambda it, there=there: it[there],
            ("%s.reshape(-1)", lambda it: it.reshape(-1)),
            ("%s.reshape(-1)" + text, lambda it, there=there: it.reshape(-1)[there]),
        )


def elementwise_places(call):
    """Places of the tensors of a call that works element by element, or None."""
    result = call.baseline
    if not compare.is_torch(result) or str(result.layout) != "torch.strided":
        return None
    # `index_copy` with one index leaves all other elements as they are, and looks like it.
    if call.has("about position") or call.all_dimensions and not call.has("elementwise"):
        return None
    count = result.numel()
    if not 2 <= count <= LIMIT or result.is_quantized or call.is_layer and call.draws:
        return None
    arguments = call.build()
    places = []
    for place, tensor in call.tensors(arguments):
        if not compare.is_torch(tensor) or str(tensor.layout) != "torch.strided":
            return None
        if tensor.numel() == 1:
            continue
        if tensor.shape != result.shape or not tensor.is_contiguous() or tensor.is_quantized:
            return None
        places.append(place)
    if not places or call.random or call.mutates:
        return None
    positions = sorted({count - 1, count // 2})
    answers = [local(call, place, count, positions, flat=True) for place in places]
    if False in answers or True not in answers:
        return None
    if not local_in_general(call, places, count, positions, flat=True):
        return None
    # One dominating element hides that a softmax depends on all of them.
    if not all(independent(call, places, position) for position in positions):
        return None
    # The norm of order 0 counts what is not zero, whatever it is.
    if depends_on_length(call, places) or counts_parts(call, places, flat=True):
        return None
    return places
