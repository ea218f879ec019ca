"""What a docstring says about parameters: shapes, types, ranges and choices.

The three common styles are read: NumPy's (`x : ndarray of shape (n, d)`), Google's
(`x (Tensor): logits of shape (batch, classes)`) and Sphinx's (`:param x:`, `:type x:`).
"""

import re

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf)"
_SHAPE = re.compile(
    r"(?:shape|size|dimensions?|of shape|\bTensor|\bndarray|\barray)\s*(?:is|of|=|:)?"
    r"\s*``?[\(\[]([^()\[\]]*)[\)\]]|(?:shape|size|dimensions?|of shape|\bTensor|"
    r"\bndarray|\barray)\s*(?:is|of|=|:)?\s*[\(\[]([^()\[\]]*)[\)\]]",
    re.I,
)
# `logits (batch_size, num_classes)`: words that can only be sizes.
_SIZES = re.compile(
    r"\(((?:(?:batch\w*|\w+_(?:size|dim|length|features|channels)|num_\w+|n_\w+)\s*,\s*)+"
    r"(?:batch\w*|\w+_(?:size|dim|length|features|channels)|num_\w+|n_\w+))\)",
    re.I,
)
# `x: (batch, time, dim) features`: the text begins with its sizes.
_LEADING = re.compile(
    r"\s*[\(\[]\s*((?:[A-Za-z_]\w*|\d+)(?:\s*,\s*(?:[A-Za-z_]\w*|\d+))*\s*,?)\s*[\)\]]"
)
_NO_SIZES = frozenset(
    "optional default required float int bool str string list tuple dict tensor array none true false "
    "keyword positional callable deprecated".split()
)
_LOGITS = re.compile(
    r"\blogits?\b|\bunnormali[sz]ed (?:scores?|log|predictions?|outputs?)|\braw (?:scores?|outputs?|predictions?)\b"
    r"|\b(?:before|without|no) (?:the |a )?(?:softmax|sigmoid)\b",
    re.I,
)
_INTERVAL = re.compile(
    r"(?:in|range|between|within|interval|from|values?)\s*(?:of|in|the range|is)?"
    r"\s*[:=]?\s*([\[\(\]])\s*(%s)\s*,\s*(%s)\s*([\]\)\[])" % (_NUMBER, _NUMBER),
    re.I,
)
_BETWEEN = re.compile(r"(?:between|from)\s+(%s)\s+(?:and|to)\s+(%s)" % (_NUMBER, _NUMBER), re.I)
_ABOVE = re.compile(r"(?:>|greater than|larger than|above|more than)\s*(%s)" % _NUMBER, re.I)
_AT_LEAST = re.compile(r"(?:>=|≥|at least|no less than)\s*(%s)" % _NUMBER, re.I)
_BELOW = re.compile(r"(?:<=?|≤|less than|smaller than|below|at most)\s*(%s)" % _NUMBER, re.I)
_UNIT_LENGTH = re.compile(
    r"\bunit[- ](?:length|norm|vectors?|quaternions?|directions?)\b|\bl2[- ]normali[sz]ed\b"
    r"|\bnormali[sz]ed (?:quaternions?|vectors?|directions?|axis|axes)\b",
    re.I,
)
_COVARIANCE = re.compile(
    r"\bcovariance (?:matri|of\b)|\bpositive[- ](?:semi[- ]?)?definite\b|\bspd matri", re.I
)
_DISTRIBUTION = re.compile(
    r"\bprobability (?:vectors?|distributions?|simplex)\b|\bprobabilities of \w+ distributions?\b"
    r"|(?<!of the )(?<!of a )(?<!of )(?:\b(?:data|target|source|prior|approximate|predicted|reference|true|discrete)"
    r"|\(discrete\)) distributions?\b(?! of)",
    re.I,
)
# Labels of two classes, perhaps softened: never outside of 0 and 1.
_BINARY = re.compile(
    r"\bbinary (?:\w+ )?(?:labels?|targets?|masks?|values?|ground truth)\b|\b(?:multi|one)[- ]?hot\b|\{0, ?1\}"
    r"|\b(?:event|censoring) indicators?\b|\bindicators? of (?:an? |the )?(?:events?|censoring)\b"
    r"|\b0(?:/1\b| or 1\b| for \w[^.;]{0,40} and 1 for\b)|\bzeros? (?:and|or) ones?\b",
    re.I,
)
# A class, not a sign.
_POSITIVE = re.compile(
    r"\bpositive\b(?![- ](?:(?:and|or|vs\.?|versus) negative|class\w*|labels?|samples?|examples?|pairs?|keys?"
    r"|anchors?|ones|images?|rate|predictions?|weights? of|semi|definite))",
    re.I,
)
# What the text begins with is what it describes.
_SPREAD = re.compile(
    r"\W*(?:the |a )?(?:\w+(?<!log) )?(?:variances?|standard deviations?)\b(?! (?:reduction|explained|threshold))",
    re.I,
)
_BASE = re.compile(r"\bbase of (?:the |a )?logarithms?\b|\blogarithm(?:ic)? base\b", re.I)
_CHOICES = re.compile(r"\{\s*((?:['\"][^'\"]*['\"]\s*,?\s*)+)\}")
_DTYPES = (
    ("bfloat16", "bfloat16"),
    ("float16", "float16"),
    ("half", "float16"),
    ("float64", "float64"),
    ("double", "float64"),
    ("float32", "float32"),
    ("uint8", "uint8"),
    ("longtensor", "int64"),
    ("int64", "int64"),
    ("int32", "int32"),
    ("bool", "bool"),
)


