"""Does a part of the result depend on one part of the input only? Found out by trying: one part of
one argument is overwritten with another part of it, so that all values stay of the kind that they
were, and the result is compared with the one before."""

from fissure_worker.oracles import compare

#: By how much a part is larger than the others where that is tried.
LARGER = 16
#: Parts that are all the same: more than code for a few at once takes.
ALIKE = 9


def local(call, place, dimension_size, positions, flat):
    """True when overwriting part `j` of the tensor at `place` changes at most part `j` of the
    result, for each of `positions`, and does change it at least once; None when nothing ever
    changes; False otherwise. Parts are elements (`flat`) or rows."""
    seen = None
    for position in positions:
        arguments = call.build()
        tensor = arguments.get(place)
        changed = overwritten(tensor, position, dimension_size, flat)
        if changed is None:
            continue
        result, error = call.attempt(arguments.replace(place, changed))
        if error is not None:
            return False
        answer = only_part(call.baseline, result, position, flat)
        if answer is False:
            return False
        seen = seen or answer
    return seen


def independent(call, places, position):
    """Element `position` of the result stays what it is when all other elements of the tensors at
    `places` become the same as that one."""
    arguments = call.build()
    for place in places:
        tensor = arguments.get(place)
        alike = tensor.reshape(-1)[position].expand(tensor.shape).clone()
        arguments = arguments.replace(place, alike)
    result, error = call.attempt(arguments)
    if error is not None or not compare.is_torch(result):
        return False
    if result.shape != call.baseline.shape:
        return False
    return same(result.reshape(-1)[position], call.baseline.reshape(-1)[position])


def local_in_general(call, places, size, positions, flat):
    """`local` once more with ordinary random numbers in place of the input's own: special values hide that
    parts meet (a maximum that is not overwritten, one dominating element). Where nothing depends on such numbers (is one
    of these among those?), with the same numbers in every tensor, in another order."""
    for shared in (False, True):
        answer = local_with_ordinary(call, places, size, positions, flat, shared)
        if answer is not None:
            return answer
    return True


def local_with_ordinary(call, places, size, positions, flat, shared):
    """None where nothing changes."""
    import torch

    generator = torch.Generator().manual_seed(0)
    arguments = call.build()
    for place in places:
        tensor = arguments.get(place)
        if tensor.is_floating_point():
            if shared:
                count = tensor.numel()
                ordinary = torch.randperm(count, generator=generator).double() / count + 0.25
            else:
                ordinary = torch.rand(tensor.numel(), dtype=torch.float64, generator=generator)
                ordinary = ordinary + 0.25
            arguments = arguments.replace(place, ordinary.reshape(tensor.shape).to(tensor.dtype))
    before, error = call.attempt(arguments)
    if error is not None:
        # A domain that those numbers leave: what was seen with the input's own has to do.
        return True
    seen = None
    for place in places:
        tensor = arguments.get(place)
        trials = [(position, overwritten(tensor, position, size, flat)) for position in positions]
        trials.append((positions[0], standing_out(tensor, positions[0], flat)))
        for position, changed in trials:
            if changed is None:
                continue
            after, error = call.attempt(arguments.replace(place, changed))
            answer = None if error is not None else only_part(before, after, position, flat)
            if answer is False:
                return False
            seen = seen or answer
    return seen


def standing_out(tensor, position, flat):
    """A copy in which one part is larger than all others: what is scaled by the largest number (as numbers are that are
    quantised while they are computed with) depends on all parts, and so does a mean that is cut to a whole number."""
    name = compare.dtype_name(tensor)
    if name == "bool" or tensor.is_complex() or tensor.is_quantized:
        return None
    copy = tensor.clone()
    parts = copy.view(-1) if flat else copy
    if tensor.is_floating_point():
        parts[position] *= LARGER
    else:
        import torch

        larger = LARGER * max(1, int(tensor.max()))
        parts[position] = min(larger, torch.iinfo(tensor.dtype).max)
    return copy


