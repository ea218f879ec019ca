"""Precision and recall of documentation into constraints, against DocTer's human labels.

    python benches/documentation/evaluate.py FOLDER [--split train|test] [--library NAME] [--errors KEY]

FOLDER holds `annotation_LIBRARY.csv` and `keywords_LIBRARY.yaml`. The split is by API: an API is in the
test part where the first digit of the SHA-256 of its name is 10 to 15 (of 16). The rules were written
while looking at the train part only.
"""

import argparse
import collections
import csv
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from fissure_worker.discover import phrases, sentences

#: As in the annotators' instructions, tensors are structures.
KEYS = "dtype structure ndim shape range enum".split()
COLUMNS = "dtype tensor_t structure ndim shape range enum".split()
#: Names of arrays that mean the same.
ARRAYS = {"tensor": "array", "ndarray": "array"}
LIBRARIES = "tensorflow pytorch mxnet".split()


def in_test(api):
    return int(hashlib.sha256(api.encode()).hexdigest()[0], 16) >= 10


def read(folder, library):
    """{(api, parameter): rows}"""
    found = collections.OrderedDict()
    with open(os.path.join(folder, "annotation_%s.csv" % library), encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found.setdefault((row["API"], row["Arg"]), []).append(row)
    return found


def parts(rows):
    """(text of the type, description, default) of a parameter."""
    kind, text, default = "", "", None
    for row in rows:
        said = row["Descp"].strip()
        if said.startswith("DD:"):
            kind = said[3:].strip()
        elif said.startswith("DF:"):
            default = said[3:].strip()
            if re.match(r"^[A-Za-z]\w*$", default) and default not in (
                "None",
                "True",
                "False",
                "_Null",
            ):
                # The data lost the quotes.
                default = repr(default)
            elif default in ("None", "_Null"):
                default = None
        elif len(said) > len(text):
            text = said
    return kind, text, default


def sentence_of(row, kind):
    """The sentence of the description that a row labels."""
    said = row["Descp"].strip()
    if said.startswith(("DD:", "DF:")):
        return said[3:].strip()
    wanted = set(re.findall(r"[a-z]+", row["Normalized_descp"].lower())) - {"constant", "num", "d"}
    best, most = said, -1
    for one in sentences.split(said):
        words = set(re.findall(r"[a-z]+", one.lower()))
        score = len(words & wanted) / (1 + len(words | wanted))
        if score > most:
            best, most = one, score
    return best


def dtype_words(text):
    found = set()
    for word in re.findall(r"[A-Za-z][\w.\-]*", text):
        word = re.sub(r"^(?:tf|torch|np|numpy)\.", "", word.lower().strip("`.-"))
        if phrases.DTYPES.get(word):
            found.add(phrases.DTYPES[word])
        elif word in phrases.TENSOR_CLASSES:
            found.add(phrases.TENSOR_CLASSES[word])
        elif word in ("dtype", "dtypes.dtype"):
            found.add("dtype")
    return found


def structure_words(text, key):
    found = set()
    for word in re.findall(r"[A-Za-z][\w.\-]*", text):
        word = re.sub(r"^(?:tf|torch|np|numpy|mx\.nd)\.", "", word.lower().strip("`.-"))
        if word in phrases.TENSOR_CLASSES:
            word = "tensor"
        known = phrases.STRUCTURES.get(word)
        if known and known[0] == key:
            found.add(known[1])
    return found


def expected(rows, library):
    """Labels with their placeholders filled in: {key: set of values}."""
    found = {key: set() for key in KEYS}
    for row in rows:
        text = sentence_of(row, None)
        for column in COLUMNS:
            key = "structure" if column == "tensor_t" else column
            for label in row[column].split(";"):
                label = label.strip()
                if label and not (key == "enum" and is_default(row)):
                    found[key] |= resolve(label, column, text, row)
    found["structure"] = {ARRAYS.get(one, one) for one in found["structure"]}
    return found


def is_default(row):
    """A row about the default alone. The annotators took the default of a text for its only choice,
    also that of names of operations: such choices are neither counted nor expected."""
    said = row["Normalized_descp"].strip()
    return row["Descp"].strip().startswith("DF:") or re.match(r"(?i)defaults? \S+$", said)


def resolve(label, key, text, row):
    if key == "dtype":
        if label in ("D_TYPE", "REXPR"):
            return dtype_words(text)
        if label.endswith(".dtype"):
            return {"dtype"}
        if label in ("&PARAM", "PARAM", "&ENUM", "ENUM"):
            return {"dtype:&"}
        return {phrases.DTYPES.get(label, label)}
    if key in ("tensor_t", "structure"):
        if label == "D_STRUCTURE":
            return structure_words(text, "tensor_t") | structure_words(text, "structure")
        return {"tuple"} if label == "SHAPE" else ({label} if label in ("tuple", "list") else set())
    if key == "ndim":
        if label in ("CONSTANT_NUM", ">=CONSTANT_NUM"):
            numbers = re.findall(r"(?<![\w.])(\d)(?:[- ]?[dD]\b|[- ]?dimension| |$|,|\.)", text)
            numbers = numbers or re.findall(r"(?:rank|dimension)\D{0,12}(\d)", text)
            return {(">=" if label.startswith(">") else "") + one for one in numbers[:2]}
        if label == "REXPR":
            bound = re.search(r"(?:rank|\b[A-Za-z])`? *(>=?) *(\d)", text)
            strict = bound and bound.group(1) == ">"
            return {">=%d" % (int(bound.group(2)) + strict)} if bound else {label}
        if label.startswith("&") or "PARAM" in label:
            return {"ndim:&"}
        return {label}
    if key == "shape":
        if label in ("SHAPE", "[SHAPE]"):
            boxes = re.findall(r"[\[(][^\[\]()]*[\])]", sentences.plain(text))
            return {"box"} if boxes else set()
        if label.startswith("&"):
            return {"shape:&"}
        if label == "[CONSTANT_NUM]":
            return {"length"}
        return {"box"}
    if key == "range":
        return {label} if label[:1] in "[(" else {"some"}
    # enum
    return {"some"}


def predicted(found):
    """What was extracted, in the terms of the labels."""
    made = {key: set() for key in KEYS}
    for one in found:
        key, value = one["key"], one["value"]
        if key == "tensor_t":
            key = "structure"
        if key not in made:
            continue
        if key == "structure":
            value = value.partition("(")[0]
            value = ARRAYS.get(value, value)
        if key == "dtype" and value.startswith("dtype:&"):
            value = "dtype:&"
        elif key == "ndim" and value.startswith("ndim:"):
            value = "ndim:&"
        elif key == "shape":
            value = (
                "shape:&"
                if value.startswith("shape:")
                else ("length" if re.match(r"^\[>?=?\d+\]$", value) else "box")
            )
        elif key == "enum":
            value = "some"
        made[key].add(value)
    return made


def agree(key, want, got):
    """(hits among the wanted, hits among the given): values, with the labels' looseness."""
    if key == "range" and "some" in want:
        return (len(want), len(got)) if got else (0, 0)
    if key == "dtype" and "numeric" in want:
        # "A number": a float or an integer is not wrong.
        got_hits = {one for one in got if one in ("int", "float", "numeric")} | (want & got)
        return (len(want) if got_hits else 0, len(got_hits))
    if key == "structure" and want and got:
        loose = {"list", "tuple", "sequence"}
        got_hits = {o for o in got if o in want or (o in loose and want & loose)}
        want_hits = {o for o in want if o in got or (o in loose and got & loose)}
        return len(want_hits), len(got_hits)
    if key == "shape":
        boxes = {"box", "length"}
        return (
            len({o for o in want if o in got or (o in boxes and got & boxes)}),
            len({o for o in got if o in want or (o in boxes and want & boxes)}),
        )
    both = want & got
    return len(both), len(both)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    arguments.add_argument("--split", default="test", choices=("train", "test"))
    arguments.add_argument("--library")
    arguments.add_argument("--errors")
    arguments.add_argument("--most", type=int, default=40)
    options = arguments.parse_args()
    total = {key: [0, 0, 0, 0] for key in KEYS}
    for library in [options.library] if options.library else LIBRARIES:
        counts = {key: [0, 0, 0, 0] for key in KEYS}
        labelled = read(options.folder, library)
        by_api = collections.defaultdict(list)
        for api, name in labelled:
            by_api[api].append(name)
        shown = params = 0
        for (api, name), rows in labelled.items():
            if in_test(api) != (options.split == "test"):
                continue
            params += 1
            kind, text, default = parts(rows)
            got_all = sentences.extract(name, kind, text, known(by_api[api], text), default)
            want_all, got = expected(rows, library), predicted(got_all)
            implied(want_all, got, got_all)
            for key in KEYS:
                want, given = want_all[key], got[key]
                hit_want, hit_got = agree(key, want, given)
                for sums in (counts[key], total[key]):
                    sums[0] += hit_want
                    sums[1] += len(want)
                    sums[2] += hit_got
                    sums[3] += len(given)
                wrong = hit_want < len(want) or hit_got < len(given)
                if (
                    options.errors == key
                    and wrong
                    and shown < options.most
                    and options.split == "train"
                ):
                    shown += 1
                    rules = [(o["value"], o["rule"]) for o in got_all if o["key"] == key]
                    print(
                        "%s:%s [%s] {%s} %s\n    want %s got %s"
                        % (api, name, kind, default, text[:300], sorted(want), rules)
                    )
        print("%s, %s part: %d parameters" % (library, options.split, params))
        table(counts)
    if not options.library:
        print("all libraries")
        table(total)


def implied(want, got, facts):
    """That a plain `int` is one number was labelled here and left out there: it counts only where the
    annotators gave it."""
    rules = (
        "type",
        "leading types",
        "a value of type",
        "default",
        "string name",
        "optional attribute",
        "choices from",
    )
    zero = [one for one in facts if one["key"] == "ndim" and one["value"] == "0"]
    if zero and all(one["rule"] in rules for one in zero) and not want["ndim"]:
        got["ndim"].discard("0")


def known(names, text):
    """The labels name only part of an API's parameters: quoted words count as names too."""
    listed = re.findall(r"(?:`\w+`(?: \(\w+\))?(?:,| or| and|/)+ ?)+`\w+`", text)
    choices = {word for one in listed for word in re.findall(r"\w+", one)}
    return set(names) | (set(re.findall(r"`(\w+)`", text)) - choices) | {"x", "input"}


def table(counts):
    for key in KEYS + ["all"]:
        sums = counts.get(key) or [sum(column) for column in zip(*counts.values())]
        recall = sums[0] / sums[1] if sums[1] else float("nan")
        precision = sums[2] / sums[3] if sums[3] else float("nan")
        print(
            "  %-10s precision %5.1f %%   recall %5.1f %%   (%d labels, %d extracted)"
            % (key, 100 * precision, 100 * recall, sums[1], sums[3])
        )


if __name__ == "__main__":
    main()