_SECTIONS = (
    "args:",
    "arguments:",
    "keyword arguments:",
    "keyword args:",
    "parameters:",
    "inputs:",
    "shape:",
)

# Names of fewer letters are other things in a sentence.
_TELLING = 3


class Facts:
    """What is known about one parameter; everything may be unknown."""

    def __init__(self):
        self.text = ""
        self.type = ""
        self.shape = None  # tuple of sizes and symbols
        self.dtype = None
        self.low = None
        self.high = None
        self.open_low = False
        self.choices = []
        self.whole = False  # integers: class indices, counts
        self.unit_length = False  # its rows are directions
        self.covariance = False  # a symmetric matrix without negative eigenvalues
        self.binary = False  # labels that are 0, 1 or between
        self.logits = False  # no probabilities, whatever it is called
        self.distribution = False  # its rows are probabilities that sum to 1

    def array(self):
        words = self.type.lower()
        return self.shape is not None or any(
            word in words for word in ("tensor", "array", "matrix", "vector")
        )

    def bounded(self):
        return self.low is not None or self.high is not None


def parse(text):
    """Parameter name -> Facts."""
    if not text:
        return {}
    lines = text.expandtabs().splitlines()
    described = {}
    for reader in (_numpy, _google, _sphinx):
        for name, type_text, body in reader(lines):
            facts = described.setdefault(name, Facts())
            facts.type = facts.type or type_text.strip()
            facts.text = (facts.text + " " + body).strip()
    for facts in described.values():
        _read(facts)
    return described


def mentioned(text, names):
    """Parameter -> Facts of those that a sentence gives a range, outside of any list: `actions in [-1, 1]`."""
    found = {}
    for name in names:
        if len(name) < _TELLING:
            continue
        words = (
            r"\b%s(?:e?s)?\b[\s`*]+(?:(?:is|are|lies?|values?|must be|should be)\s+)*"
            % re.escape(name)
        )
        for match in re.finditer(words, text or "", re.I):
            interval = _INTERVAL.match(text, match.end())
            if interval:
                opening, low, high, _ = interval.groups()
                facts = found[name] = Facts()
                facts.low, facts.high, facts.open_low = _bound(low), _bound(high), opening in "(]"
        if name not in found:
            facts = _bounded_below(name, text or "")
            if facts is not None:
                found[name] = facts
    return found


def of_all(text):
    """What a sentence says of all arguments: `all inputs have entries between -0.3 and 0.3`; None where none does."""
    clause = re.search(
        r"\b(?:all|both) (?:inputs|arguments|arrays|tensors|points)\b((?:[^.;\n]|\.\d)*)",
        text or "",
        re.I,
    )
    interval = clause and (_INTERVAL.search(clause.group(1)) or _BETWEEN.search(clause.group(1)))
    if not interval:
        return None
    facts = Facts()
    ends = [part for part in interval.groups() if re.match(r"%s$" % _NUMBER, part or "")]
    facts.low, facts.high = map(_bound, ends)
    return facts


