"""Arguments that name places: does one of them name a place twice?"""

from fissure_worker.oracles import compare


def writes_twice(call, arguments):
    """The call writes to places that an argument names, and one comes twice: which write counts is open."""
    return call.has("writes index") and repeats(call, arguments)


def repeats(call, arguments):
    """A whole number comes twice in one tensor, or it cannot be told."""
    for _, tensor in call.tensors(arguments):
        if not compare.is_torch(tensor):
            return True
        whole = not tensor.is_floating_point() and not tensor.is_complex()
        if whole and tensor.unique().numel() < tensor.numel():
            return True
    return False
