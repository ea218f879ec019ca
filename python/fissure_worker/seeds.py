"""Calls that a library is known to accept, from the sample database in every PyTorch wheel, and
from the examples in its documentation.

A script of its own, run once for many APIs, because importing the database takes longer than asking
it. `FISSURE_SEEDS` in the environment is a JSON object: `apis` (names, or `null` for all), `most`
(calls per API; 0 asks for the names alone, which takes no longer than the import), `elements` (the largest
tensor), `folder`. The folder gets one file of JSON lines per API,
`{"arguments": […], "keywords": {…}, "call": null or {"arguments": …, "keywords": …}}`, values in the
form of `fissure_model::Value`, and last `index.json` with the names that have any.
"""

import importlib.abc
import importlib.machinery
import itertools
import json
import os
import sys
import types
import unittest
import warnings


class Absent(types.ModuleType):
    """Stands for a package that PyTorch's test helpers import and that samples do not need."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        base = unittest.TestCase if name == "TestCase" else object
        return type(name, (base,), {})


class AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: a package that is really there is found by the others."""

    NAMES = ("expecttest", "setuptools")

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


class NotPlain(Exception):
    """A value that cannot be written as plain data."""


#: Asked in this order, as far as an operator supports them.
DTYPES = (
    "float32",
    "int64",
    "float64",
    "complex64",
    "bool",
    "bfloat16",
    "float16",
    "uint8",
    "int32",
)


class Writer:
    def __init__(self, torch, elements):
        self.torch = torch
        self.elements = elements

    def tensor(self, value):
        torch = self.torch
        if value.layout is not torch.strided or value.is_quantized or value.device.type != "cpu":
            raise NotPlain("a tensor that is not dense")
        if value.numel() > self.elements:
            raise NotPlain("a large tensor")
        plain = value.detach().resolve_conj().resolve_neg().contiguous()
        if plain.numel() == 0:
            data = b""
        else:
            data = bytes(plain.reshape(-1).view(torch.uint8).tolist())
        name = str(value.dtype).replace("torch.", "")
        return {"dtype": name, "shape": list(value.shape), "data": {"pattern": data.hex()}}

    def value(self, value):
        torch = self.torch
        if value is None:
            return "none"
        if isinstance(value, bool):
            return {"bool": value}
        if isinstance(value, int):
            small = -(2**63) <= value < 2**63
            return {"int": value if small else str(value)}
        if isinstance(value, float):
            return {"float": value if value - value == 0 else str(value)}
        if isinstance(value, complex):
            return {"complex": {"re": value.real, "im": value.imag}}
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value)}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).replace("torch.", "")}
        if isinstance(value, (list, tuple)):
            return {"list": [self.value(item) for item in value]}
        raise NotPlain(type(value).__name__)

    def call(self, arguments, keywords):
        return {
            "arguments": [self.value(item) for item in arguments],
            "keywords": {name: self.value(item) for name, item in keywords.items()},
        }


def resolve(torch, path):
    found = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def path_of(torch, name):
    """The public name of an operator of the database; None if it is a test of something else."""
    if name.startswith("torch."):
        # An operator of the dispatcher, not a function of the library.
        return None
    for prefix in ("torch.", "torch.Tensor."):
        if callable(resolve(torch, prefix + name)):
            return prefix + name
    return None


