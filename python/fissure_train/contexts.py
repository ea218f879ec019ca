"""Contexts of functions that look at more than one number: rows, pairs, matrices of many scales.

Training and held-out contexts differ in their sizes, in their distributions and in their scales.
"""

import numpy as np

from .axis import Axis

TRAINING_SIZES = (3, 5, 8, 16)
HELD_OUT_SIZES = (4, 11, 24)
MATRIX_TRAINING_SIZES = (2, 3, 5)
MATRIX_HELD_OUT_SIZES = (4, 6)


def sizes(context, held_out):
    if context in ("element", "pair"):
        return (1,)
    if context == "matrix":
        return MATRIX_HELD_OUT_SIZES if held_out else MATRIX_TRAINING_SIZES
    return HELD_OUT_SIZES if held_out else TRAINING_SIZES


def labelled(subject, generator, held_out, count):
    """Blocks of samples of one size each: (operands, operand that moves, positions, labels).

    Each context gives its own point, the last safe point before the nearest failure and the first
    failing one, so that the classes stay balanced and the boundaries are in the data.
    """
    blocks = []
    all_sizes = sizes(subject.context, held_out)
    moving = subject.entry.get("moving") or list(range(len(subject.shapes(1))))
    for size in all_sizes:
        for operand in moving:
            share = max(40, count // (len(all_sizes) * len(moving)))
            operands = [
                draw(subject, number, shape, share, generator, held_out)
                for number, shape in enumerate(subject.shapes(size))
            ]
            if subject.entry.get("one_hot"):
                operands[1] = np.eye(size)[generator.integers(0, size, share)]
            if subject.entry.get("symmetric"):
                operands[0] = _positive_definite(subject.precision, operands[0])
            elements = operands[operand][0].size
            position = generator.integers(0, elements, share)
            blocks.extend(_samples(subject, generator, operands, operand, position))
    return blocks


def _samples(subject, generator, operands, operand, position):
    """The contexts, and what they become beside their nearest failure; all labelled alike: moved
    contexts may be nearer to another failure."""
    labels, edges = Axis(subject, operands, operand, position).label()
    yield _kept(subject, generator, operands, operand, position, labels)
    edges = edges.settled()
    for sign in (-1, 1):
        for which, moved in edges.beside(generator, sign):
            labels, _ = Axis(subject, moved, operand, position[which]).label()
            yield _kept(subject, generator, moved, operand, position[which], labels)


def _kept(subject, generator, operands, operand, position, labels):
    """Samples whose label hangs neither on the order in which the library adds or multiplies, nor on
    the place of the context in the batch (vectorised loops end with another code): the answer has
    to be the same when contexts, and elements of a row, change places."""
    if subject.context == "element":
        return operands, operand, position, labels
    batch = generator.permutation(len(labels))
    moved = [value[batch] for value in operands]
    places = position[batch]
    if not subject.ordered():
        order = generator.permutation(operands[0].shape[1])
        moved = [value[:, order] for value in moved]
        places = np.argsort(order)[places]
    other, _ = Axis(subject, moved, operand, places).label()
    kept = np.sort(batch[other == labels[batch]])
    subject.left_out += len(labels) - len(kept)
    return [value[kept] for value in operands], operand, position[kept], labels[kept]


def draw(subject, operand, shape, count, generator, held_out):
    """`count` operands of a shape, numbers of the precision and inside the operand's domain."""
    precision = subject.precision
    full = (count,) + tuple(shape)
    low, high = precision.value(np.array(subject.limits(operand)))
    if high - low < 1e4:
        values = _bounded(full, low, high, generator, held_out)
    else:
        values = _unbounded(subject, full, generator, held_out)
    # A zero in a row may decide everything: most rows have none, some have several.
    some = generator.random((count,) + (1,) * (len(full) - 1)) < 0.15
    values = np.where(some & (generator.random(full) < 0.2), 0.0, values)
    return np.clip(precision.round(values), low, high)


def _bounded(full, low, high, generator, held_out):
    if held_out:
        values = low + (high - low) * generator.beta(0.5, 0.8, full)
    else:
        values = low + (high - low) * generator.random(full)
        near = 10.0 ** generator.uniform(-30, 0, full)
        values = np.where(generator.random(full) < 0.3, low + (high - low) * near, values)
    return values


def _unbounded(subject, full, generator, held_out):
    precision = subject.precision
    count = full[0]
    column = (count,) + (1,) * (len(full) - 1)
    if held_out:
        base = generator.uniform(-1.0, 1.0, full) * 2.0
        scale = 10.0 ** generator.choice([-2.5, -1.0, -0.3, 0.4, 0.8, 1.6, 2.5], column)
    else:
        base = generator.normal(size=full)
        scale = 10.0 ** generator.uniform(-3.0, 3.0, column)
    if subject.context == "matrix":
        return base * np.minimum(scale, 10.0**1.5)
    kind = generator.random(column)
    usual = base * scale
    # Rows over the whole range of the precision, rows of one sign, rows of nearly equal elements,
    # rows whose elements have scales of their own.
    reach = precision.drawn(generator, column, 0, precision.last)
    with np.errstate(over="ignore"):
        wide = np.clip(base * reach, -precision.maximum, precision.maximum)
    own_scales = precision.drawn(generator, full)
    level = generator.normal(size=column) * scale
    equal = level * (1.0 + base * 10.0 ** generator.uniform(-9, -1, column))
    values = np.where(kind < 0.35, usual, wide)
    values = np.where((kind >= 0.55) & (kind < 0.7), np.abs(usual), values)
    values = np.where((kind >= 0.7) & (kind < 0.8), equal, values)
    return np.where(kind >= 0.8, own_scales, values)


def _positive_definite(precision, matrices):
    size = matrices.shape[-1]
    product = matrices @ np.swapaxes(matrices, -1, -2) / size
    rounded = precision.round(
        product + 0.05 * np.eye(size) * np.abs(product).max(axis=(-1, -2), keepdims=True)
    )
    return np.tril(rounded) + np.swapaxes(np.tril(rounded, -1), -1, -2)
