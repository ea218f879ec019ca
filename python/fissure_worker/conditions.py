"""What the check that refused a call asks for, read from its source and from the values that met there.

`assert x.shape[-1] == 4` and `if len(a) != len(b): raise` say what they want, whatever their message says. The failing
condition is looked up in the source of the function that raised, its sides are computed from variables of the frame
(sizes, ranks, types, plain numbers), and what would make it hold is told as clauses: `word:what=value`. Nothing of the
target is called but what tells the size, rank and type of an array.
"""

import ast
import inspect
import itertools
import linecache
import math
import opcode

from fissure_worker.expressions import Expressions, Unknown, called, compared, is_int

#: Clauses that are told of one condition.
CLAUSES = 6
#: Lines of a function beyond which it is not read.
LINES = 2000
LARGEST = 1 << 20
OPPOSITE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
            ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
SWAPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
SORTS = {"int": "int", "float": "float", "str": "text", "bool": "bool", "list": "list", "tuple": "tuple", "dict": "dict",
         "Tensor": "tensor", "ndarray": "array", "Array": "tensor"}  # fmt: skip

#: code -> (functions' tree, first line) or None
trees = {}


def clauses(steps, given, identity):
    """Of the steps of a traceback; `given`: words of arguments by identity, `identity` that of a variable's object."""
    step = steps[-1]
    code = step.tb_frame.f_code
    if not 0 <= step.tb_lasti < len(code.co_code):
        return []
    raised = opcode.opname[code.co_code[step.tb_lasti]].startswith("RAISE")
    failed = None if raised else position(code, step.tb_lasti)
    tree = tree_of(code) if raised or failed else None
    if tree is None:
        return []
    frame = Frame(step.tb_frame, tree, given, identity)
    if raised:
        for test, wanted in conditions(tree, step.tb_lineno):
            frame.want(test, wanted)
    else:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Call, ast.BinOp, ast.Compare)) and failed == span(node):
                frame.fit(node)
    return frame.found[:CLAUSES]


def position(code, instruction):
    """Where the failing expression stands; not known before Python 3.11."""
    if not hasattr(code, "co_positions"):
        return None
    positions = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    return positions if positions and None not in positions else None


def span(node):
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def tree_of(code):
    """The source of a function, parsed, with the lines of its file."""
    if code not in trees:
        trees[code] = read_tree(code)
    return trees[code]


def read_tree(code):
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        block = "".join(inspect.getblock(lines[:LINES]))
        # Under a line of its own, so that columns stay what they are.
        body = (
            ast.parse("if 1:\n" + block).body[0].body
            if block[:1].isspace()
            else ast.parse("\n" + block).body
        )
    except Exception:
        return None
    if not body or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return ast.increment_lineno(body[0], code.co_firstlineno - 2)


def conditions(tree, line):
    """Conditions that would have let the call pass, and which way they have to come out."""
    found = []

    def look(node, around):
        if getattr(node, "lineno", line) > line or getattr(node, "end_lineno", line) < line:
            return
        if isinstance(node, ast.Assert):
            found[:] = [(node.test, True)]
        elif isinstance(node, ast.Raise):
            found[:] = around
        elif isinstance(node, ast.If):
            for child in node.body:
                look(child, [(node.test, False)])
            for child in node.orelse:
                # The last `else` of a chain: any of its conditions would have done.
                chained = len(node.orelse) == 1 and isinstance(child, ast.If)
                earlier = around if chained or any(wanted for _, wanted in around) else []
                earlier = [pair for pair in earlier if pair[1]]
                look(child, earlier + [(node.test, True)])
        else:
            blocks = isinstance(node, (ast.For, ast.While, ast.With, ast.Try))
            for child in ast.iter_child_nodes(node):
                look(child, [] if blocks else around)

    for child in tree.body:
        look(child, [])
    return found


def count(sizes):
    """Elements of a shape."""
    elements = 1
    for size in sizes:
        elements *= size
    return elements