def _bounded_below(name, text):
    """`dof is the number of degrees of freedom (> 0)`, `the rate must be above 0.5`."""
    clause = re.search(
        r"\b%s\b[`*]*\s+(?:is|are|must be|should be)\s+((?:[^.;\n]|\.\d)*)" % re.escape(name),
        text,
        re.I,
    )
    if clause is None:
        return None
    for part in [clause.group(1)] + re.findall(r"\(([^()]*)\)", clause.group(1)):
        for pattern, opened in ((_AT_LEAST, False), (_ABOVE, True)):
            bound = pattern.match(part.strip())
            if bound:
                facts = Facts()
                facts.low, facts.open_low = _bound(bound.group(1)), opened
                return facts
    return None


def inline(text, names):
    """Parameter -> Facts of those that a line or a part of one describes, outside of any list: `query, key: (batch, time,
    size)`."""
    found = {}
    for part in re.split(r"[;\n]", text or ""):
        head, colon, said = part.partition(":")
        described = [word.strip().strip("`*") for word in head.split(",")]
        if colon and said.strip() and all(word in names for word in described):
            for word in described:
                facts = found.setdefault(word, Facts())
                facts.text = said.strip()
                _read(facts)
    return found


def _indent(line):
    return len(line) - len(line.lstrip())


def _numpy(lines):
    """`Parameters` underlined with dashes; entries at the heading's own indentation."""
    for position in range(len(lines) - 1):
        if lines[position].strip().lower() not in ("parameters", "other parameters", "attributes"):
            continue
        if not re.match(r"\s*-{3,}\s*$", lines[position + 1]):
            continue
        base = _indent(lines[position])
        names, type_text, body = [], "", []
        for index in range(position + 2, len(lines) + 1):
            line = lines[index] if index < len(lines) else None
            over = (
                line is None
                or (line.strip() and _indent(line) < base)
                or (index + 1 < len(lines) and re.match(r"\s*-{3,}\s*$", lines[index + 1]))
            )
            if over or line.strip() and _indent(line) == base:
                for name in names:
                    yield name, type_text, " ".join(body)
                if over:
                    break
                head, _, type_text = line.strip().partition(":")
                names = [part.strip().lstrip("*") for part in head.split(",")]
                body = []
            elif line.strip():
                body.append(line.strip())


def _google(lines):
    """`Args:` with indented entries `name (type): text`, or `name {type} -- text` as editors make them."""
    entry = re.compile(r"\s*\*{0,2}(\w+)\s*(?:\(([^)]*(?:\([^)]*\)[^)]*)*)\))?\s*:\s*(.*)$")
    braced = re.compile(r"\s*\*{0,2}(\w+)\s*\{([^}]*)\}\s*--?\s*(.*)$")
    for position, line in enumerate(lines):
        if line.strip().lower() not in _SECTIONS:
            continue
        base, level = _indent(line), None
        name, type_text, body = None, "", []
        for inner in lines[position + 1 :] + [""]:
            if inner.strip() and _indent(inner) <= base:
                break
            if not inner.strip():
                continue
            if level is None:
                level = _indent(inner)
            match = None
            if _indent(inner) <= level:
                match = braced.match(inner) or entry.match(inner)
            # PyTorch writes `- x: (N, C)` in its section about shapes.
            if match is None and inner.strip().startswith("- ") and _indent(inner) <= level:
                match = entry.match(inner.strip()[2:])
            if match:
                if name:
                    yield name, type_text, " ".join(body)
                name, type_text = match.group(1), match.group(2) or ""
                body = [match.group(3)]
                if line.strip().lower() == "shape:":
                    body = ["shape " + match.group(3).replace(":math:", "").replace("`", "")]
            else:
                body.append(inner.strip())
        if name:
            yield name, type_text, " ".join(body)


