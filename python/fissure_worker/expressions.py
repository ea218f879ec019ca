"""Expressions of a failing check: what they are of the arguments of the call, and their values.

Only what is made of sizes, ranks, types of arrays and of plain values is computed; nothing of the target is called but
what tells these.
"""

import ast

#: Variables that are followed back to what they were assigned.
FOLLOWED = 4


class Unknown(Exception):
    """A value that is not computed here."""


class Dimension:
    """One of a tensor, or of a part of one."""

    def __init__(self, word, axis, size, lower=0, upper=None):
        self.word = word
        self.axis = axis
        self.size = size
        self.lower = lower
        self.upper = upper

    def between(self, lower, upper):
        """The part from one place to another."""
        end = self.size if upper is None else min(upper, self.size)
        return Dimension(self.word, self.axis, max(0, end - lower), lower, upper)

    def needed(self, size):
        """How large the whole has to be for the part to have this size, if it can have it."""
        if self.word is None or (self.upper is not None and size + self.lower > self.upper):
            return None
        return size + self.lower


class Expressions:
    """Expressions in a frame whose function raised."""

    def __init__(self, frame, tree, given, identity):
        self.frame = frame
        self.given = given
        self.identity = identity
        arguments = tree.args
        self.params = {one.arg for one in arguments.args + arguments.kwonlyargs}
        self.params.update(one.arg for one in getattr(arguments, "posonlyargs", []))
        self.assigned = assignments(tree)

    # What an expression is.

    def place(self, node, depth=0):
        """(argument, what of it, which one): a size, a rank, a shape, a part of one, or a plain number."""
        nothing = (None, None, None)
        if depth > FOLLOWED:
            return nothing
        name = called(node)
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim"):
            return self.word(node.value), "shape" if node.attr == "shape" else "rank", None
        if name in ("dim", "ndimension") and not node.args and isinstance(node.func, ast.Attribute):
            return self.word(node.func.value), "rank", None
        if name == "size" and isinstance(node.func, ast.Attribute):
            if not node.args:
                return self.word(node.func.value), "shape", None
            axis = self.safe_value(node.args[0])
            return (self.word(node.func.value), "axis", axis) if is_int(axis) else nothing
        if name == "len" and isinstance(node.func, ast.Name) and node.args:
            word, what, _ = self.place(node.args[0], depth + 1)
            if what == "shape":
                return word, "rank", None
            return (self.word(node.args[0]), "axis", 0) if what is None else nothing
        if isinstance(node, ast.Subscript):
            word, what, _ = self.place(node.value, depth + 1)
            if what == "shape":
                index = getattr(node.slice, "value", node.slice) if isinstance(node.slice, getattr(ast, "Index", ())) else node.slice  # fmt: skip
                if isinstance(index, ast.Slice):
                    lower = 0 if index.lower is None else self.safe_value(index.lower)
                    return (
                        (word, "part", lower) if is_int(lower) and index.step is None else nothing
                    )
                index = self.safe_value(index)
                return (word, "axis", index) if is_int(index) else nothing
            return nothing
        if isinstance(node, ast.Name):
            if node.id not in self.params and node.id in self.assigned:
                value, at = self.assigned[node.id]
                if at is None:
                    return self.place(value, depth + 1)
                word, what, _ = self.place(value, depth + 1)
                return (word, "axis", at) if what == "shape" else nothing
            own = self.frame.f_locals.get(node.id)
            if is_int(own) and node.id in self.params:
                return node.id, "number", own
        return nothing

    def word(self, node, arrays=False):
        """The argument that an expression is."""
        if not isinstance(node, ast.Name):
            return None
        known = self.given.get(self.identity(self.frame, node.id))
        if known is not None:
            return known
        if arrays and not hasattr(self.frame.f_locals.get(node.id), "shape"):
            return None
        return node.id if node.id in self.params else None

    def safe_value(self, node):
        try:
            return self.value(node)
        except Unknown:
            return None

    def value(self, node):
        """Of an expression that is made of sizes, ranks, types and plain values."""
        if isinstance(node, ast.Constant):
            return node.value
        if not isinstance(node, ast.expr):
            raise Unknown
        if type(node).__name__ in ("Num", "Str", "NameConstant"):
            return getattr(node, "n", getattr(node, "s", getattr(node, "value", None)))
        if isinstance(node, ast.Name):
            return self.variable(node.id)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return tuple(self.value(item) for item in node.elts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.number(node.operand)
        if isinstance(node, ast.BinOp):
            return operated(type(node.op), self.number(node.left), self.number(node.right))
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript):
            return self.item(node)
        if isinstance(node, ast.Call):
            return self.result(node)
        raise Unknown

    def variable(self, name):
        for scope in (self.frame.f_locals, self.frame.f_globals):
            if name in scope:
                return plain(scope[name])
        raise Unknown

    def number(self, node):
        value = self.value(node)
        if type(value) not in (int, float):
            raise Unknown
        return value

    def array(self, node):
        """The object that a variable or a field of one holds."""
        if isinstance(node, ast.Name) and node.id in self.frame.f_locals:
            return self.frame.f_locals[node.id]
        if isinstance(node, ast.Attribute):
            fields = getattr(self.array(node.value), "__dict__", None)
            if isinstance(fields, dict) and node.attr in fields:
                return fields[node.attr]
        raise Unknown

    def shape(self, node):
        shape = getattr(self.array(node), "shape", None)
        try:
            return tuple(int(size) for size in shape)
        except Exception as error:
            raise Unknown from error

    def cut(self, node):
        """The dimensions of a variable, or of what constant subscripts cut out of it."""
        name = node.value if isinstance(node, ast.Subscript) else node
        shape = self.shape(name)
        whole = [Dimension(self.word(name), axis, size) for axis, size in enumerate(shape)]
        if not isinstance(node, ast.Subscript):
            return whole
        index = node.slice
        if isinstance(index, getattr(ast, "Index", ())):
            index = getattr(index, "value", index)
        parts = list(getattr(index, "elts", getattr(index, "dims", [index])))
        found = []
        for at, part in enumerate(parts):
            value = None if isinstance(part, ast.Slice) else self.value(part)
            if isinstance(part, ast.Slice):
                bounds = [0 if part.lower is None else self.value(part.lower)]
                bounds.append(None if part.upper is None else self.value(part.upper))
                if (
                    not whole
                    or part.step is not None
                    or any(is_int(one) and one < 0 for one in bounds)
                ):
                    raise Unknown
                found.append(whole.pop(0).between(*bounds))
            elif value is None:
                found.append(Dimension(None, None, 1))
            elif value is Ellipsis:
                later = [
                    one
                    for one in parts[at + 1 :]
                    if not (isinstance(one, ast.Constant) and one.value is None)
                ]
                while len(whole) > len(later):
                    found.append(whole.pop(0))
            elif is_int(value) and whole:
                whole.pop(0)
            else:
                raise Unknown
        return found + whole

    def attribute(self, node):
        if node.attr == "shape":
            return self.shape(node.value)
        if node.attr == "ndim":
            return len(self.shape(node.value))
        if node.attr == "dtype":
            return getattr(self.array(node.value), "dtype", None)
        if isinstance(node.value, ast.Name):
            # `torch.int64`, `np.float32`: element types, and classes that stand for them.
            module = self.frame.f_globals.get(node.value.id)
            known = getattr(module, "__dict__", {}).get(node.attr)
            if isinstance(known, type) or "dtype" in type(known).__name__:
                return known
        return plain(self.array(node))

    def item(self, node):
        whole = self.value(node.value)
        if not isinstance(whole, (tuple, list, dict)):
            raise Unknown
        index = node.slice
        if isinstance(index, getattr(ast, "Index", ())):
            index = getattr(index, "value", index)
        try:
            if isinstance(index, ast.Slice):
                parts = (index.lower, index.upper, index.step)
                return tuple(whole)[
                    slice(*(None if part is None else self.value(part) for part in parts))
                ]
            return plain(whole[self.value(index)])
        except (IndexError, KeyError, TypeError) as error:
            raise Unknown from error

    def result(self, node):
        name = called(node)
        if isinstance(node.func, ast.Attribute):
            if name in ("dim", "ndimension") and not node.args:
                return len(self.shape(node.func.value))
            if name == "size":
                shape = self.shape(node.func.value)
                axis = self.value(node.args[0]) if node.args else None
                try:
                    return shape if axis is None else shape[axis]
                except (IndexError, TypeError) as error:
                    raise Unknown from error
            if name in ("numel", "nelement"):
                count = 1
                for size in self.shape(node.func.value):
                    count *= size
                return count
        elif name == "len" and len(node.args) == 1:
            try:
                return self.shape(node.args[0])[0]
            except (Unknown, IndexError):
                pass
            value = self.array(node.args[0]) if isinstance(node.args[0], (ast.Name, ast.Attribute)) else self.value(node.args[0])  # fmt: skip
            if type(value) in (list, tuple, str, dict):
                return len(value)
        elif name in ("tuple", "list") and len(node.args) == 1:
            return tuple(self.value(node.args[0]))
        elif name in ("min", "max") and len(node.args) > 1:
            values = [self.number(one) for one in node.args]
            return min(values) if name == "min" else max(values)
        elif name == "int" and len(node.args) == 1:
            return int(self.number(node.args[0]))
        raise Unknown