def spread(items, most):
    """Not the first ones: samples come in groups of similar ones."""
    items = list(items)
    if len(items) <= most:
        return items
    return [items[at * len(items) // most] for at in range(most)]


def operator_calls(torch, path, operator, writer, most):
    found = []
    target = resolve(torch, path)
    # Some samples are written for a function around the API: what the API gets of it counts.
    observer = None if operator.op is target else observer_of(torch, path, writer)
    supported = operator.supported_dtypes("cpu")
    dtypes = [getattr(torch, name) for name in DTYPES]
    dtypes = [dtype for dtype in dtypes if dtype in supported]
    for position, dtype in enumerate(dtypes):
        share = most // 2 if position == 0 and len(dtypes) > 1 else most // max(len(dtypes), 2)
        try:
            samples = operator.sample_inputs("cpu", dtype, requires_grad=False)
            samples = spread(itertools.islice(samples, 2000), max(share, 4))
        except Exception:
            # Samples of some operators need packages that are absent.
            continue
        for sample in samples:
            arguments = (sample.input,) + tuple(sample.args)
            if observer is not None and observer.watch(operator.op, arguments, sample.kwargs):
                continue
            try:
                call = writer.call(arguments, sample.kwargs)
            except NotPlain:
                continue
            call["call"] = None
            found.append(call)
    if observer is not None:
        found.extend(observer.found)
    return found


def module_calls(torch, path, module, writer, most):
    found = []
    for name in ("float32", "float64"):
        for training in (True, False):
            try:
                inputs = module.module_inputs_func(
                    module,
                    device="cpu",
                    dtype=getattr(torch, name),
                    requires_grad=False,
                    training=training,
                )
                inputs = spread(inputs, max(most // 4, 4))
            except Exception:
                continue
            for one in inputs:
                made, called = one.constructor_input, one.forward_input
                try:
                    call = writer.call(made.args, made.kwargs)
                    call["call"] = None
                    if called is not None:
                        call["call"] = writer.call(called.args, called.kwargs)
                except NotPlain:
                    continue
                found.append(call)
    return found


def databases(torch):
    """(path, function that gives its calls) of everything the databases know."""
    from torch.testing._internal import common_methods_invocations

    for operator in common_methods_invocations.op_db:
        path = path_of(torch, operator.name)
        if path is not None and operator.variant_test_name in ("", "no_rounding_mode"):
            yield path, operator_calls, operator
    # Variants give more calls of an API that is known already.
    for operator in common_methods_invocations.op_db:
        path = path_of(torch, operator.name)
        if path is not None and operator.variant_test_name not in ("", "no_rounding_mode"):
            yield path, operator_calls, operator
    try:
        from torch.testing._internal import common_modules
    except Exception:
        return
    for module in common_modules.module_db:
        if module.module_cls.__module__.startswith("torch.nn.modules"):
            yield "torch.nn." + module.module_cls.__name__, module_calls, module


class Observer:
    """Runs the examples of a documentation, and writes down the calls of what it documents."""

    def __init__(self, torch, path, writer):
        self.torch = torch
        self.writer = writer
        self.found = []
        self.called = False
        owner, _, self.name = path.rpartition(".")
        self.owner = torch if owner == "torch" else resolve(torch, owner)
        self.target = getattr(self.owner, self.name)

    def note(self, arguments, keywords, made=None):
        try:
            call = self.writer.call(arguments, keywords)
            if made is not None:
                call, made["call"] = made, call
            else:
                call["call"] = None
            if call not in self.found:
                self.found.append(call)
        except NotPlain:
            pass

    def __call__(self, *arguments, **keywords):
        self.called = True
        result = self.target(*arguments, **keywords)
        layer = isinstance(result, self.torch.nn.Module) and isinstance(self.target, type)
        if layer and hasattr(result, "register_forward_pre_hook"):
            try:
                made = self.writer.call(arguments, keywords)
            except NotPlain:
                return result

            def called(module, given, named):
                self.note(given, named, dict(made))

            result.register_forward_pre_hook(called, with_kwargs=True)
        else:
            self.note(arguments, keywords)
        return result

    def watch(self, function, arguments, keywords):
        """Does the function call what is observed?"""
        self.called = False
        setattr(self.owner, self.name, self)
        try:
            function(*arguments, **keywords)
        except Exception:
            # Rejected, or the observer is no type or built-in function that it has to be.
            pass
        finally:
            setattr(self.owner, self.name, self.target)
        return self.called

    def run(self):
        import doctest

        torch = self.torch
        names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "__name__": "example"}
        examples = doctest.DocTestParser().get_examples(self.target.__doc__ or "")
        setattr(self.owner, self.name, self)
        try:
            for example in examples:
                try:
                    exec(compile(example.source, "example", "exec"), names)
                except Exception:
                    # An example that fails, or that follows one, says nothing.
                    continue
        finally:
            setattr(self.owner, self.name, self.target)
        return self.found


def observer_of(torch, path, writer):
    """None for a method: what stands for it would not get the object it is called on."""
    observer = Observer(torch, path, writer)
    return None if isinstance(observer.owner, type) else observer


def documented_calls(torch, path, writer):
    """Calls in the examples of an API's own documentation."""
    try:
        if not callable(resolve(torch, path)):
            return []
        return Observer(torch, path, writer).run()
    except Exception:
        # What cannot be replaced (a method of a type in C) cannot be observed.
        return []


def main():
    request = json.loads(os.environ["FISSURE_SEEDS"])
    folder = request["folder"]
    sys.meta_path.append(AbsentFinder())
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    wanted = None if request["apis"] is None else set(request["apis"])
    writer = Writer(torch, request["elements"])
    counts = {}
    for path, calls, entry in databases(torch):
        if wanted is not None and path not in wanted:
            continue
        if request["most"] == 0:
            counts[path] = 0
            continue
        try:
            found = calls(torch, path, entry, writer, request["most"])
        except Exception:
            # One broken entry of the database says nothing about the others.
            continue
        if not found:
            continue
        with open(os.path.join(folder, path + ".jsonl"), "a") as file:
            for call in found:
                file.write(json.dumps(call) + "\n")
        counts[path] = counts.get(path, 0) + len(found)
    unknown = (wanted or set()) - set(counts) if request["most"] else ()
    for path in sorted(unknown):
        found = documented_calls(torch, path, writer)
        if found:
            with open(os.path.join(folder, path + ".jsonl"), "w") as file:
                file.writelines(json.dumps(call) + "\n" for call in found)
            counts[path] = len(found)
    with open(os.path.join(folder, "index.json"), "w") as file:
        json.dump(counts, file)


if __name__ == "__main__":
    main()
