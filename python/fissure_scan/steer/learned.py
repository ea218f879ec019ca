"""Learned soft assertions: trained models instead of the registry's regions.

A model that looks at the value alone came with the plan as the step function it is; the intervals in
which it says `no change` are failure regions and steer like measured ones. A model that looks at the
context (a row, another operand, a matrix) is asked on the Rust side, which has it loaded: the answer
is a direction per element. Functions of the project (`fissure.toml`) are watched like those of the
library.
"""

import importlib
import importlib.util
import sys

import numpy as np

from . import contexts, registry
from .measures import Measure
from .regions import of_steps
from .rules import Aim

# Larger operands steer nothing: the question would cost more than a run of the program.
LARGEST_QUESTION = 1 << 12
_OWN_REGION = {"family": "elementwise", "objective": "own", "numpy": [], "regions": {}}


class Learned:
    """The models of one scan, and what each function is steered by."""

    def __init__(self, plan, channel):
        self.mode = plan["mode"]
        self.models = plan["models"]
        self.tensorflow = plan["tensorflow"]
        self.own = plan["own"]
        # Functions of TensorFlow that a model has steered.
        self.answered = set()
        self.channel = channel
        self._oracles = {}

    def source(self, name):
        """What steers a function: `learned`, `analytic`, `output` or `random`."""
        if (registry.canonical(name) or name) in self.answered:
            return "learned"
        if "torch" not in sys.modules:
            # The other ways know torch's operations.
            return "analytic"
        if self.mode != "best":
            return self.mode
        model = self.models.get(registry.canonical(name) or name)
        return "learned" if model is not None and model["best"] else "analytic"

    def aims(self, rules):
        """The aims of an operation, or None where it is steered by its rules."""
        name = registry.canonical(rules.node.name)
        library = rules.backend.library
        if library == "tensorflow":
            model = self.tensorflow.get(name) if self.mode == "learned" else None
            found = self._modelled(rules, name, model, library) if model is not None else None
            if found is not None:
                self.answered.add(name)
            return found
        source = self.source(rules.node.name) if library == "torch" else "analytic"
        if source == "analytic":
            return None
        if source == "output":
            return rules.result_magnitude("increase")
        if source == "random":
            return _random(rules)
        model = self.models.get(name)
        return self._modelled(rules, name, model, library) or [] if model is not None else []

    def _modelled(self, rules, name, model, library):
        """Aims by the model's answers; None for operands that it was not trained for."""
        operands = contexts.operands(rules, model["context"], name)
        if operands is None:
            return None
        first = next(operand.value for operand in operands if operand.value is not None)
        dtype = rules.dtype(first)
        if dtype not in model["steps"]:
            return None
        steps = model["steps"][dtype]
        if steps is not None:
            return [
                Aim(region.label, first, region.measure)
                for region in of_steps(steps, rules.largest(first))
            ]
        arrays = [operand.array for operand in operands]
        width = {"element": 1, "pair": 1, "matrix": arrays[0].shape[-1] ** 2}.get(
            model["context"], arrays[0].shape[-1]
        )
        found = []
        for number, operand in enumerate(operands):
            labels = self.ask(name, dtype, arrays, number, width, library)
            if labels is None or not any(labels) or operand.value is None:
                continue
            least = rules.backend.smallest_normal(operand.value)
            measure = Labelled(np.array(labels, dtype=np.float64), operand, least)
            word = "increase" if sum(labels) > 0 else "decrease"
            found.append(Aim(word, operand.value, measure))
        return found

    def ask(self, name, dtype, arrays, number, width, library):
        """The labels of the elements of operand `number`, or None; arrays are of float64."""
        values = [array.reshape(-1) for array in arrays]
        if len(values[0]) > LARGEST_QUESTION or not all(
            np.isfinite(value).all() for value in values
        ):
            return None
        answer = self.channel.ask(
            "direction",
            library=library,
            function=name,
            dtype=dtype,
            operand=number,
            width=int(width),
            operands=[value.tolist() for value in values],
        )
        return answer["labels"]

    # Functions of the project ------------------------------------------------------------------

    def register(self, functions):
        """Adds the project's functions to the entries of the registry."""
        for entry in self.own:
            functions[entry["function"]] = dict(
                _OWN_REGION,
                name=entry["function"],
                torch=[entry["function"]],
                oracles=["nonfinite", "own", "gradient_nonfinite"],
                arguments=["x"],
            )

    def watch(self, patches, monitor, backend):
        """Makes the calls of the project's functions operations of the run."""
        for entry in self.own:
            module, _, name = entry["function"].rpartition(".")
            try:
                owner = importlib.import_module(module)
                original = getattr(owner, name)
            except Exception:
                # A program that does not use it may lie where it cannot be imported.
                continue
            patches.set(owner, name, _watched(original, entry["function"], monitor, backend))

    def unsafe(self, backend, node):
        """The oracle of the project's file about one call."""
        entry = next((own for own in self.own if own["function"] == node.name), None)
        if entry is None or not entry["oracle_file"] or node.output is None or node.inputs_bad:
            return None
        path = entry["oracle_file"]
        if path not in self._oracles:
            self._oracles[path] = _oracle(path)
        oracle = self._oracles[path]
        if oracle is None:
            return None
        answer = oracle(list(node.operands), node.output)
        fires = bool(answer.any()) if hasattr(answer, "any") else bool(answer)
        return "%s is unsafe by its own oracle" % node.name if fires else None


def _oracle(path):
    specification = importlib.util.spec_from_file_location("fissure_oracle", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, "oracle", None)


def _watched(original, name, monitor, backend):
    def function(*arguments, **keywords):
        if not monitor.active:
            return original(*arguments, **keywords)
        frame, direct, _ = monitor.users.locate(2)
        if frame is None or not direct:
            return original(*arguments, **keywords)
        return monitor.operation(
            backend,
            name,
            original,
            arguments,
            keywords,
            False,
            frame,
            lambda: original(*arguments, **keywords),
        )

    function.__name__ = getattr(original, "__name__", name)
    function.__doc__ = getattr(original, "__doc__", None)
    return function


# Directions of elements ----------------------------------------------------------------------------


class Labelled(Measure):
    """A direction for each element of an operand, as a model answered it."""

    def __init__(self, labels, operand, least):
        self.signs = labels.reshape(operand.array.shape)
        self.operand = operand
        self.least = least

    def nearest(self, numbers):
        array = self.operand.array
        scale = max(float(np.abs(array).max()), self.least)
        distance = 1.0 - float((self.signs * (array / scale)).mean())
        return distance, self.operand.seed(-self.signs)


def _random(rules):
    """A direction that is drawn, not asked for; the same in each run. For comparison."""
    value = next((value for value in rules.node.inputs if rules.steerable(value)), None)
    if value is None:
        return []
    generator = np.random.Generator(np.random.PCG64(rules.node.index))
    numbers = rules.numbers(value)
    signs = generator.integers(0, 2, numbers.shape) * 2.0 - 1.0
    operand = contexts.Operand(value, numbers, lambda seed: seed)
    return [Aim("increase", value, Labelled(signs, operand, 1.0))]
