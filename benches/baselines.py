"""What `fissure fuzz` is measured against, on the inputs it ran itself.

Run by `cargo bench -p fissure-benches --bench throughput`, never by hand. Reads inputs as JSON
lines (one `ConcreteInput` each) and prints one JSON line per baseline:

raw         every argument is built beforehand; then a plain loop calls the API
fork        one fork per input, as DocTer does: the child builds the arguments, calls, and exits
hypothesis  Hypothesis draws arguments of the same kinds, shapes and ranges, and calls the API
"""

import importlib
import json
import os
import sys
import time

import torch

torch.set_num_threads(1)

DTYPES = {
    name: getattr(torch, name)
    for name in (
        "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
    ).split()
}


def tensor(data):
    pattern = bytes.fromhex(data["data"]["pattern"])
    dtype = DTYPES[data["dtype"]]
    count = 1
    for dim in data["shape"]:
        count *= dim
    if count == 0:
        return torch.empty(data["shape"], dtype=dtype)
    size = torch.empty(0, dtype=dtype).element_size()
    raw = bytearray((pattern * (count * size // len(pattern) + 1))[: count * size])
    return torch.frombuffer(raw, dtype=dtype).view(data["shape"])


def value(data):
    if data == "none":
        return None
    ((kind, body),) = data.items()
    if kind in ("bool", "text"):
        return body
    if kind == "int":
        return int(body)
    if kind == "float":
        return float(body)
    if kind == "tensor":
        return tensor(body)
    if kind == "list":
        return [value(item) for item in body]
    if kind == "tuple":
        return tuple(value(item) for item in body)
    if kind == "dtype":
        return DTYPES[body]
    if kind == "object":
        return resolve(body)
    raise ValueError("the benchmark does not use %s" % kind)


def resolve(path):
    parts = path.split(".")
    found = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part)
    return found


def arguments(entries):
    args = [value(a["value"]) for a in entries if a["passing"] == "positional"]
    kwargs = {a["name"]: value(a["value"]) for a in entries if a["passing"] == "keyword"}
    return args, kwargs


def perform(function, call):
    args, kwargs = arguments(call["arguments"])
    result = function(*args, **kwargs)
    if call.get("layer_arguments") is not None:
        args, kwargs = arguments(call["layer_arguments"])
        result = result(*args, **kwargs)
    return result


def raw(function, calls, seconds):
    ready = [
        arguments(call["arguments"])
        + (
            (arguments(call["layer_arguments"]),)
            if call.get("layer_arguments") is not None
            else (None,)
        )
        for call in calls
    ]
    done = 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        for args, kwargs, layer in ready:
            try:
                result = function(*args, **kwargs)
                if layer is not None:
                    result(*layer[0], **layer[1])
            except Exception:
                pass
        done += len(ready)
    return done, time.perf_counter() - started


def fork(function, calls, seconds):
    done = 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        call = calls[done % len(calls)]
        child = os.fork()
        if child == 0:
            try:
                perform(function, call)
            except Exception:
                pass
            os._exit(0)
        os.waitpid(child, 0)
        done += 1
    return done, time.perf_counter() - started


def hypothesis(function, calls, seconds):
    from hypothesis import HealthCheck, Phase, given, settings, strategies
    from hypothesis.extra import numpy as arrays
    import numpy

    def strategy(examples):
        kinds = {next(iter(e)) if isinstance(e, dict) else e for e in examples}
        options = []
        if "tensor" in kinds:
            shapes = sorted(
                {
                    (e["tensor"]["dtype"], tuple(e["tensor"]["shape"]))
                    for e in examples
                    if isinstance(e, dict) and "tensor" in e
                }
            )

            def draw(entry):
                dtype, shape = entry
                if dtype == "bfloat16":
                    dtype = "float32"
                kind = numpy.dtype(dtype)
                if kind.kind == "f":
                    elements = strategies.floats(-10, 10, width=kind.itemsize * 8)
                elif kind.kind == "b":
                    elements = strategies.booleans()
                else:
                    elements = strategies.integers(0, 10)
                return arrays.arrays(kind, shape, elements=elements).map(torch.from_numpy)

            options.append(strategies.sampled_from(shapes).flatmap(draw))
        if "int" in kinds:
            ints = [int(e["int"]) for e in examples if isinstance(e, dict) and "int" in e]
            options.append(strategies.integers(min(ints), max(ints)))
        if "float" in kinds:
            options.append(strategies.floats(-10, 10))
        if "bool" in kinds:
            options.append(strategies.booleans())
        rest = [
            e
            for e in examples
            if not (isinstance(e, dict) and next(iter(e)) in ("tensor", "int", "float", "bool"))
        ]
        if rest:
            options.append(
                strategies.sampled_from([json.dumps(e) for e in rest]).map(
                    lambda text: value(json.loads(text))
                )
            )
        return strategies.one_of(options)

    def grouped(entries_of):
        seen = {}
        for call in calls:
            for a in entries_of(call) or []:
                seen.setdefault((a["name"], a["passing"]), []).append(a["value"])
        return seen

    main = grouped(lambda call: call["arguments"])
    optional = {key for key in main if len(main[key]) < len(calls)}
    fixed = strategies.fixed_dictionaries(
        {key: strategy(main[key]) for key in main if key not in optional},
        optional={key: strategy(main[key]) for key in optional},
    )
    layer = grouped(lambda call: call.get("layer_arguments"))
    layered = strategies.fixed_dictionaries({key: strategy(layer[key]) for key in layer})
    counter = [0]
    deadline = time.perf_counter() + seconds

    @settings(
        max_examples=10**6,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(fixed, layered)
    def test(drawn, inner):
        if time.perf_counter() > deadline:
            raise TimeoutError
        counter[0] += 1
        try:
            result = function(
                *[v for (n, p), v in drawn.items() if p == "positional"],
                **{n: v for (n, p), v in drawn.items() if p == "keyword"},
            )
            if inner:
                result(
                    *[v for (n, p), v in inner.items() if p == "positional"],
                    **{n: v for (n, p), v in inner.items() if p == "keyword"},
                )
        except Exception:
            pass

    started = time.perf_counter()
    try:
        test()
    except TimeoutError:
        pass
    return counter[0], time.perf_counter() - started


def main():
    path, calls_file, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    function = resolve(path)
    with open(calls_file) as lines:
        calls = [json.loads(line) for line in lines]
    for baseline in sys.argv[4].split(","):
        done, elapsed = globals()[baseline](function, calls, seconds)
        print(json.dumps({"baseline": baseline, "inputs": done, "seconds": elapsed}), flush=True)


if __name__ == "__main__":
    main()