def _sphinx(lines):
    field = re.compile(
        r"\s*:(param|parameter|arg|type)\s+(?:([\w.\[\], ]+)\s+)?\*{0,2}(\w+)\s*:\s*(.*)$"
    )
    current = None
    for line in lines + [""]:
        match = field.match(line)
        if match or not line.strip() or line.strip().startswith(":"):
            if current:
                yield current
            current = None
        if match:
            kind, type_text, name, body = match.groups()
            current = (name, body, "") if kind == "type" else (name, type_text or "", body)
        elif current and line.strip():
            current = current[:2] + (current[2] + " " + line.strip(),)


def _read(facts):
    # Sphinx marks formulas and code: :math:`(N, C)`, ``(N, C)``.
    text = re.sub(r":\w+:(?=`)", "", facts.type + " " + facts.text).replace("`", "")
    lower = text.lower()
    match = _SHAPE.search(text)
    if match is None and facts.array():
        match = re.search(r"[\(\[]((?:\w+\s*,\s*)+\w*|\w+,)[\)\]]", text)
    if match is None:
        match = _SIZES.search(text) or _leading_sizes(facts.text)
    if match:
        facts.shape = _sizes(next(group for group in match.groups() if group is not None))
    for word, dtype in _DTYPES:
        if word in lower:
            facts.dtype = dtype
            break
    if any(
        word in lower
        for word in (
            "class ind",
            "class label",
            "indices",
            "integer label",
            "longtensor",
            "int64",
            "int tensor",
            "integers",
        )
    ):
        facts.whole = True
    match = _CHOICES.search(text)
    if match:
        facts.choices = re.findall(r"['\"]([^'\"]*)['\"]", match.group(1))
    facts.binary = _BINARY.search(text) is not None
    facts.unit_length = _UNIT_LENGTH.search(text) is not None
    facts.covariance = _COVARIANCE.search(text) is not None
    facts.logits = (
        _LOGITS.search(text) is not None
        and re.search(r"\bprobabilit(?:y|ies)\b", lower) is None
        and not facts.binary
    )
    facts.distribution = _DISTRIBUTION.search(text) is not None and "log" not in lower
    _range(facts, text, lower)


def _leading_sizes(text):
    match = _LEADING.match(text)
    if match is None or "," not in match.group(1):
        return None
    words = re.findall(r"[a-z_]\w*", match.group(1).lower())
    return None if _NO_SIZES.intersection(words) else match


def _sizes(text):
    sizes = []
    for part in text.split(","):
        part = part.strip().strip("`'\"")
        if not part or part in ("*", "...", "…"):
            continue
        if part.isdigit():
            sizes.append(int(part))
        elif re.match(r"^[\w*+\-/ ]+$", part):
            sizes.append(part)
        else:
            return None
    return tuple(sizes)


def _range(facts, text, lower):
    if facts.binary and facts.dtype != "bool":
        facts.low, facts.high = 0.0, 1.0
        return
    match = _INTERVAL.search(text)
    if match:
        opening, low, high, _ = match.groups()
        facts.low, facts.high = _bound(low), _bound(high)
        facts.open_low = opening in "(]"
        return
    match = _BETWEEN.search(text)
    if match:
        facts.low, facts.high = _bound(match.group(1)), _bound(match.group(2))
        return
    if re.search(r"\bprobabilit(y|ies)\b", lower) and "log" not in lower:
        facts.low, facts.high = 0.0, 1.0
    elif re.search(r"\bnon-?negative\b|\bnot negative\b|\bhistograms?\b", lower):
        facts.low = 0.0
    elif _SPREAD.match(facts.text):
        facts.low, facts.open_low = 0.0, True
    elif _BASE.search(text):
        facts.low, facts.open_low = 1.0, True
    elif _POSITIVE.search(text):
        facts.low, facts.open_low = 0.0, True
    match = _AT_LEAST.search(text)
    if match:
        facts.low, facts.open_low = _bound(match.group(1)), False
    else:
        match = _ABOVE.search(text)
        if match:
            facts.low, facts.open_low = _bound(match.group(1)), True
    match = _BELOW.search(text)
    if match:
        facts.high = _bound(match.group(1))


def _bound(text):
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else value
