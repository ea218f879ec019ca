"""Sentences about a parameter into constraints, by the rules of `phrases.py`.

A constraint is a dictionary: `key` and `value` as in constraint files, the `sentence` it was read
from, the `rule` that read it, and how sure that is (`confidence`).
"""

import re

from fissure_worker import texts
from fissure_worker.discover import choices, makers, phrases
from fissure_worker.discover.type_texts import fill, leading_types, type_text

MOST_SENTENCES = 24
#: How often one rule reads one sentence.
MOST_MATCHES = 4
#: Text that ends with these is no end of a sentence.
ABBREVIATIONS = ("e.g", "i.e", "etc", "vs", "w.r.t", "approx", "resp", "dim", "cf", "fig", "eq")
END = re.compile(r"(?<=[.;!?])\s+(?=[A-Z0-9`'\"(\[:*-])|\s+(?:-|\*|•)\s+(?=[A-Z`])")
MARKUP = (
    # A link is a word of the sentence, not code.
    (re.compile(r":(?:ref|doc|term):`~?([^`<]*?)(?:\s*<[^>]*>)?`"), r"\1"),
    (re.compile(r":(?:attr|class|func|meth|obj|data|mod|paramref|py:\w+):`~?\.?([^`<]*?)(?:\s*<[^>]*>)?`"), r"`\1`"),
    (re.compile(r"\\(?:text|textit|mathrm|mathbf|mathit|mbox)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"\\(?:geq?|geqslant)\b"), ">="),
    (re.compile(r"\\(?:leq?|leqslant)\b"), "<="),
    (re.compile(r"\\times\b"), "*"),
    (re.compile(r"\\(?:ldots|dots|cdots)\b"), "..."),
    (re.compile(r"\\(?:infty|inf)\b"), "inf"),
    (re.compile(r"\\_"), "_"),
    (re.compile(r"\\[,;! ]"), " "),
    (re.compile(r"[\u2013\u2014]"), "-"),
)  # fmt: skip
DEFAULT = re.compile(
    r"(?:^|[\s(,.])\(?[Dd]efaults?(?: value)?\s*(?:to|is|:|=)?\s*:?\s*(?P<value>``?[^`]+``?|'[^']*'|\"[^\"]*\"|-?[\w.\-]+)"
)


def compiled():
    words = dict(phrases.WORDS)
    words["param"] = r"\w+"
    made = []
    for name, pattern, constraints, confidence in phrases.RULES:
        pattern = fill(pattern, words)
        made.append((name, re.compile(pattern, re.IGNORECASE), constraints, confidence))
    return made


RULES = compiled()


def plain(text):
    """Without the marks of Sphinx and LaTeX that stand between the words."""
    for pattern, into in MARKUP:
        text = pattern.sub(into, text)
    return re.sub(r"\s+", " ", text).strip()


def split(text):
    """Sentences, cut where a stop is one."""
    pieces = END.split(text)
    joined = []
    for piece in pieces:
        before = joined[-1].rstrip(".").lower() if joined else ""
        if joined and before.endswith(ABBREVIATIONS):
            joined[-1] += " " + piece
        else:
            joined.append(piece)
    return [one.strip() for one in joined if one and one.strip()][:MOST_SENTENCES]


def constraint(key, value, sentence, rule, confidence):
    return {
        "key": key,
        "value": value,
        "sentence": sentence[:200],
        "rule": rule,
        "confidence": confidence,
    }


def extract(name, kind, text, params=(), default=None):
    """All that is written about the parameter `name`: its type's text, its description, its
    default. `params` are the names of the API's parameters."""
    found = []

    def add(*facts):
        return found.append(constraint(*facts))

    typed = type_text(plain(kind or ""), add)
    text = plain(text or "")
    for at, sentence in enumerate(split(text)):
        sentence = sentence.rstrip(" .")
        if at < 2:
            leading_types(sentence, add)
        from_sentence(sentence, set(params) | {name}, name, add)
    choices.extract(name, text, add)
    if default is None:
        default = documented_default(text)
    if default is None:
        default = documented_default(plain(kind or ""))
    if default is not None:
        from_default(str(default), add, found)
    return settle(without_refuted(found, default, text), typed)


#: What stands before the description itself: `Optional.`, `If given, `
LEADING_CLAUSE = re.compile(
    r"^(?:\(?optional\)?[,.:]?\s*)?(?:(?:[A-Z]\w+ )?[Pp]aram(?:eter)?s?: )?(?:if (?:given|specified|provided|set|present|not none),\s*(?=(?:the|an?|number|size|length|maximum|minimum)\b))?",
    re.IGNORECASE,
)


def from_sentence(sentence, params, own, add):
    shown = LEADING_CLAUSE.sub("", NUMBER_WORD.sub(numeral, sentence))
    for name, pattern, constraints, confidence in RULES:
        for match in list(pattern.finditer(shown))[:MOST_MATCHES]:
            groups = match.groupdict()
            if "p" in groups:
                wanted = known_param(groups["p"], params)
                if wanted is None or wanted == own:
                    continue
                if name == "of that type" and wanted.lower() in phrases.DTYPES:
                    continue
            if name in phrases.ABOUT_OTHERS and others(sentence, own):
                continue
            if name in phrases.UNCONDITIONAL:
                if CONDITION.match(shown) or EXAMPLE.search(shown[: match.start()]):
                    continue
            if name in phrases.OF_THE_WHOLE and OTHER_SUBJECT.match(shown):
                continue
            if name == "positive" and re.search(r"(?<!non-)(?<!non)negative", shown, re.IGNORECASE):
                continue
            before = shown[: match.start()]
            if name.startswith("interval") and MADE_SO.search(before):
                continue
            if name == "with shape" and OF_ANOTHER.search(before):
                continue
            if name in phrases.OF_THE_WHOLE and OF_ONE_DIMENSION.search(before):
                continue
            if name in (">=", "> number") and OF_A_MEASURE.search(before):
                continue
            made = {key: values_of(values, match) for key, values in constraints.items()}
            if not made.get("enum", True) or set(made.get("enum", ())) & (params - {own}):
                # What looked like choices was none, or parameters: then it is no text either.
                continue
            if name == "interval of names":
                made["range"] = [one for one in made["range"] if refers(one, params - {own})]
            for key, values in made.items():
                for value in values:
                    add(key, value, sentence, name, confidence)


#: A number in words where a comparison ends.
NUMBER_WORD = re.compile(
    r"\b(than|than or equal to|at least|at most|equal to) (zero|one|two)\b(?= ?$| ?[,.;)]| and\b| dimension)"
)


def numeral(match):
    return "%s %d" % (match.group(1), ("zero", "one", "two").index(match.group(2)))


def refers(text, params):
    """Are all the names in a constraint those of other parameters?"""
    return all(name in params for name in re.findall(r"&(\w+)", text))


def values_of(values, match):
    made = []
    for value in values:
        made.extend(makers.MAKERS[value[1:]](match) if value[0] == "@" else [match.expand(value)])
    return made


#: A sentence that begins so tells of one case, of an example or of the default.
CONDITION = re.compile(
    r"(?:if|when|setting|for example|e\.g\.|for instance|the default\b)", re.IGNORECASE
)
#: What is brought into an interval may have been outside.
MADE_SO = re.compile(
    r"\b(?:clipped|clamped|scaled|normalized|rescaled|mapped|converted)\b", re.IGNORECASE
)
EXAMPLE = re.compile(r"\be\.g\.|\bfor example\b|\bfor instance\b|\brandom value\b", re.IGNORECASE)
#: A sentence that is about a measure of the value, and not about the value.
OTHER_SUBJECT = re.compile(
    r"(?:the |its |their )?(?:rank|length|size|shape|last|innermost|number of dim\w*)\b",
    re.IGNORECASE,
)


#: What has the shape that follows is not the argument.
OF_ANOTHER = re.compile(
    r"\bfrom an? (?:expected )?input$|\bfrom an? (?:expected )?input (?:tensor )?$|\binto an? (?:\w+ ){1,3}$|\boutputs? $",
    re.IGNORECASE,
)
OF_A_MEASURE = re.compile(
    r"\b(?:length|size|rank|ndim|dimensions?)(?: of| is| must be)? ?`{0,2}$", re.IGNORECASE
)
OF_ONE_DIMENSION = re.compile(
    r"\b(?:last|first|second|third|inner-?most|each|every) (?:\w+ )?dimensions?\b[^,;:]{0,12}$",
    re.IGNORECASE,
)


def others(sentence, own):
    """Does the sentence name something else in code marks?"""
    named = re.findall(r"`+([A-Za-z_]\w*)`+", sentence)
    return any(one != own and one.lower() not in TYPE_WORDS for one in named)


TYPE_WORDS = frozenset(
    list(phrases.DTYPES) + list(phrases.STRUCTURES) + list(phrases.OTHER_TYPES) + ["true", "false"]
)


def known_param(word, params):
    return word if word in params else None


def documented_default(text):
    match = DEFAULT.search(text)
    return match.group("value").strip("`") if match else None


def from_default(value, add, found):
    """A default is a value that fits: its sort, and that it is one number."""
    value = value.strip().rstrip(".")
    sentence = "default %s" % value
    known = {one["key"] for one in found if "&" not in one["value"]}
    literal = texts.literal(value)
    if isinstance(literal, bool):
        add("dtype", "bool", sentence, "default", 0.95)
        add("ndim", "0", sentence, "default", 0.95)
    elif isinstance(literal, (int, float)):
        if "dtype" not in known:
            kind = "int" if isinstance(literal, int) else "float"
            add("dtype", kind, sentence, "default", 0.85)
        if "structure" not in known and "tensor_t" not in known:
            add("ndim", "0", sentence, "default", 0.85)
    elif isinstance(literal, (tuple, list)) and literal:
        kind = "tuple" if isinstance(literal, tuple) else "list"
        if "structure" not in known:
            add("structure", kind, sentence, "default", 0.85)
        if "dtype" not in known and all(type(one) is int for one in literal):
            add("dtype", "int", sentence, "default", 0.85)
    elif value[:1] in "'\"" and isinstance(literal, str) and literal:
        if "dtype" not in known:
            add("dtype", "string", sentence, "default", 0.9)
            add("ndim", "0", sentence, "default", 0.9)


#: A value that switches something off, told beside a size.
SWITCH = re.compile(
    r"(?:^|\s)(?:set|use|pass|if|a value of)?\s*`?(-1|None)`? (?:to|for|means|disables)\b"
)


#: That negative values mean something.
NEGATIVE_TOO = re.compile(
    r"\b(?:supports?|accepts?|allows?) negative\b|\b(?<!non-)negative (?:\w+ )?(?:are|is) (?:also )?(?:supported|allowed|accepted)\b"
    r"|\bcan be negative\b",
    re.IGNORECASE,
)


def without_refuted(found, default, text):
    """Ranges that the default itself, or a value that the text names, is outside of are none."""
    value = texts.literal(str(default)) if default is not None else None
    value = texts.literal(value) if isinstance(value, str) else value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kept = []
    for one in found:
        low = re.match(r"^([\[(])(-?\d+\.?\d*),", one["value"]) if one["key"] == "range" else None
        if low and number:
            least = float(low.group(2))
            if value < least or (value == least and low.group(1) == "("):
                continue
        if low and float(low.group(2)) >= 0:
            if "-1" in SWITCH.findall(text) or NEGATIVE_TOO.search(text):
                continue
        kept.append(one)
    return kept


def settle(found, typed):
    """Each fact once, the surest first; what the type says outright overrules looser words."""
    best = {}
    for one in found:
        key = (one["key"], one["value"])
        if key not in best or best[key]["confidence"] < one["confidence"]:
            best[key] = one
    facts = list(best.values())
    kept = []
    if any(one["rule"] == "types listed" for one in facts):
        facts = [
            one
            for one in facts
            if one["key"] != "dtype" or one["rule"] == "types listed" or ":" in one["value"]
        ]
    if any(one["key"] == "dtype" and one["value"] == "bool" for one in facts):
        # Words that stand beside a switch are those of something else.
        facts = [one for one in facts if one["rule"] != "quoted in a row"]
    dtypes = {one["value"] for one in facts if one["key"] == "dtype"}
    keys = {one["key"] for one in facts}
    if dtypes & {"bool", "string", "dtype", "callable"} or "enum" in keys:
        # Of something that has neither a size nor a shape the sentence spoke of another thing.
        without = ("range",) if keys & {"tensor_t", "structure"} else ("shape", "range")
        facts = [
            one
            for one in facts
            if one["key"] not in without and one["rule"] not in ("amount", "size of")
        ]
    if "tensor_t" in keys or ("structure", "ndarray") in best:
        facts = [one for one in facts if one["rule"] != "amount"]
        if any(one["rule"] in ("scalar", "k-D") and one["value"] == "0" for one in facts):
            # "A scalar, or a tensor of the same shape as": neither is asked for.
            facts = [one for one in facts if not one["value"].startswith("shape:")]
    elif "structure" not in keys and "0" in [one["value"] for one in facts if one["key"] == "ndim"]:
        facts = [one for one in facts if one["key"] != "shape"]
    if "structure" not in keys:
        facts = [one for one in facts if one["rule"] != "sizes of the result"]
    containers = [one for one in facts if one["key"] in ("structure", "tensor_t")]
    for one in facts:
        if one["key"] == "dtype" and one["confidence"] < 0.75 and len(dtypes) > 1:
            continue
        if (
            one["key"] == "dtype"
            and "dtype" in typed
            and one["rule"] not in ("type", "types listed")
        ):
            if one["value"] not in ("dtype",) and not one["value"].startswith("dtype:"):
                continue
        if (
            one["key"] == "dtype"
            and one["value"] == "float"
            and one["rule"] == "probability"
            and len(dtypes) > 1
        ):
            continue
        if one["key"] == "ndim" and one["value"] == "0" and containers:
            # A list or a tensor is no single number, unless both are possible.
            if one["rule"] not in ("scalar", "type", "k-D", "leading types", "number or tuple"):
                continue
        kept.append(one)
    ranges = [one for one in kept if one["key"] == "range"]
    if len(ranges) > 1:
        top = max(ranges, key=lambda one: one["confidence"])
        kept = [one for one in kept if one["key"] != "range" or one is top]
    return kept
