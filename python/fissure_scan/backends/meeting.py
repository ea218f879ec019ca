"""Numbers of NumPy that are watched, where they meet tensors.

NumPy's own scalars are floats to torch. The arrays without dimensions that stand for them here are not, and
each side leaves the operation to the other. They are numbers again before it begins.
"""

import operator


def install(owner):
    """Replaces the operators of the class of watched arrays that take two operands."""
    for reflected in [name for name in dir(owner) if name.startswith("__r")]:
        base = reflected[3:-2]
        direct, plain = "__%s__" % base, getattr(operator, base, None)
        if plain is not None and hasattr(owner, direct):
            for name, swapped in ((direct, False), (reflected, True)):
                setattr(owner, name, _method(getattr(owner, name), plain, swapped))


def _method(inherited, plain, swapped):
    def method(self, other, *modulus):
        if not self.shape and type(other).__module__.split(".")[0] == "torch":
            number = self.item()
            return plain(other, number) if swapped else plain(number, other)
        return inherited(self, other, *modulus)

    method.__name__ = inherited.__name__
    return method
