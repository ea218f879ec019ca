"""The arguments of a target function, the arrays among them as inputs of the search."""

import copy

from ..backends import library as backends
from ..judge import oracles
from ..watch import operations, whole_numbers
from ..watch.trace import InputInfo

_SPREADS = frozenset(
    "sigma sigmas std stds stddev variance variances var scale scales temperature bandwidth lengthscale".split()
)
_TRANSFORMED = frozenset("log raw inv inverse rho unconstrained".split())
# Why an array is taken for probabilities.
NAMED = "named like a probability"


class Arguments:
    """One complete call. Where it comes from decides what a failure of it means: an observed call
    is the program's own data, a made-up one is any finite input."""

    def __init__(self, values, facts, positional=(), rest=(), observed=None):
        self.values = values
        self.facts = facts
        self.positional = list(positional)  # names that can only be passed by position
        self.rest = tuple(rest)  # further positional arguments of `*args`
        self.observed = observed  # where the call was seen, or None
        self.line = 0  # of the function's definition
        self.constructor = None  # Arguments of the class, when it is a method
        self.changed = {}  # numbers changed by a variation
        self.domain = {}  # name -> (low, high) that its values have to keep
        self.makers = {}  # name -> what makes it anew: (value, source)
        self.sources = {}  # name -> source text of what is no plain data
        self.plain_numbers = False  # the function computes with Python's own numbers alone

    def call(self, target, monitor):
        by_position, by_name = [], {}
        for position, (name, value) in enumerate(self.values.items()):
            if name in self.changed:
                value = self.changed[name]
            elif name in self.makers:
                value = self.makers[name]()[0]
            else:
                value = self._given(monitor, name, "parameter:%d" % position, value)
            if name in self.positional:
                by_position.append(value)
            else:
                by_name[name] = value
        rest = [
            self._given(monitor, "argument_%d" % index, "rest:%d" % index, value)
            for index, value in enumerate(self.rest)
        ]
        if self.plain_numbers:
            # Nobody sees Python's own arithmetic but where it raises: the call is the operation.
            monitor.trace.operations += 1
        return target(*(by_position + rest), **by_name)

    def _given(self, monitor, name, key, value):
        """A value for the program: arrays, also inside lists, tuples and dicts, are inputs."""
        if is_array(value):
            return self._enter(monitor, name, key, value)
        if type(value) in (list, tuple) and any(map(is_array, value)):
            return type(value)(
                self._given(monitor, "%s[%d]" % (name, index), "%s.%d" % (key, index), item)
                for index, item in enumerate(value)
            )
        if type(value) is dict and any(map(is_array, value.values())):
            return dict(
                (word, self._given(monitor, "%s[%r]" % (name, word), "%s.%d" % (key, index), item))
                for index, (word, item) in enumerate(value.items())
            )
        return fresh(value)

    def construct(self, owner):
        """An object of a class made with these arguments."""

        def given(name):
            if name in self.changed:
                return self.changed[name]
            return self.makers[name]()[0] if name in self.makers else fresh(self.values[name])

        by_position = [given(name) for name in self.positional]
        by_name = dict((name, given(name)) for name in self.values if name not in self.positional)
        return owner(*(by_position + [fresh(value) for value in self.rest]), **by_name)

    def _enter(self, monitor, name, key, value):
        backend = backends.of(library_of(value))
        if monitor.settings.resize is not None:
            value = monitor.settings.resize.cut(value)
        given = backend.copy(value)
        if backend.library == "numpy":
            from ..backends.numpy_backend import traced

            given = traced(given)
        elif backends.numpy_based(backend.library):
            given = backend.from_numpy(given, backend.dtype_name(value))
        monitor.trace.inputs[key] = info = self._info(monitor, backend, key, name, value)
        override = monitor.policy.overrides.get(key)
        if not info.frozen and (override is not None or monitor.policy.connect):
            replaced = backend.replace(given, given if override is None else override, monitor, key)
            given = given if replaced is None else replaced
        if monitor.widen and backend.is_float(given):
            given = backend.from_numpy(backend.numbers(given).astype("float64"), "float64")
        if monitor.leaf is not None:
            given = monitor.leaf(backend, given)
        if _counts(backend, given):
            monitor.whole[id(given)] = key
        monitor.known[id(given)] = key
        monitor.derived.add(id(given))
        monitor.trace.keep.append(given)
        monitor.trace.given[id(given)] = name
        return given

    def describe(self, infos):
        """What is documented of parameters holds for the arrays that the function makes of lists, too."""
        invented = self.constructor is not None and self.constructor.observed is None
        for info in infos:
            if invented and (
                info.kind == "entering"
                or info.kind == "source"
                and not info.frozen
                and info.name in self.constructor.values
            ):
                info.made_up, info.why = True, "of an object that was made up"
                if info.kind == "entering" and _filled(_plain(info.value)):
                    # A setting of the constructor, written into an array.
                    info.frozen, info.why = True, "a constant of an object that was made up"
            facts = self.facts.get(info.name)
            if (
                facts is None
                or info.kind != "source"
                or info.frozen
                or info.name not in self.values
            ):
                continue
            if facts.distribution and _distributions(_plain(info.value)):
                info.distribution, info.low, info.high = True, 0.0, 1.0
                info.why = "documented as a distribution"
            elif facts.bounded():
                info.low, info.high, info.why = facts.low, facts.high, "documented"

    def _info(self, monitor, backend, key, name, value):
        from .guess import PROBABILITIES, covariance

        known = monitor.settings.infos.get(key)
        if known is not None:
            return known
        info = InputInfo(
            key,
            "parameter",
            name,
            "parameter",
            monitor.program_file,
            self.line,
            backend.copy(value),
            None,
            None,
            "nothing documents its range",
        )
        info.library = backend.library
        info.made_up = self.observed is None
        facts = self.facts.get(name)
        if self.observed is not None:
            info.why = "as in the call %s" % self.observed
        info.unit_length = facts is not None and facts.unit_length and self.observed is None
        info.distribution = facts is not None and facts.distribution and self.observed is None
        info.covariance = covariance(name, facts) and _symmetric(backend, value)
        if _counts(backend, value):
            minimum, maximum = backend.extremes(value) if backend.count(value) else (0.0, 0.0)
            info.low, info.high = min(minimum, 0.0), maximum
            info.frozen, info.why = True, whole_numbers.ONLY_INDICES
        elif not backend.is_float(value):
            info.frozen, info.why = True, "not a floating-point array"
        elif info.unit_length:
            info.low, info.high, info.why = -1.0, 1.0, "documented as of unit length"
            info.made_up = False
        elif info.distribution:
            info.low, info.high, info.why = 0.0, 1.0, "documented as a distribution"
            info.made_up = False
        elif facts is not None and facts.bounded():
            info.low, info.high, info.why = facts.low, facts.high, "documented"
            if facts.open_low and info.low is not None:
                info.low = info.low + 1e-6 * max(1.0, abs(info.low))
            info.made_up = False
        elif name in self.domain:
            info.low, info.high = self.domain[name]
            info.why = "%s fail at once" % (
                "negative values" if info.low == 0.0 else "larger values"
            )
        elif facts is not None and facts.logits:
            info.why = "documented as logits"
        elif name in PROBABILITIES:
            info.low, info.high, info.why = 0.0, 1.0, NAMED
        elif spread(name) and info.made_up:
            info.low, info.why = 0.0, "named like a scale"
        elif _zeros_and_ones(backend.numbers(value)):
            info.low, info.high, info.why = 0.0, 1.0, "all values are 0 or 1"
        elif self.observed is not None and _distributions(backend.numbers(value)):
            info.low, info.high, info.why = 0.0, 1.0, "its rows sum to 1"
        return info


