"""The function under test with its oracles: which operands make it fail?

An element of a batch is a *context*: all operands that one result depends on. The function is called
on whole batches; every question about it is answered per context.
"""

import importlib
import importlib.util

import numpy as np

from .libraries import first
from .precision import DOWN, INWARD, OUTWARD, UP

# Elements of one call at most: memory, not speed, is what larger ones cost.
LARGEST_CALL = 1 << 19

# Shapes of the operands of a context with `n` elements a row.
SHAPES = {
    "element": lambda n: [()],
    "pair": lambda n: [(), ()],
    "row": lambda n: [(n,)],
    "rows": lambda n: [(n,), (n,)],
    "matrix": lambda n: [(n, n)],
}


class Unsupported(Exception):
    """The library does not compute this function in this precision."""


class BadFunction(Exception):
    """What the user named cannot be trained; the message says why."""


class Subject:
    def __init__(self, library, entry, precision):
        self.library = library
        self.entry = entry
        self.precision = precision
        self.context = entry["context"]
        self.oracles = list(entry["oracles"])
        self.function = _callable(library, entry["call"])
        # Formulas to compare with, by the name of their oracle.
        self.references = dict(
            (kind, _callable(library, text)) for kind, text in entry.get("references", {}).items()
        )
        self.own_oracle = None
        if entry.get("oracle_file"):
            self._read_oracle(entry["oracle_file"])
        self.range = entry.get("range")
        self.domain = entry.get("domain") or []
        self.calls = 0
        # Samples whose label turned out to be luck.
        self.left_out = 0

    def _read_oracle(self, path):
        specification = importlib.util.spec_from_file_location("fissure_oracle", path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        found = []
        if callable(getattr(module, "oracle", None)):
            self.own_oracle = module.oracle
            found.append("own")
        for kind in ("rewrite", "stable_algorithm", "other_framework"):
            if callable(getattr(module, kind, None)):
                self.references[kind] = getattr(module, kind)
                found.append(kind)
        found.extend(getattr(module, "ORACLES", []))
        if hasattr(module, "RANGE"):
            self.entry["range"] = list(module.RANGE)
            found.append("range")
        if not found:
            raise BadFunction(
                "%s defines neither `oracle(inputs, output)` nor one of `rewrite`, "
                "`stable_algorithm`, `other_framework`, `RANGE`, `ORACLES`" % path
            )
        self.oracles = list(dict.fromkeys(found))

    def moves(self):
        """How all elements of a context may move together to make it fail."""
        return (UP, DOWN, INWARD) if self.entry.get("additive") else (OUTWARD, INWARD)

    def ordered(self):
        """Does it matter in which order the elements of a context stand?"""
        return self.context not in ("row", "rows") or self.entry.get("ordered", False)

    def shapes(self, n):
        return SHAPES[self.context](n)

    def limits(self, operand):
        """Lowest and highest place that an operand may take."""
        if operand < len(self.domain) and self.domain[operand]:
            low, high = self.domain[operand]
            rounded = self.precision.round(np.array([low, high]))
            return tuple(int(place) for place in self.precision.place(rounded))
        return -self.precision.last, self.precision.last

    def require_support(self):
        """One call on ordinary operands, so that a missing kernel is not taken for a failure."""
        generator = np.random.Generator(np.random.PCG64(0))
        operands = []
        for number, shape in enumerate(self.shapes(3)):
            low, high = self.limits(number)
            values = 0.25 + 0.5 * generator.random((2,) + shape)
            if self.context == "matrix":
                values = values + 3.0 * np.eye(3)
            lowest, highest = self.precision.value(np.array([low, high]))
            operands.append(np.clip(self.precision.round(values), lowest, highest))
        try:
            self._failing(operands)
        except BadFunction:
            raise
        except Exception as error:
            raise Unsupported(
                "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:200])
            ) from error

    def failing(self, operands):
        """Per context: does an oracle fire?"""
        count = len(operands[0])
        per_context = max(1, sum(operand[0].size for operand in operands)) if count else 1
        step = max(1, LARGEST_CALL // per_context)
        found = np.zeros(count, dtype=bool)
        for start in range(0, count, step):
            found[start : start + step] = self._divided([o[start : start + step] for o in operands])
        return found

    def _divided(self, operands):
        """An error names no context: halves are asked until the one that raises is alone."""
        count = len(operands[0])
        try:
            return self._failing(operands)
        except BadFunction:
            raise
        except Exception:
            if count == 1:
                return np.ones(1, dtype=bool)
            half = count // 2
            return np.concatenate(
                [
                    self._divided([o[:half] for o in operands]),
                    self._divided([o[half:] for o in operands]),
                ]
            )

    def _failing(self, operands):
        self.calls += 1
        count = len(operands[0])
        tensors = self._tensors(operands, self.precision.name)
        result = self.library.call(self.function, tensors)
        value = first(result)
        if not self.library.is_tensor(value):
            raise BadFunction("the function returned %s, not an array" % type(value).__name__)
        numbers = self._rows(value, count)
        with np.errstate(all="ignore"):
            found = np.zeros(count, dtype=bool)
            if isinstance(result, (tuple, list)) and len(result) > 1:
                # LAPACK's status: anything but zero is a failure.
                found |= (self._rows(result[1], count) != 0).any(axis=1)
            for oracle in self.oracles:
                found |= self._asked(oracle, operands, tensors, value, numbers)
        return found

    def _asked(self, oracle, operands, tensors, value, numbers):
        count = len(numbers)
        if oracle == "nonfinite":
            return ~np.isfinite(numbers).all(axis=1)
        if oracle == "gradient_nonfinite":
            found = np.zeros(count, dtype=bool)
            for gradient in self.library.gradients(self.function, tensors):
                found |= ~np.isfinite(gradient.reshape(count, -1)).all(axis=1)
            return found
        if oracle == "range":
            low, high = self.range or self.entry["range"]
            # The ends are not reached by the mathematical function.
            outside = np.zeros(numbers.shape, dtype=bool)
            if low is not None:
                outside |= numbers <= low
            if high is not None:
                outside |= numbers >= high
            return outside.any(axis=1)
        if oracle == "wider_float":
            if self.precision.name == "float64":
                return np.zeros(count, dtype=bool)
            wide = self.library.call(self.function, self._tensors(operands, "float64"))
            return self._differs(numbers, self._rows(first(wide), count))
        if oracle == "own":
            answer = self.own_oracle(tensors, value)
            answer = np.asarray(
                self.library.numbers(answer) if self.library.is_tensor(answer) else answer
            )
            if answer.size % count:
                raise BadFunction(
                    "the oracle returned %d answers for %d results" % (answer.size, count)
                )
            return (answer.reshape(count, -1) != 0).any(axis=1)
        reference = self.references.get(oracle)
        if reference is None:
            raise BadFunction("the oracle `%s` needs a formula to compare with" % oracle)
        # A formula of the list is asked in float64, so that its own rounding is no failure.
        own = self.entry.get("oracle_file") is not None
        other = self.library.call(reference, tensors if own else self._tensors(operands, "float64"))
        return self._differs(numbers, self._rows(first(other), count))

    def _differs(self, numbers, reference):
        """Measured at the largest element of the result: what is small beside it may be noise."""
        # Below the normal numbers digits are lost by every formula; results of a usual size (those
        # of a normalisation) are not measured at smaller ones.
        floor = max(self.precision.smallest_normal * 16.0, self.entry.get("usual_size") or 0.0)
        size = np.maximum(np.abs(reference).max(axis=1, keepdims=True), floor)
        both = np.isfinite(numbers) & np.isfinite(reference)
        return (both & (np.abs(numbers - reference) > self.precision.tolerance * size)).any(axis=1)

    def _tensors(self, operands, dtype):
        return [self.library.tensor(operand, dtype) for operand in operands]

    def _rows(self, value, count):
        numbers = self.library.numbers(value)
        if numbers.size % count or numbers.ndim == 0 or numbers.shape[0] != count:
            raise BadFunction(
                "the function does not answer per context: %d contexts, a result "
                "of shape %s" % (count, tuple(numbers.shape))
            )
        return numbers.reshape(count, -1)


def _callable(library, text):
    """An expression of `x` and `y`, or the dotted name of a function of the user."""
    if text.isidentifier() or all(part.isidentifier() for part in text.split(".")):
        module, _, name = text.rpartition(".")
        try:
            value = getattr(importlib.import_module(module), name, None) if module else None
        except ImportError as error:
            raise BadFunction("`%s` cannot be imported: %s" % (module, error)) from error
        if not callable(value):
            raise BadFunction("`%s` has no function `%s`" % (module, name))
        return value
    names = dict(library.names, np=np)
    return library.prepared(eval("lambda x, y=None: " + text, names))
