"""Discovery in NumPy: universal functions and type stubs."""

import numpy

from fissure_worker import discover


def params(path):
    found = discover.describe(path)
    assert found["problem"] is None, (path, found["problem"])
    return {one["name"]: one for one in found["forms"][0]["params"]}, found["forms"][0]["source"]


def universal_functions_have_their_dtypes():
    found, source = params("numpy.bitwise_and")
    assert source == "ufunc"
    first = next(iter(found.values()))
    assert "int32" in first["types"][0]["dtypes"] and "float32" not in first["types"][0]["dtypes"]
    found, _ = params("numpy.matmul")
    assert [one["types"][0]["shape"] for one in list(found.values())[:2]] == [
        "[...,n,k]",
        "[...,k,m]",
    ]


def stubs_are_read():
    found, source = params("numpy.percentile")
    assert source == "stub"
    assert found["keepdims"]["types"] == [{"sort": "bool"}], found["keepdims"]


universal_functions_have_their_dtypes()
stubs_are_read()
print("all of it holds")
