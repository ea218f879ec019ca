"""`python start.py PLAN`: labels what the plan asks for; one JSON line per data set on descriptor 3."""

import json
import os
import struct
import sys
import time
import zlib

import numpy as np

from . import contexts, element, libraries
from .precision import Precision
from .subject import BadFunction, Subject, Unsupported

# Below this share of samples with a direction, what fails is luck of rounding: nothing to learn.
RARE = 0.05


def main():
    with open(sys.argv[1], encoding="utf-8") as handle:
        plan = json.load(handle)
    events = os.fdopen(int(sys.argv[2]), "w", encoding="utf-8")

    def emit(event, **fields):
        events.write(json.dumps(dict(fields, event=event)) + "\n")
        events.flush()

    sys.path[0] = plan["directory"]
    try:
        library = libraries.load(plan["library"])
    except ImportError as error:
        emit(
            "failed",
            message="%s cannot be imported by %s: %s" % (plan["library"], sys.executable, error),
        )
        return
    emit("started", library=library.name, version=library.version)
    for entry in plan["functions"]:
        for dtype in entry["dtypes"]:
            for split in plan["splits"]:
                if not _one(emit, library, plan, entry, dtype, split):
                    break
    emit("finished")


def _one(emit, library, plan, entry, dtype, split):
    """False when the function has nothing for this precision."""
    begun = time.perf_counter()
    about = {"function": entry["name"], "dtype": dtype, "split": split}
    # The same data whatever else is asked for, and other data for each split.
    stream = zlib.crc32(("%s %s %s %s" % (library.name, entry["name"], dtype, split)).encode())
    generator = np.random.Generator(np.random.PCG64([plan["seed"], stream]))
    held_out = split == "held_out"
    count = plan["count"] if held_out else entry.get("samples") or plan["count"]
    try:
        subject = Subject(library, entry, Precision(dtype))
        subject.require_support()
        blocks, regions = _labelled(subject, generator, held_out, count)
    except Unsupported as reason:
        emit("unsupported", reason=str(reason), **about)
        return False
    except BadFunction as reason:
        emit("refused", reason=str(reason), **about)
        return False
    counts = [int(sum((labels == label).sum() for _, _, _, labels in blocks)) for label in range(3)]
    directions = counts[0] + counts[2]
    # Not `<`: without any failure there are no samples at all.
    if directions <= RARE * sum(counts):
        reason = (
            "it never fails here"
            if directions == 0
            else "it hardly ever fails here: %d of %d samples" % (directions, sum(counts))
        )
        emit("unsupported", reason=reason, **about)
        return False
    path = os.path.join(plan["folder"], "%s-%s-%s.samples" % (entry["name"], dtype, split))
    write(path, blocks)
    emit(
        "labelled",
        path=path,
        counts=counts,
        regions=regions,
        oracles=subject.oracles,
        left_out=subject.left_out,
        calls=subject.calls,
        seconds=time.perf_counter() - begun,
        **about,
    )
    return True


def _labelled(subject, generator, held_out, count):
    # Poles at the whole numbers are too many for a list of regions.
    if subject.context != "element" or subject.entry.get("whole_numbers"):
        # Each context gives three samples.
        share = 1 if subject.context == "element" else 3
        return contexts.labelled(
            subject, generator, held_out, count // share // (2 if held_out else 1)
        ), []
    # The held-out labels come from a grid of their own, four times as dense.
    regions = element.Regions(subject, 80000 if held_out else 20000, generator)
    if regions.empty():
        return [], []
    sample = element.held_out if held_out else element.train
    values, labels = sample(regions, generator, count)
    position = np.zeros(len(values), dtype=np.int64)
    return [([values], 0, position, labels)], regions.described()


def write(path, blocks):
    """Blocks one after the other: a header in JSON with its length before it, then values, positions and labels as bytes."""
    with open(path, "wb") as handle:
        for operands, operand, position, labels in blocks:
            count = len(labels)
            shapes = [list(value.shape[1:]) for value in operands]
            header = json.dumps({"shapes": shapes, "operand": int(operand), "count": count})
            handle.write(struct.pack("<I", len(header)) + header.encode())
            for value in operands:
                handle.write(np.ascontiguousarray(value, dtype="<f8").tobytes())
            handle.write(np.ascontiguousarray(position, dtype="<u4").tobytes())
            handle.write(np.ascontiguousarray(labels, dtype=np.uint8).tobytes())


main()