def by_use(trace):
    """What an argument goes into says more than its name: inputs that were taken for probabilities by their names alone are
    none where they go into a function of logits (`softmax(y_pred)`), and targets of a cross entropy are between 0 and 1."""
    names = dict(trace.given)
    for node in trace.nodes:
        first = names.get(id(node.inputs[0])) if node.inputs else None
        if operations.moved(node.name):
            if first is not None:
                names.update((id(output), first) for output in node.outputs)
            continue
        if operations.has(node.name, "takes logits"):
            for info in _named(trace, first):
                if info.why == NAMED:
                    info.low, info.high = None, None
                    info.why = "it goes into %s" % node.name
        if operations.has(node.name, "takes labels"):
            for info in _named(trace, names.get(id(oracles.label_operand(node)))):
                if info.made_up and not info.frozen:
                    info.low, info.high, info.why = 0.0, 1.0, "it is the target of %s" % node.name


def _named(trace, name):
    return [info for info in trace.inputs.values() if name is not None and info.name == name]


def spread(name):
    """Is an array called like a standard deviation, a variance or another scale, and not like the logarithm of one?"""
    words = set(name.lower().split("_"))
    return bool(words & _SPREADS) and not words & _TRANSFORMED


def _counts(backend, value):
    return backend.library in ("numpy", "torch") and whole_numbers.is_whole(value)


def _symmetric(backend, value):
    if not backend.is_float(value):
        return False
    numbers = backend.numbers(value)
    return (
        numbers.ndim >= 2
        and numbers.shape[-1] == numbers.shape[-2]
        and bool((abs(numbers - numbers.swapaxes(-1, -2)) <= 1e-6 * abs(numbers).max()).all())
    )


def _filled(numbers):
    """An array of one number, many times."""
    return numbers.size > 1 and bool((numbers == numbers.reshape(-1)[:1]).all())


def _zeros_and_ones(numbers):
    """A mask, or labels of two classes."""
    return (
        numbers.size >= 4
        and bool(((numbers == 0.0) | (numbers == 1.0)).all())
        and bool(numbers.min() != numbers.max())
    )


def _plain(value):
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def _distributions(numbers):
    """Rows of probabilities."""
    return (
        numbers.ndim >= 1
        and numbers.size > 0
        and numbers.shape[-1] >= 2
        and bool((numbers >= 0.0).all())
        and bool((abs(numbers.sum(-1) - 1.0) < 0.02).all())
    )


def is_array(value):
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return False
    if library_of(value) == "tensorflow":
        # Neither a variable, which is changed in place, nor a part of a graph.
        return hasattr(value, "numpy") and not hasattr(value, "assign")
    return hasattr(value, "reshape")


def library_of(value):
    """The library of an array, by its type."""
    root = type(value).__module__.split(".")[0]
    return {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax", "jaxlib": "jax"}.get(
        root, "numpy"
    )


def fresh(value):
    """A copy that the function may change."""
    if isinstance(value, (int, float, str, bytes, type(None))):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value
