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

from . import analytic, registry

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
        # Functions of TensorFlow that a model has steered (learned_arrays.py).
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

    def distances(self, node, trace):
        """(label, distance) pairs, or None where this function is steered analytically."""
        source = self.source(node.name)
        if source == "analytic":
            return None
        if source == "output":
            return _output(node)
        if source == "random":
            return _random(node)
        name = registry.canonical(node.name)
        model = self.models.get(name)
        if model is None:
            return []
        torch = sys.modules["torch"]
        try:
            return self._modelled(torch, name, model, node)
        except (TypeError, AttributeError, IndexError, RuntimeError, ValueError):
            # Operands in a form that the model was not trained for steer nothing.
            return []

    def _modelled(self, torch, name, model, node):
        operands = _context(torch, model["context"], name, node)
        if operands is None:
            return []
        dtype = str(operands[0].dtype).replace("torch.", "")
        if dtype not in model["steps"]:
            return []
        steps = model["steps"][dtype]
        if steps is not None:
            limit = 0.99 * torch.finfo(operands[0].dtype).max
            found = [
                analytic.Interval(max(start, -limit), min(end, limit), 0.98 * limit)
                for start, end, label in steps
                if label == "no_change"
            ]
            return [(interval.label, interval.direction(operands[0])) for interval in found]
        found = []
        width = {"element": 1, "pair": 1, "matrix": operands[0].shape[-1] ** 2}.get(
            model["context"], operands[0].shape[-1]
        )
        for number, operand in enumerate(operands):
            labels = self._asked(name, dtype, operands, number, width)
            if labels is None or not any(labels):
                continue
            signs = torch.tensor(labels, dtype=operand.dtype).reshape(operand.shape)
            scale = operand.detach().abs().max().clamp(min=torch.finfo(operand.dtype).tiny)
            word = "increase" if sum(labels) > 0 else "decrease"
            found.append((word, (1.0 - (signs * (operand / scale)).mean()).reshape(1)))
        return found

    def _asked(self, name, dtype, operands, number, width):
        if operands[0].numel() > LARGEST_QUESTION:
            return None
        values = [operand.detach().double().cpu().numpy() for operand in operands]
        return self.ask(name, dtype, values, number, width, "torch")

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


# Contexts of a call --------------------------------------------------------------------------------


def _context(torch, context, name, node):
    """The operands as contexts that the model knows, or None."""
    values = [
        value
        for value in node.operands
        if isinstance(value, (torch.Tensor, int, float)) and not isinstance(value, bool)
    ]
    tensors = [
        value
        for value in values
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
    ]
    if not tensors or tensors[0].numel() == 0:
        return None
    first = tensors[0]
    if context == "element":
        return [first]
    if context == "pair":
        if len(values) < 2:
            return None
        pair = [
            value if isinstance(value, torch.Tensor) else torch.tensor(float(value))
            for value in values[:2]
        ]
        return list(torch.broadcast_tensors(*(value.to(first.dtype) for value in pair)))
    if context == "row":
        dim = node.keywords.get(
            "dim", next((value for value in node.operands[1:] if isinstance(value, int)), None)
        )
        if isinstance(dim, int):
            return [first.movedim(dim, -1)]
        return [first.reshape(1, -1)] if dim is None else None
    if context == "matrix":
        return [first] if first.dim() >= 2 and first.shape[-1] == first.shape[-2] else None
    if len(tensors) < 2:
        return None
    second = tensors[1]
    if name in ("matmul", "linear"):
        return _product(torch, name, first, second, node.output)
    if first.shape[-1:] != second.shape[-1:]:
        return None
    return list(torch.broadcast_tensors(first, second))


def _product(torch, name, first, second, output):
    """The row and the column behind the largest element of a product of matrices."""
    if first.dim() < 1 or second.dim() != 2 or output is None or output.dim() < 1:
        return None
    columns = second if name == "linear" else second.t()
    flat = output.detach().abs().reshape(-1, output.shape[-1])
    place = int(torch.nan_to_num(flat, 0.0).argmax())
    row, column = divmod(place, flat.shape[1])
    return [first.reshape(-1, first.shape[-1])[row : row + 1], columns[column : column + 1]]


# For comparison ------------------------------------------------------------------------------------


def _output(node):
    """The gradient of the raw output alone: make it larger."""
    torch = sys.modules["torch"]
    if not isinstance(node.output, torch.Tensor) or not node.output.dtype.is_floating_point:
        return []
    return [("increase", torch.finfo(node.output.dtype).max - node.output.abs())]


def _random(node):
    """A direction that is drawn, not asked for; the same in each run."""
    torch = sys.modules["torch"]
    operand = next(
        (
            value
            for value in node.inputs
            if isinstance(value, torch.Tensor) and value.dtype.is_floating_point and value.numel()
        ),
        None,
    )
    if operand is None:
        return []
    generator = torch.Generator().manual_seed(node.index)
    signs = torch.randint(0, 2, operand.shape, generator=generator).to(operand.dtype) * 2 - 1
    return [("increase", (1.0 - (signs * operand).mean()).reshape(1))]