def assignments(tree):
    """name -> (what it was assigned, its place in an unpacked tuple or None), for names that are assigned once."""
    found, twice = {}, set()

    def note(target, value, at):
        if isinstance(target, ast.Name):
            if target.id in found:
                twice.add(target.id)
            found[target.id] = (value, at)
        elif isinstance(target, (ast.Tuple, ast.List)) and at is None:
            count = len(target.elts)
            starred = [at for at, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
            pairs = isinstance(value, ast.Tuple) and len(value.elts) == count
            for place, item in enumerate(target.elts):
                if pairs:
                    note(item, value.elts[place], None)
                elif not isinstance(item, ast.Starred):
                    note(item, value, place - count if starred and place > starred[0] else place)

    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                note(target, node.value, None)
        elif isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            twice.add(node.target.id)
    return {name: one for name, one in found.items() if name not in twice}


def called(node):
    """The name of what a call calls."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def is_int(value):
    return type(value) is int


def plain(value):
    """Values that are what they are: nothing of the target is asked about others."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) in (tuple, list) or type(value).__name__ == "Size":
        return tuple(value)
    if type(value) in (dict, set, frozenset):
        return value
    raise Unknown


def operated(kind, one, other):
    try:
        if kind is ast.Add:
            return one + other
        if kind is ast.Sub:
            return one - other
        if kind is ast.Mult:
            return one * other
        if kind is ast.FloorDiv:
            return one // other
        if kind is ast.Mod:
            return one % other
        if kind is ast.Pow and abs(one) < 100 and 0 <= other < 8:
            return one**other
    except ZeroDivisionError:
        pass
    raise Unknown


def compared(kind, one, other):
    if kind in (ast.Eq, ast.Is):
        return one == other
    if kind in (ast.NotEq, ast.IsNot):
        return one != other
    if kind is ast.In:
        return one in other
    if kind is ast.NotIn:
        return one not in other
    if kind is ast.Lt:
        return one < other
    if kind is ast.LtE:
        return one <= other
    if kind is ast.Gt:
        return one > other
    return one >= other
