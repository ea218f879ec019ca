"""What decides whether two different results of one call are a change or rounding.

The result in `float64`, results for inputs that are moved in their last digits, and whether the result reads
memory that nobody has written. Asked only of calls that gave different results in two versions (see `observe`).
"""

from fissure_worker.oracles import observe as observing
from fissure_worker.oracles import uninitialised

PRICE = 12


def observe(call):
    facts = {
        "wide": None,
        "moved": [],
        "unsteady": False,
        "finite": True,
        "elementwise": False,
        "fresh": False,
    }
    if call.random:
        return facts
    wide = call.promoted_result()
    if wide is not None:
        facts["wide"] = observing.described(wide)
    for result, error in call.referee.perturbed:
        if error is not None:
            facts["unsteady"] = True
        else:
            facts["moved"].append(observing.described(result))
    facts["finite"] = bool(call.referee.has_finite_input)
    facts["elementwise"] = answered(lambda: call.is_elementwise)
    facts["fresh"] = answered(lambda: reads_fresh_memory(call))
    return facts


def answered(question):
    """Of a question that needs more of the call than it may have: no."""
    try:
        return bool(question())
    except Exception:
        return False


def reads_fresh_memory(call):
    if uninitialised.unavailable(call.library) is not None:
        return False
    first, second = (uninitialised.run(call, byte) for byte in uninitialised.BYTES)
    if first is None or second is None:
        return False
    return observing.compare.difference(second, first, exact=True) is not None