class Frame(Expressions):
    """A frame whose function raised, and what is asked of the arguments of the call."""

    def __init__(self, frame, tree, given, identity):
        super().__init__(frame, tree, given, identity)
        self.found = []

    def tell(self, word, what, value):
        clause = "%s:%s=%s" % (word, what, value)
        if word is not None and clause not in self.found and not set(clause) & set("|;\0"):
            self.found.append(clause)

    # What a condition wants.

    def want(self, node, wanted):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.want(node.operand, not wanted)
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                # Of `a and b` that has to hold, what holds already is left alone.
                if self.truth(part) is not wanted:
                    self.want(part, wanted)
        elif isinstance(node, ast.Compare):
            sides = [node.left] + node.comparators
            for left, op, right in zip(sides, node.ops, sides[1:]):
                kind = type(op) if wanted else OPPOSITE[type(op)]
                self.compare(left, kind, right)
        elif isinstance(node, ast.Call):
            self.call(node, wanted)
        elif isinstance(node, ast.BinOp) and not wanted:
            self.compare(node, ast.Eq, ast.Constant(0))
        elif isinstance(node, ast.Attribute) and node.attr == "is_floating_point" and wanted:
            self.typed(node.value, "float32")

    def fit(self, node):
        """An operation of the library failed: what its operands have to be for it."""
        if isinstance(node, ast.BinOp):
            if not isinstance(node.op, ast.MatMult):
                self.agree(node.left, node.right)
        elif isinstance(node, ast.Compare):
            self.agree(node.left, node.comparators[0])
        elif called(node) in ("reshape", "view") and isinstance(node.func, ast.Attribute):
            self.rearrange(node)
        elif len(node.args) > 1 and any(isinstance(one, ast.Subscript) for one in node.args[:2]):
            self.agree(*node.args[:2])

    def agree(self, left, right):
        """Two operands whose sizes met and do not fit: arguments, or parts cut out of them."""
        try:
            one, other = self.cut(left), self.cut(right)
        except Unknown:
            return
        whole = isinstance(left, ast.Name) and isinstance(right, ast.Name)
        for own, theirs in ((one, other), (other, one)):
            sizes = [dimension.size for dimension in theirs]
            if whole and sizes != [dimension.size for dimension in own]:
                self.tell(own[0].word if own else None, "shape", ",".join(map(str, sizes)))
            for dimension, size in zip(reversed(own), reversed(sizes)):
                needed = dimension.needed(size)
                if not whole and needed is not None and dimension.size != size and size != 1:
                    self.tell(dimension.word, "axis", "%d,%d" % (dimension.axis, needed))

    def rearrange(self, node):
        """A tensor does not have as many elements as the shape that it is to get."""
        word = self.word(node.func.value)
        try:
            own = self.shape(node.func.value)
            sizes = [self.value(one) for one in node.args]
        except Unknown:
            return
        sizes = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
        if not all(map(is_int, sizes)) or not own or 0 in sizes or 0 in own:
            return
        if -1 not in sizes and len(sizes) >= len(own):
            # Most often the last dimension is taken apart.
            last = len(own) - 1
            self.tell(word, "shape", ",".join(map(str, sizes[:last] + [count(sizes[last:])])))
        wanted = count(size for size in sizes if size > 0)
        for axis in range(len(own) - 1, -1, -1):
            others = count(own) // own[axis]
            if -1 in sizes:
                self.tell(word, "axis", "%d,%d" % (axis, wanted // math.gcd(wanted, others)))
            elif wanted % others == 0:
                self.tell(word, "axis", "%d,%d" % (axis, wanted // others))

    def truth(self, node):
        """Whether a condition holds, as far as that is known."""
        try:
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                left, right = self.value(node.left), self.value(node.comparators[0])
                return bool(compared(type(node.ops[0]), left, right))
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                truth = self.truth(node.operand)
                return None if truth is None else not truth
        except (Unknown, TypeError, ValueError):
            pass
        return None

    def call(self, node, wanted):
        name = called(node)
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in ("all", "any") and wanted:
            # `(x >= 0).all()`, `torch.all(x >= 0)`
            inner = node.args[0] if node.args and not isinstance(inner, ast.Compare) else inner
            if isinstance(inner, ast.Compare) and len(inner.ops) == 1:
                self.elements(inner.left, type(inner.ops[0]), inner.comparators[0])
        elif name == "any" and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            self.elements(inner.left, OPPOSITE[type(inner.ops[0])], inner.comparators[0])
        elif name in ("item", "bool"):
            self.want(inner if name == "item" else node.args[0], wanted)
        elif name == "isinstance" and wanted and len(node.args) == 2:
            classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            for one in classes:
                one = getattr(one, "attr", getattr(one, "id", None))
                if one in SORTS:
                    self.tell(self.word(node.args[0]), "sort", SORTS[one])
        elif name == "is_floating_point" and wanted:
            self.typed(node.args[0] if node.args else inner, "float32")
        elif name == "is_complex" and wanted:
            self.typed(node.args[0] if node.args else inner, "complex64")
        elif name == "issubdtype" and wanted and len(node.args) == 2:
            kind = getattr(node.args[1], "attr", "")
            self.typed(node.args[0], "int64" if "int" in kind else "float32")

    def typed(self, node, dtype):
        node = node.value if isinstance(node, ast.Attribute) and node.attr == "dtype" else node
        self.tell(self.word(node), "dtype", dtype)

    def compare(self, left, kind, right):
        if kind is ast.In:
            return self.choose(left, right)
        if kind in SWAPPED:
            self.elements(left, kind, right)
        values = []
        for side in (left, right):
            try:
                values.append(self.value(side))
            except Unknown:
                values.append(None)
        one, other = values
        if kind is ast.Eq:
            self.equal(left, one, other)
            self.equal(right, other, one)
        elif is_int(one) and is_int(other):
            least = {
                ast.Gt: other + 1,
                ast.GtE: other,
                ast.Lt: other - 1,
                ast.LtE: other,
                ast.NotEq: other + 1,
            }
            most = {ast.Gt: one - 1, ast.GtE: one, ast.Lt: one + 1, ast.LtE: one}
            if kind in least and not compared(kind, one, other):
                self.solve(left, least[kind])
                if kind in most:
                    self.solve(right, most[kind])

    def equal(self, node, own, wanted):
        """A side has to become what the other one is."""
        if is_int(wanted):
            self.solve(node, wanted)
        elif isinstance(wanted, tuple) and all(map(is_int, wanted)):
            self.reshape(node, own, wanted)
        elif isinstance(node, ast.Attribute) and node.attr == "dtype" and wanted is not None:
            name = getattr(wanted, "name", getattr(wanted, "__name__", wanted))
            self.typed(node, str(name).rpartition(".")[2])
        elif isinstance(wanted, str):
            self.tell(self.word(node), "word", wanted)

    def choose(self, node, container):
        if isinstance(container, ast.Dict):
            container = ast.Tuple(container.keys, ast.Load())
        try:
            choices = self.value(container)
        except Unknown:
            return
        for choice in (
            list(choices)[:4] if isinstance(choices, (tuple, list, set, dict, frozenset)) else []
        ):
            self.equal(node, None, choice)

    def elements(self, left, kind, right):
        """A comparison of elements: with a number, or of parts of one tensor with each other."""
        for one, way, other in ((left, kind, right), (right, SWAPPED.get(kind), left)):
            name = called(one)
            of = (
                one.func.value
                if name in ("min", "max") and isinstance(one.func, ast.Attribute)
                else one
            )
            if isinstance(one, ast.Call) and of is one:
                continue
            word = self.word(of.value if isinstance(of, ast.Subscript) else of, arrays=True)
            if word is None:
                continue
            try:
                number = self.value(other)
            except Unknown:
                if isinstance(of, ast.Subscript) and isinstance(other, ast.Subscript):
                    self.tell(word, "ordered", 1)
                continue
            if isinstance(number, float) and abs(number) < LARGEST:
                number = int(number)
            if is_int(number) and way in (ast.Gt, ast.GtE):
                self.tell(word, "least", number + (way is ast.Gt))
            elif is_int(number) and way in (ast.Lt, ast.LtE):
                self.tell(word, "most", number - (way is ast.Lt))

    def reshape(self, node, own, wanted):
        """A shape, a part of one, or a tuple of sizes has to be this."""
        word, what, place = self.place(node)
        if what == "shape":
            self.tell(word, "shape", ",".join(map(str, wanted)))
        elif what == "part" and isinstance(own, tuple):
            if len(own) == len(wanted):
                for at, (had, size) in enumerate(zip(own, wanted)):
                    if had != size:
                        self.tell(word, "axis", "%d,%d" % (place + at, size))
        elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(wanted):
            for item, size in zip(node.elts, wanted):
                if self.safe_value(item) != size:
                    self.solve(item, size)

    def solve(self, node, wanted):
        """An expression of whole numbers has to become this."""
        if not abs(wanted) < LARGEST:
            return
        word, what, place = self.place(node)
        if what == "axis":
            self.tell(word, "axis", "%d,%d" % (place, wanted))
        elif what == "rank":
            self.tell(word, "rank", wanted)
        elif what == "number":
            self.tell(word, "number", "%s,%d" % (place, wanted))
        elif isinstance(node, ast.BinOp):
            one, other = self.safe_value(node.left), self.safe_value(node.right)
            if not is_int(one) or not is_int(other):
                return
            if isinstance(node.op, ast.Add):
                self.solve(node.left, wanted - other)
                self.solve(node.right, wanted - one)
            elif isinstance(node.op, ast.Sub):
                self.solve(node.left, wanted + other)
                self.solve(node.right, one - wanted)
            elif isinstance(node.op, ast.Mult):
                if other and wanted % other == 0:
                    self.solve(node.left, wanted // other)
                if one and wanted % one == 0:
                    self.solve(node.right, wanted // one)
            elif isinstance(node.op, ast.FloorDiv) and other:
                self.solve(node.left, wanted * other)
            elif isinstance(node.op, ast.Mod) and other:
                # The next multiple, or the largest number that divides.
                rest = wanted % abs(other)
                self.solve(node.left, max(one - one % abs(other), abs(other)) + rest)
                fits = (by for by in range(min(abs(other), abs(one)), 0, -1) if one % by == wanted)
                by = next(fits, None)
                if by is not None:
                    self.solve(node.right, by)
