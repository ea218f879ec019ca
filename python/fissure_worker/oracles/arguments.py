"""The arguments of a call, and places in them."""

#: Containers inside containers inside arguments are searched to this depth.
DEPTH = 3
#: The four parts of a call by the names they have in a check source.
PARTS = ("arguments", "keywords", "layer_arguments", "layer_keywords")


class Place:
    """Where in the arguments a value is: a part of the call, then keys from outside to inside."""

    __slots__ = ("part", "keys", "name")

    def __init__(self, part, keys, name):
        self.part = part
        self.keys = keys
        #: For people, and without numbers of one input: `input`, `item of tensors`, `argument 2`.
        self.name = name

    def __repr__(self):
        return self.name

    @property
    def expression(self):
        """The value in a check source: `keywords['weight']`."""
        return PARTS[self.part] + "".join("[%r]" % (key,) for key in self.keys)

    def assignment(self, arguments, value):
        """The statement that puts the expression `value` here. Tuples cannot be assigned to, so
        from the outermost one on everything is made anew."""
        container = arguments.part(self.part)
        target = PARTS[self.part]
        for depth, key in enumerate(self.keys):
            if isinstance(container, tuple):
                value = rebuilt(target, container, self.keys[depth:], value)
                break
            target += "[%r]" % (key,)
            container = container[key]
        return "%s = %s" % (target, value)


def rebuilt(expression, container, keys, value):
    """An expression for `container` with another value at `keys`."""
    if not keys:
        return value
    key = keys[0]
    inner = rebuilt("%s[%r]" % (expression, key), container[key], keys[1:], value)
    if isinstance(container, dict):
        return "{**%s, %r: %s}" % (expression, key, inner)
    kind = "list" if isinstance(container, list) else "tuple"
    return "%s(%s[:%d]) + %s([%s]) + %s(%s[%d:])" % (
        kind,
        expression,
        key,
        kind,
        inner,
        kind,
        expression,
        key + 1,
    )


class Arguments:
    """Positional and keyword arguments; for a layer those of its constructor, and `layer` holds
    those of the call on it."""

    __slots__ = ("positional", "keywords", "layer")

    def __init__(self, positional, keywords, layer=None):
        self.positional = positional
        self.keywords = keywords
        self.layer = layer

    def part(self, number):
        if number < 2:
            return (self.positional, self.keywords)[number]
        return self.layer[number - 2]

    def parts(self):
        """As `build()` of a reproducing script returns them."""
        if self.layer is None:
            return self.positional, self.keywords
        return self.positional, self.keywords, self.layer[0], self.layer[1]

    def get(self, place):
        value = self.part(place.part)
        for key in place.keys:
            value = value[key]
        return value

    def replace(self, place, value):
        """A copy with another value at `place`; everything else is shared."""
        parts = list(self.parts())
        parts[place.part] = with_value(parts[place.part], place.keys, value)
        return from_parts(parts)

    def values(self, names=None):
        """Every value with its place, those inside lists, tuples and dictionaries included."""
        found = []
        for number, part in enumerate(self.parts()):
            items = part.items() if isinstance(part, dict) else enumerate(part)
            for key, value in items:
                name = names(number, key) if names else None
                if name is None:
                    name = key if isinstance(key, str) else "argument %d" % (key + 1)
                collect(found, number, (key,), name, value, DEPTH)
        return found


def from_parts(parts):
    parts = list(parts)
    return Arguments(parts[0], parts[1], (parts[2], parts[3]) if len(parts) == 4 else None)


def collect(found, part, keys, name, value, depth):
    found.append((Place(part, keys, name), value))
    if not depth:
        return
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    else:
        return
    for key, item in items:
        inner = name if name.startswith("item of ") else "item of " + name
        collect(found, part, keys + (key,), inner, item, depth - 1)


def with_value(container, keys, value):
    if not keys:
        return value
    key = keys[0]
    inner = with_value(container[key], keys[1:], value)
    if isinstance(container, dict):
        copy = dict(container)
        copy[key] = inner
        return copy
    copy = list(container)
    copy[key] = inner
    if isinstance(container, list):
        return copy
    if hasattr(container, "_fields"):
        return type(container)(*copy)
    return tuple(copy)
