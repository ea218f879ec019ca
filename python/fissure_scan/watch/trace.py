"""What one run of the program did: its operations, inputs, failures and observable results."""


def version_of(value):
    """How often a tensor was changed in place; None where that is not counted (inference mode)."""
    try:
        return value._version
    except (AttributeError, RuntimeError):
        return None


class Site:
    """A place in the user's files where an operation is called."""

    __slots__ = ("file", "line", "function", "scope")

    def __init__(self, file, line, function, scope=""):
        self.file = file
        self.line = line
        self.function = function
        self.scope = scope

    def key(self):
        return (self.file, self.line, self.function)

    def as_json(self):
        return {
            "file": self.file,
            "line": self.line,
            "function": self.function,
            "scope": self.scope,
        }

    def __eq__(self, other):
        return isinstance(other, Site) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def __repr__(self):
        return "%s:%s %s" % self.key()


class Node:
    """One recorded operation. `operands` are in the order of the mathematics: `2 - x` is (2, x)."""

    __slots__ = (
        "index",
        "name",
        "function",
        "arguments",
        "keywords",
        "operands",
        "inputs",
        "output",
        "outputs",
        "site",
        "inputs_bad",
        "output_bad",
        "consumed",
        "taken",
        "drawn",
        "library",
        "version",
        "operand_versions",
    )

    def __init__(self, index, name, function, arguments, keywords, operands, inputs, site, library):
        self.index = index
        self.name = name
        self.function = function
        self.arguments = arguments
        self.keywords = keywords
        self.operands = operands
        self.inputs = inputs
        self.output = None
        self.outputs = []
        self.site = site
        self.inputs_bad = False
        self.output_bad = False
        self.consumed = False  # another operation uses the result
        self.taken = False  # the program took it out: item(), a loss
        self.drawn = False  # a parameter of a random draw
        self.library = library
        self.version = None  # of the output when it was made
        self.operand_versions = ()

    def unchanged(self):
        """Is the result still what the operation gave? It may have been changed in place since."""
        return self.version is None or version_of(self.output) == self.version

    def operands_unchanged(self):
        """Are the operands still what the operation had?"""
        return all(
            version == version_of(value)
            for version, value in zip(self.operand_versions, self.inputs)
        )


class Failure:
    """An oracle fired at a node."""

    def __init__(
        self,
        oracle,
        node,
        detail,
        arguments=None,
        keywords=None,
        output=None,
        domain=False,
        after_steps=0,
    ):
        self.oracle = oracle
        self.site = node.site
        self.name = node.name
        self.index = node.index
        self.function = node.function
        self.library = node.library
        self.detail = detail
        self.arguments = arguments
        self.keywords = keywords
        self.output = output
        # The mathematics itself has no finite answer there (log 0), wider floats do not help.
        self.domain = domain
        self.after_steps = after_steps
        self.raises = False  # an exception instead of a result
        self.also = []


class InputInfo:
    """An input the search may change."""

    def __init__(self, key, kind, name, origin, file, line, value, low, high, why):
        self.key = key
        self.kind = kind  # "source", "entering", "parameter" or "weight"
        self.name = name
        self.origin = origin
        self.file = file
        self.line = line
        self.value = value  # the program's own value
        self.low = low  # bounds of the source, None = unbounded
        self.high = high
        self.why = why
        self.frozen = False
        self.unit_length = False  # its rows are directions
        self.covariance = False  # a symmetric matrix without negative eigenvalues
        self.distribution = False  # its rows are probabilities that sum to 1
        self.made_up = False  # an argument that nothing but its name describes
        self.library = "torch"

    def shape(self):
        return list(self.value.shape)

    def dtype(self):
        return str(self.value.dtype).replace("torch.", "")


class Trace:
    def __init__(self):
        self.nodes = []
        self.producers = {}
        self.inputs = {}
        self.leaves = {}
        self.failures = []
        self.hits = {}
        self.first_hit = {}
        self.observed = []  # numbers the program took out: item(), losses
        self.stdout = ""
        self.stderr = ""
        self.optimizer_steps = 0
        self.backward_calls = 0
        self.first_backward = None  # operations before the first backward pass ended
        self.differentiated = (
            False  # a target function: a backward pass of ours went through its result
        )
        self.operations = 0
        self.stopped = None  # why the run ended before the program did
        self.error = None  # (class, message, file, line) of an exception
        self.exit_code = None
        self.given = {}  # place of a call -> was what a library gave there finite?
        self.exchanged = {}  # id of an array that got its own values back after the run -> what it had in it
        self.warned = []  # what the user's own code warned of
        self.starved = False  # stopped by the clock, while other processes had the cores
        self.place = None  # (file, line, function) of the user's code when time was over
        self.aims = {}  # site -> list of (label, distance, {key: gradient})
        self.seconds = 0.0
        self.gradient_bad = False
        self.unseen = []  # parts of the program that cannot be watched
        self.autocasts = []  # (device, dtype) of the autocast contexts the program made
        self.short_batches = False  # a loader may give a last batch of any size
        self.result = None
        self.keep = []
        self.given = {}  # id of an argument's array -> name of the parameter

    def passed_backward(self):
        self.backward_calls += 1
        if self.first_backward is None:
            self.first_backward = self.operations

    def without_data(self):
        """Are all arrays that entered the run empty?"""
        infos = [info for info in self.inputs.values() if info.kind != "weight"]
        return bool(infos) and all(0 in info.shape() for info in infos)

    def producer(self, tensor):
        return self.producers.get(id(tensor))
