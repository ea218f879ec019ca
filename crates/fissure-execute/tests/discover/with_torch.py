"""Discovery in PyTorch: schemas, methods, modules, custom operators."""

import sys
import types

import torch

from fissure_worker import discover
from fissure_worker.discover import description, examples
from fissure_worker.discover.examples import examples_of

# A crowded machine is slow.
examples.SECONDS = 60


def params(path, form=0, where="params"):
    found = discover.describe(path)
    assert found["problem"] is None, (path, found["problem"])
    return {one["name"]: one for one in found["forms"][form][where]}, found


def sorts(one):
    return [kind["sort"] for kind in one["types"]]


def functions_have_their_overloads():
    first, found = params("torch.add")
    assert [form["name"] for form in found["forms"]] == ["aten::add.Tensor", "aten::add.Scalar"]
    assert sorts(first["input"]) == ["tensor"] and first["out"]["kind"] == "keyword_only"
    assert sorts(params("torch.add", 1)[0]["other"]) == ["number"]
    first, _ = params("torch.sum")
    assert "axis" in sorts(first["dim"])


def methods_take_the_tensor_first():
    found = discover.describe("torch.Tensor.add_")
    assert found["kind"] == "method"
    for form in found["forms"]:
        assert form["params"][0]["name"] == "self" and sorts(form["params"][0]) == ["tensor"]
        assert "out" not in [one["name"] for one in form["params"]]


def modules_are_constructed_and_called():
    first, found = params("torch.nn.Conv1d")
    assert found["layer"] and first["in_channels"]["types"][0]["min"] >= 0
    assert "reflect" in first["padding_mode"]["types"][0]["choices"]
    call, _ = params("torch.nn.Conv1d", where="call_params")
    assert "[N,C_in,L_in]" in str(call["input"]["types"])


def functions_behind_a_boolean_are_seen():
    first, _ = params("torch.nn.functional.max_pool2d")
    assert "int" in sorts(first["kernel_size"]), first["kernel_size"]


def compiled_functions_carry_their_schema():
    holder = types.ModuleType("scripted_here")
    sys.modules["scripted_here"] = holder
    holder.doubled = torch.jit.CompilationUnit(
        "def doubled(x: Tensor, n: int) -> Tensor:\n    return x * n\n"
    ).doubled
    found = discover.describe("scripted_here.doubled")["forms"][0]
    assert [one["types"][0]["sort"] for one in found["params"]] == ["tensor", "int"], found


def custom_operators_are_found():
    library = torch.library.Library("fissure_test_space", "DEF")
    library.define("scaled(Tensor x, int[2] size, *, float? factor=None, str mode='a') -> Tensor")
    path = "torch.ops.fissure_test_space.scaled"
    assert discover.describe(path)["problem"] == "has no kernel for the processor"
    library.impl("scaled", lambda x, size, factor=None, mode="a": x, "CPU")
    first, found = params(path)
    assert found["kind"] == "operator"
    assert sorts(first["x"]) == ["tensor"] and first["x"]["required"]
    assert first["size"]["types"][0]["length"] == 2 or first["size"]["types"][0]["sort"] == "shape"
    assert sorts(first["factor"]) == ["float", "none"] and not first["factor"]["required"]


def sentences_of_the_text_are_read():
    first, _ = params("torch.bmm")
    assert [one["types"][0]["shape"] for one in list(first.values())[:2]] == ["[b,n,m]", "[b,m,p]"]
    first, _ = params("torch.Tensor.bmm")
    assert first["self"]["types"][0]["shape"] == "[b,n,m]"


def public_names():
    entries = discover.list_public("torch")
    paths = {one["path"] for one in entries}
    names = paths | {alias for one in entries for alias in one["aliases"]}
    for path in (
        "torch.add",
        "torch.nn.Linear",
        "torch.nn.functional.relu",
        "torch.Tensor.add_",
        "torch.linalg.det",
        "torch.special.erf",
        "torch.fft.fft",
        "torch.pixel_shuffle",
    ):
        assert path in names, path
    assert sum(path.startswith("torch.Tensor.") for path in paths) > 500
    usable = [one["path"] for one in entries if one["left_out"] is None]
    described = [discover.describe(path) for path in usable if path.startswith("torch.Tensor.")]
    known = [one for one in described if one["problem"] is None]
    assert len(known) > 0.9 * len(described), len(known)


def operators_are_seen_inside_the_functions_that_are_made_of_them():
    # Nothing documents them; `GroupNorm` and `LSTMCell` do what they do, forth and back.
    for name in ("native_group_norm", "native_group_norm_backward", "lstm_cell"):
        path = "torch.ops.aten." + name
        found = examples_of(path, description.find(path))
        assert found, path
        assert "tensor" in found[0]["arguments"][0], found[0]["arguments"][0]
    # What was replaced meanwhile is there again.
    assert type(torch.lstm_cell).__name__ == "builtin_function_or_method"
    assert "lstm_cell" not in vars(torch._VF)


functions_have_their_overloads()
operators_are_seen_inside_the_functions_that_are_made_of_them()
methods_take_the_tensor_first()
modules_are_constructed_and_called()
functions_behind_a_boolean_are_seen()
custom_operators_are_found()
compiled_functions_carry_their_schema()
sentences_of_the_text_are_read()
public_names()
print("all of it holds")
