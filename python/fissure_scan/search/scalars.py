"""Numbers that shape a computation (sizes, scales, epsilons): what their names allow, what to try.

A number has no spread of its own to stay inside, so its name, its documented range and the value the
program gave it say what is allowed. A value outside is still tried, but what it makes fail is only a
note: nobody promised that `eps=0` works.
"""

# Category -> words of a name that belong to it, in the order they are asked.
_SKIPPED = (
    "dim",
    "dims",
    "axis",
    "seed",
    "lr",
    "momentum",
    "decay",
    "worker",
    "workers",
    "verbose",
    "port",
    "rank",
    "index",
    "idx",
    "device",
    "version",
    "year",
    "ndim",
    "stride",
    "padding",
    "dilation",
    "groups",
    "level",
    "degree",
)
# Where a schedule stands or changes: a caller counts from 0.
_COUNTS = (
    "epoch",
    "epochs",
    "step",
    "steps",
    "iteration",
    "iterations",
    "iter",
    "iters",
    "every",
    "interval",
    "warmup",
)
_PROTECTIONS = ("eps", "epsilon", "tiny", "tol", "tolerance", "jitter")
_POSITIVE = (
    "temperature",
    "temp",
    "tau",
    "scale",
    "sigma",
    "std",
    "stddev",
    "bandwidth",
    "variance",
    "var",
    "radius",
    "length",
    "lengthscale",
    "norm",
    "nu",
    "range",
    "precision",
    "sharpness",
    "kappa",
    "width",
)
_FRACTIONS = (
    "dropout",
    "prob",
    "probability",
    "keep",
    "smoothing",
    "quantile",
    "ratio",
    "fraction",
    "threshold",
)
_NOT_NEGATIVE = (
    "alpha",
    "beta",
    "gamma",
    "lambda",
    "lam",
    "weight",
    "margin",
    "penalty",
    "reg",
    "coefficient",
    "coef",
    "strength",
    "delta",
)
_SIZES = (
    "size",
    "n",
    "k",
    "num",
    "count",
    "batch",
    "classes",
    "features",
    "channels",
    "bins",
    "window",
    "hidden",
    "samples",
    "heads",
    "neighbors",
    "neighbours",
    "topk",
    "clusters",
    "points",
    "depth",
    "units",
    "components",
)
# Powers of a number: a large one overflows by its nature.
_POWERS = ("power", "exponent", "order", "p")


def category(name, value):
    """What kind of number it is by its name; None when it is not worth changing."""
    words = [word for word in name.lower().replace("-", "_").split("_") if word]
    if not words or isinstance(value, bool):
        return None
    joined = "_".join(words)
    if joined in ("learning_rate", "weight_decay", "max_norm", "num_workers"):
        return None
    for kind, known in (
        ("protection", _PROTECTIONS),
        ("skipped", _SKIPPED),
        ("count", _COUNTS),
        ("positive", _POSITIVE),
        ("fraction", _FRACTIONS),
        ("not negative", _NOT_NEGATIVE),
        ("size", _SIZES),
        ("power", _POWERS),
    ):
        if any(word in known for word in words):
            if kind == "skipped":
                return None
            if kind in ("size", "count") and isinstance(value, float):
                return "number"
            return kind
    return "size" if isinstance(value, int) else "number"


def allowed_range(kind, value):
    """(low, high, why, low is excluded) of a number that nothing but its name describes."""
    if kind == "protection":
        return 0.0, max(abs(value), 1e-3), "named like a protective constant", True
    if kind == "positive":
        return 0.0, None, "named like a scale", True
    if kind == "fraction":
        return 0.0, 1.0, "named like a fraction", True
    if kind in ("size", "count"):
        return 1.0, None, "a size" if kind == "size" else "named like a count", False
    if kind in ("not negative", "power"):
        return 0.0, None, "named like a weight" if kind != "power" else "a power", False
    if value > 0:
        return 0.0, None, "positive in the program", True
    if value < 0:
        return None, 0.0, "negative in the program", False
    return None, None, "a number of the program", False


class Scalar:
    """One number the variations may change."""

    def __init__(self, key, name, value, file, line, origin, counted):
        self.key = key
        self.name = name
        self.value = value
        self.file = file
        self.line = line
        self.origin = origin
        self.counted = counted  # an input of the program, not its own decision
        self.kind = category(name, value)
        self.open_low = False
        self.stated = False  # the range is documented or the user's, not the name's
        self.low, self.high, self.why = None, None, "a number of the program"
        self.asked = False  # the program asks about it in a condition
        if self.kind is not None:
            self.low, self.high, self.why, self.open_low = allowed_range(self.kind, value)

    def limit(self, low, high, why):
        """A range from documentation or from the user takes the place of the name's."""
        self.low, self.high, self.why, self.open_low = low, high, why, False
        self.stated = True
        if self.kind is None:
            self.kind = "number"

    def decides(self):
        """The program asks about it in a condition: 0 is one of its values. What protects and what
        divides by its nature stays above 0."""
        if self.stated or self.kind not in ("count", "size", "not negative", "fraction", "number"):
            return
        if self.low is None or self.low >= 0.0:
            self.asked = True
            self.low, self.open_low = 0.0, False
            self.why = "the program asks about it in a condition"

    def allows(self, value):
        if self.low is not None and (value < self.low or self.open_low and value == self.low):
            return False
        return self.high is None or value <= self.high

    def ratio(self, value):
        """How far a value is from the program's own, as a factor."""
        if value == 0 or self.value == 0:
            return abs(value) if self.value == 0 else 1.0
        factor = abs(float(value) / float(self.value))
        return max(factor, 1.0 / factor)

    def trials(self):
        """Values worth trying, those that are allowed first."""
        own, whole = self.value, isinstance(self.value, int)
        base = float(own) if own else 1.0
        if self.kind == "protection":
            values = [base * 1e-4, 0.0]
        elif self.kind in ("positive", "number"):
            values = [base * 1e-2, base * 1e-4, base * 1e4, 0.0]
        elif self.kind == "fraction":
            values = [base * 1e-2, 0.0, 1.0]
        elif self.kind in ("size", "count"):
            values = [1, 0]
        elif self.kind == "power":
            values = [0.0, base * 10]
        else:
            values = [0.0, base * 10, base * 1e4]
        for bound in (self.low, self.high):
            if self.stated and bound is not None and bound not in values:
                values.append(bound)
        if whole and self.kind not in ("size", "count"):
            values = [round(value) for value in values]
        chosen = []
        for value in values:
            value = int(value) if whole else float(value)
            if value != own and value not in chosen:
                chosen.append(value)
        return sorted(chosen, key=lambda value: not self.allows(value))

    def as_json(self):
        low = self.low
        return {
            "name": self.name,
            "kind": "constant" if not self.counted else "number",
            "origin": self.origin,
            "file": self.file,
            "line": self.line,
            "shape": [],
            "dtype": type(self.value).__name__,
            "low": low,
            "high": self.high,
            "why": self.why,
            "frozen": False,
        }
