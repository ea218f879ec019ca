"""What a function is compared with."""

_ATTRIBUTE = "__fissure_reference__"


def reference(function):
    """`@fissure.reference(g)`: for the same arguments, `g` says what the result should be.

    The decorated function is returned as it is; `fissure.fuzz` and the pytest plugin read the mark.
    """
    if not callable(function) and not isinstance(function, str):
        raise TypeError("reference takes a function, or its name as in `package.module:function`")

    def mark(marked):
        setattr(marked, _ATTRIBUTE, function)
        return marked

    return mark


def reference_of(function):
    """What `@fissure.reference` said about a function; None where it said nothing."""
    return getattr(function, _ATTRIBUTE, None)
