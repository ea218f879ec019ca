"""Which arguments a rejection is about, in plain Python."""

from fissure_worker.involved import involved


class Array:
    """Behaves like none of the libraries', and is told from all others by what it is."""

    def __init__(self, *shape):
        self.shape = shape

    def __getitem__(self, key):
        raise IndexError("no such place")

    def __add__(self, other):
        raise ValueError("sizes differ")


def added(x, y):
    return x + y


def last_of(values):
    return values[-1]


def through_a_helper(x, y):
    return last_of(y)


def computed(x, sizes):
    width = len(sizes)
    half = width // 2
    return x, half["wide"]


def of_several(first, others):
    one = others[1]
    return first.shape, one[0]


class Layer:
    def __init__(self, width):
        self.width = width

    def __call__(self, x):
        return x + self.width


def told(function, arguments, keywords, layer=None):
    try:
        result = function(*arguments, **keywords)
        if layer is not None:
            result(*layer[0], **layer[1])
    except Exception as error:
        # As the worker's own file, which is not among the frames.
        error.__traceback__ = error.__traceback__.tb_next
        return involved(error, arguments, keywords, layer)
    raise AssertionError("%s refuses nothing" % function)


def words(*call):
    return told(*call).partition("|")[2].split(",")


x, y = Array(2), Array(3)
assert words(added, [x, y], {}) == ["#0", "#1"]
assert words(added, [x], {"y": y}) == ["#0", "y"]
assert words(through_a_helper, [x, y], {}) == ["#1"]
assert words(of_several, [x, [x, y]], {}) == ["#1"]
assert words(Layer, [Array(4)], {}, ([x], {})) == ["~0"]
# A number is one object wherever it occurs: what it was computed from is told by name.
found = words(computed, [x, [1, 2]], {})
assert found[:3] == ["half", "width", "sizes"] and "x" not in found, found
# Another line is another place.
assert told(added, [x, y], {}).partition("|")[0] != told(last_of, [y], {}).partition("|")[0]

# What no Python code raised.
try:
    len(3)
except TypeError as error:
    error.__traceback__ = None
    assert involved(error, [3], {}, None) is None

print("all of it holds")
