"""Discovery in TensorFlow: the registry of operations."""

import tensorflow

from fissure_worker import discover


def form(path):
    found = discover.describe(path)
    assert found["problem"] is None, (path, found["problem"])
    return found["forms"][0]


def operations_have_their_types_and_choices():
    found = form("tensorflow.raw_ops.Conv2D")
    by_name = {one["name"]: one for one in found["params"]}
    assert found["keyword_only_call"] and found["source"] == "registry"
    assert "float32" in by_name["input"]["types"][0]["dtypes"]
    assert by_name["padding"]["types"][0]["choices"] == ["SAME", "VALID", "EXPLICIT"]
    assert found["relations"][0]["params"] == ["input", "filter"]
    assert by_name["data_format"]["default"] == "'NHWC'"


def lists_have_their_least_length():
    (values,) = [
        one for one in form("tensorflow.raw_ops.ConcatV2")["params"] if one["name"] == "values"
    ]
    assert values["types"][0]["min_length"] == 2


def handles_are_said_to_be_needed():
    assert "handle" in discover.describe("tensorflow.raw_ops.ReadVariableOp")["problem"]


def all_operations_are_listed():
    entries = discover.list_public("tensorflow")
    raw = [one for one in entries if one["path"].startswith("tensorflow.raw_ops.")]
    assert len(raw) > 1000, len(raw)
    assert any(one["left_out"] for one in raw)


operations_have_their_types_and_choices()
lists_have_their_least_length()
handles_are_said_to_be_needed()
all_operations_are_listed()
print("all of it holds")