def depends_on_length(call, places):
    """The first of two equal elements comes out as another than the first of three: both are too short for any loop over
    vector registers, and neither is the last, so it is the function that counts its elements."""
    results = []
    for times in (2, 3):
        arguments = call.build()
        for place in places:
            first = arguments.get(place).reshape(-1)[:1]
            arguments = arguments.replace(place, first.repeat(times))
        result, error = call.attempt(arguments)
        if error is not None or not compare.is_torch(result) or result.numel() != times:
            return False
        results.append(result.reshape(-1)[0])
    return not same(*results)


def counts_parts(call, places, flat):
    """Parts that are all the same come out as others again and again from the first on: the function is about their
    order (a causal mask, a position that is added). A defect at one end is none of the order."""
    import torch

    generator = torch.Generator().manual_seed(0)
    arguments = call.build()
    for place, tensor in call.tensors(arguments):
        if is_dense(tensor) and tensor.is_floating_point():
            # Numbers of the input may hide it.
            ordinary = torch.rand(tensor.shape, dtype=torch.float64, generator=generator) + 0.25
            arguments = arguments.replace(place, ordinary.to(tensor.dtype))
    for place in places:
        tensor = arguments.get(place)
        part = tensor.reshape(-1)[:1] if flat else tensor[:1]
        arguments = arguments.replace(place, part.repeat([ALIKE] + [1] * (part.dim() - 1)))
    result, error = call.attempt(arguments)
    if error is not None or not compare.is_torch(result) or result.shape[:1] != (ALIKE,):
        return False
    half = range(1, ALIKE // 2 + 1)
    changes = [compare.difference(result[part], result[part - 1]) is not None for part in half]
    return sum(changes) > 1


def is_dense(value):
    return (
        compare.is_torch(value) and str(value.layout) == "torch.strided" and not value.is_quantized
    )


def has_own_size(call, arguments, places):
    """The result has not as many elements as the tensors at `places`: another argument says how many."""
    result, error = call.attempt(arguments)
    if error is not None or not compare.is_torch(result):
        return False
    return any(arguments.get(place).numel() != result.numel() for place in places)


def moves(call, arguments, places):
    """With these arguments elements come out at other places than they went in: whichever element
    is overwritten, the result changes somewhere else. A kernel that is wrong at its end is wrong
    there only."""
    before, error = call.attempt(arguments)
    if error is not None or not compare.is_torch(before):
        return False
    for place in places:
        answers = []
        tensor = arguments.get(place)
        count = tensor.numel()
        for position in sorted({0, count // 2, count - 1}):
            changed = overwritten(tensor, position, count, flat=True)
            if changed is None:
                continue
            after, error = call.attempt(arguments.replace(place, changed))
            if error is None:
                answers.append(only_part(before, after, position, flat=True))
        if answers and all(answer is False for answer in answers):
            return True
    return False


def overwritten(tensor, position, size, flat):
    """A copy with part `position` replaced by another part that differs from it, or None."""
    copy = tensor.clone()
    parts = copy.view(-1) if flat else copy
    for other in range(size):
        if other != position and not same(parts[other], parts[position]):
            parts[position] = parts[other]
            return copy
    return None


def same(first, second):
    """Equal in every element, NaN included."""
    equal = (first == second) | ((first != first) & (second != second))
    return bool(equal.all())


def only_part(before, after, position, flat):
    """None: nothing changed. True: only this part. False: another part."""
    seen = None
    for (_, first), (_, second) in zip(compare.leaves(before), compare.leaves(after)):
        if not compare.is_torch(first):
            continue
        if not compare.is_torch(second) or first.shape != second.shape:
            return False
        first, second = compare.plain(first)[0], compare.plain(second)[0]
        if first.numel() == 0:
            continue
        if not flat and (first.dim() == 0 or first.shape[0] <= position):
            return False
        equal = (first == second) | ((first != first) & (second != second))
        equal = equal.reshape(-1) if flat else equal.reshape(equal.shape[0], -1)
        here = bool(equal[position].all())
        equal[position] = True
        if not bool(equal.all()):
            return False
        if not here:
            seen = True
    return seen
