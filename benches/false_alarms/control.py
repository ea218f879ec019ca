"""The clean control: oracles over calls that are right.

PyTorch's own tests carry sample inputs for several hundred operators (OpInfo). The library is taken
to be right on them, so a report is a false alarm, or a bug of PyTorch that its tests do not see.

Run with an interpreter that has PyTorch:
    python control.py PYTHON_FOLDER ORACLE,ORACLE… [--calls N] [--apis N] [--stride N] [--only NAME]
Prints one JSON object per line: reports and failures as they come, then one summary per oracle.
"""

import argparse
import json
import sys
import time
import types
import warnings


def operators():
    from torch.testing._internal import common_methods_invocations

    # Random operators are wrapped so that they seed themselves; then nobody could tell that they
    # are random.
    common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    return common_methods_invocations.op_db


#: Element types that samples are asked for, by turns.
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "complex64", "bool")


def samples(operator, per_api, turn):
    """(dtype, sample) of one operator: several types, spread over the list of samples."""
    import torch

    taken = 0
    for step in range(len(DTYPES)):
        name = DTYPES[(step + (turn if step == 0 else 0)) % len(DTYPES)] if step else "float32"
        dtype = getattr(torch, name)
        if dtype not in operator.supported_dtypes("cpu"):
            continue
        try:
            found = list(operator.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception:
            # Samples of some operators need packages that are absent.
            continue
        want = max(1, (per_api - taken + 1) // 2)
        step_size = max(1, len(found) // want)
        for sample in found[::step_size][:want]:
            yield name, sample
            taken += 1
        if taken >= per_api:
            return


#: What `--special` puts into tensors of floating point.
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-3,
    100.0,
    -100.0,
    1e4,
    float("inf"),
    float("-inf"),
    float("nan"),
)


def with_special(value, generator):
    """The same argument with special values at some places: no control, but where bugs are."""
    import torch

    if isinstance(value, (list, tuple)):
        return type(value)([with_special(item, generator) for item in value])
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return value
    if value.layout is not torch.strided:
        return value
    copy = value.detach().clone(memory_format=torch.contiguous_format)
    flat = copy.view(-1)
    for _ in range(1 + flat.numel() // 8):
        place = int(torch.randint(flat.numel(), (), generator=generator))
        choice = int(torch.randint(len(SPECIAL), (), generator=generator))
        flat[place] = SPECIAL[choice]
    return copy


class Comparisons:
    """Counts runs and comparisons of results: an oracle that is not concerned makes none."""

    def __init__(self, compare):
        self.made = 0
        self.inner = compare.differences
        compare.differences = self

    def count(self):
        self.made += 1

    def __call__(self, *arguments, **keywords):
        self.count()
        return self.inner(*arguments, **keywords)


def path_of(operator):
    """The dotted path of what is called. Some operators are tested through a function that changes
    the order of arguments: it must not be taken for the API of the same name."""
    import torch

    found = torch
    for part in operator.name.split("."):
        found = getattr(found, part, None)
    if found is operator.op:
        return "torch." + operator.name
    # Some oracles import what they call.
    path = "control"
    for part in operator.name.split("."):
        module = sys.modules.setdefault(path, types.ModuleType(path))
        path += "." + part
        setattr(module, part, operator.op)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("oracles")
    parser.add_argument("--per-api", type=int, default=4)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--special", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    package = types.ModuleType("fissure_worker")
    package.__path__ = [options.folder]
    sys.modules["fissure_worker"] = package
    from fissure_worker.seeds import AbsentFinder

    sys.meta_path.append(AbsentFinder())
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    from fissure_worker import oracles
    from fissure_worker.oracles import compare
    from fissure_worker.oracles.call import plain_call

    comparisons = Comparisons(compare)
    generator = torch.Generator()
    generator.manual_seed(0)
    names = options.oracles.split(",")
    counts = {name: Count() for name in names}
    began = time.perf_counter()
    for turn, operator in enumerate(operators()[options.offset :: options.stride]):
        if options.only and operator.name not in options.only.split(","):
            continue
        if time.perf_counter() - began > options.seconds:
            break
        for dtype, sample in samples(operator, options.per_api, turn):
            arguments = [sample.input] + list(sample.args)
            if options.special:
                arguments = [with_special(argument, generator) for argument in arguments]
            try:
                call = plain_call(
                    operator.op, arguments, sample.kwargs, path=path_of(operator), library=torch
                )
            except Exception:
                # An argument that cannot be copied.
                continue
            if call.error is not None:
                continue
            # What oracles share is not put down to the first of them.
            call.random, call.mutates, call.referee.reference
            for name in names:
                comparisons.made = 0
                # A beat while something compiles is no run.
                call.pulse = None if name == "compile" else comparisons.count
                judgement = oracles.judge(call, [name], lambda judgement, report: None)
                # The oracle `nan` looks at each result and compares only those that have one.
                looked = bool(comparisons.made) or name == "nan"
                counts[name].add(operator.name, call, judgement, looked)
                for report in judgement.reports:
                    report = dict(
                        report,
                        api=operator.name,
                        dtype=dtype,
                        input=repr(call.build().parts())[:1000],
                    )
                    print(json.dumps({"report": report}), flush=True)
                for _, text in judgement.failures:
                    print(json.dumps({"failure": [name, operator.name, dtype, text]}), flush=True)
    for name in names:
        print(json.dumps(counts[name].summary(name)), flush=True)


class Count:
    """What one oracle did."""

    def __init__(self):
        self.calls = self.compared = self.reports = self.nanoseconds = 0
        self.plain = 0.0
        self.apis = set()
        self.apis_compared = set()

    def add(self, api, call, judgement, looked):
        self.calls += 1
        self.apis.add(api)
        self.reports += bool(judgement.reports)
        self.nanoseconds += sum(cost for _, cost in judgement.costs)
        self.plain += call.seconds
        if looked:
            self.compared += 1
            self.apis_compared.add(api)

    def summary(self, name):
        return {
            "oracle": name,
            "calls": self.calls,
            "apis": len(self.apis),
            "compared": self.compared,
            "apis_compared": len(self.apis_compared),
            "reports": self.reports,
            "microseconds": self.nanoseconds // max(1, self.calls) // 1000,
            "plain_microseconds": int(self.plain / max(1, self.calls) * 1e6),
        }


if __name__ == "__main__":
    main()
