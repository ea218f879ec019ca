"""Other sizes of the program's data: a single sample, a single element, nothing at all.

Every array that the program makes, reads or is given with as many rows as its data is cut, so that
data and labels still fit each other. A program that cannot work with the new size says so by an
exception, which is no finding.
"""


class Resize:
    """How arrays are cut: those with `size` rows keep `count` of them."""

    def __init__(self, label, size, count, everywhere=False, elements=False):
        self.label = label
        self.size = size
        self.count = count
        self.everywhere = everywhere  # every axis of that size, as in a square matrix of the data
        self.elements = elements  # every axis becomes one

    def cut(self, value):
        """The array with its new size; the same object where nothing changes."""
        shape = tuple(value.shape)
        if not shape:
            return value
        if self.elements:
            return value[tuple(slice(0, 1) for _ in shape)]
        if self.everywhere:
            if self.size not in shape:
                return value
            return value[
                tuple(slice(0, self.count) if size == self.size else slice(None) for size in shape)
            ]
        return value[: self.count] if shape[0] == self.size else value

    def source(self):
        """As a Python expression for the reproducer."""
        return repr((self.size, self.count, self.everywhere, self.elements))


def variants(shapes):
    """The sizes worth trying for data of these shapes."""
    counts = {}
    for shape in shapes:
        if shape and shape[0] > 1:
            counts[shape[0]] = counts.get(shape[0], 0) + 1
    sizes = sorted(counts, key=lambda size: (-counts[size], -size))[:2]
    for size in sizes:
        yield Resize("a single sample", size, 1)
        if any(list(shape).count(size) > 1 for shape in shapes):
            yield Resize("a single sample", size, 1, everywhere=True)
    inner = {}
    for shape in shapes:
        for size in shape[1:]:
            if size > 1 and size not in sizes:
                inner[size] = inner.get(size, 0) + 1
    for size in sorted(inner, key=lambda size: (-inner[size], size))[:3]:
        yield Resize(
            "a single element in the dimension of size %d" % size, size, 1, everywhere=True
        )
    if sizes:
        yield Resize("a single element", 0, 1, elements=True)
        yield Resize("no element", sizes[0], 0)
