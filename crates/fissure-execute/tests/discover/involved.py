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
        if width == 0:
            raise ValueError("no width")
        self.width = width

    def __call__(self, x):
        return x + self.width


def checked(x, least):
    if x.shape[0] < least:
        raise ValueError("too few")
    if x.shape[0] > 9:
        raise ValueError("too many")
    return last_of(x)


def told(function, arguments, keywords, layer=None):
    result = None
    try:
        result = function(*arguments, **keywords)
        if layer is not None:
            result(*layer[0], **layer[1])
    except Exception as error:
        # As the worker's own file, which is not among the frames.
        error.__traceback__ = error.__traceback__.tb_next
        return involved(error, arguments, keywords, layer, layer and result is not None)
    raise AssertionError("%s refuses nothing" % function)


def words(*call):
    return told(*call).split("|")[1].split(",")


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
assert told(added, [x, y], {}).split("|")[0] != told(last_of, [y], {}).split("|")[0]


# A call that passed more checks came further: the same function at a later instruction, or further in.
def way(*call):
    made, *steps = told(*call).split("|")[0].split(";")
    return [int(made)] + [tuple(map(int, step.split("."))) for step in steps]


few, many, refused = (way(checked, [Array(size), 2], {}) for size in (1, 12, 5))
assert few[1][0] == many[1][0] == refused[1][0] and few < many < refused, (few, many, refused)
assert len(refused) > len(many) == 2, (many, refused)
assert way(Layer, [0], {}, ([x], {}))[0] == 0 and way(Layer, [x], {}, ([x], {}))[0] == 1

# What no Python code raised.
try:
    len(3)
except TypeError as error:
    error.__traceback__ = None
    assert involved(error, [3], {}, None) is None

print("all of it holds")
