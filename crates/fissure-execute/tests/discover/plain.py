"""Discovery without any library: signatures, annotations, docstrings, source, stubs, public names."""

import os
import sys
import tempfile
import textwrap

from fissure_worker import discover
from fissure_worker.discover import docstrings, sentences
from fissure_worker.discover.shapes import shape

PACKAGE = {
    "own/__init__.py": "from own.ops import window as window\nfrom own._private import shown\n",
    "own/_private.py": "def shown(x: float): return x\ndef hidden(x): return x\n",
    "own/ops.py": '''
        import enum
        import os.path
        from dataclasses import dataclass
        from typing import Dict, List, Optional, Tuple, Union

        MODES = ("sum", "mean")

        class Side(enum.Enum):
            LEFT = 1
            RIGHT = 2

        class Failure(Exception):
            pass

        def window(x: List[float], width: int, mode="sum", *, side: Side = Side.LEFT,
                   scale: Optional[float] = None, pair: Union[int, Tuple[int, int]] = 1):
            if width <= 0:
                raise ValueError("width")
            if mode not in MODES:
                raise ValueError("mode")
            return x

        def correct_twin(width, mode):
            """Nothing is checked here, so nothing is known."""
            return width if mode else 0

        def branches(kind="full"):
            if kind == "full":
                return 1
            elif kind == "same":
                return 2
            raise ValueError(kind)

        def needs_a_file(filename):
            return open(filename)

        def google(a, b, mode):
            """Adds.

            Args:
                a (int): Number of items. Must be non-negative.
                b: A list of ints of length 3.
                mode: One of `"x"`, `"y"` or `"z"`.

            Returns:
                (str) something else.
            """

        def numpy_style(a, axis=None, order="C"):
            """Adds.

            Parameters
            ----------
            a : array_like
                The values, at least 2-D.
            axis : {int, tuple of int}, optional
                Axis along which.
            order : {'C', 'F'}, optional
                Order.

            Returns
            -------
            out : int
            """

        def sphinx(a, b):
            """Adds.

            :param int a: non-negative
            :param b: a flag
            :type b: bool
            :returns: str
            """

        class Layer:
            def __init__(self, units: int):
                if units < 1:
                    raise ValueError(units)
            def __call__(self, inputs: List[float]):
                return inputs

        class Plain:
            def __init__(self, units: int):
                pass

        def fused(one, two):
            assert type(one) == Plain and two is not None
            return one

        class Declared:
            def __init__(self, units: int):
                pass
            def __call__(self, inputs):
                raise NotImplementedError

        def takes_keywords(x, **rest):
            scale = rest.pop("scale", 2.0)
            if "hidden_flag" in rest:
                return rest["_private"]
            return x, scale

        def hands_on(x, **rest):
            """Whatever it gets, it does not look at."""
            return window(x, **rest)

        class Based(Plain):
            def __init__(self, name: str, **kwargs):
                Plain.__init__(self, **kwargs)

        class Sized(Based):
            def __init__(self, **kwargs):
                super().__init__("fixed", units=3, **kwargs)

        def either(x, **rest):
            if "width" in rest:
                width = rest.pop("width")
            else:
                width = rest.pop("old_width", None)
            return x, width
    ''',
}


def types(path, name, where="params"):
    found = discover.describe(path)
    assert found["problem"] is None, found["problem"]
    return next(one["types"] for one in found["forms"][0][where] if one["name"] == name)


def sorts(path, name):
    return [one["sort"] for one in types(path, name)]


def annotations_are_read():
    assert types("own.ops.window", "x") == [{"sort": "list", "of": {"sort": "float"}}]
    assert sorts("own.ops.window", "scale") == ["float", "none"]
    assert sorts("own.ops.window", "pair") == ["int", "tuple"]
    (side,) = types("own.ops.window", "side")
    assert side["choices"] == ["own.ops.Side.LEFT", "own.ops.Side.RIGHT"], side


def checks_in_the_source_are_read():
    (width,) = types("own.ops.window", "width")
    assert (width["min"], width["min_open"]) == (0, True), width
    (mode,) = types("own.ops.window", "mode")
    assert mode["choices"] == ["sum", "mean"], mode
    (kind,) = types("own.ops.branches", "kind")
    assert kind["choices"] == ["full", "same"], kind
    (one,) = types("own.ops.fused", "one")
    assert one["instance"] == "own.ops.Plain", one
    assert sorts("own.ops.fused", "two") == ["any"]
    (mode,) = types("own.ops.correct_twin", "mode")
    assert "choices" not in mode, mode


def keywords_outside_the_signature_are_found():
    assert sorts("own.ops.takes_keywords", "scale") == ["float"]
    (form,) = discover.describe("own.ops.takes_keywords")["forms"]
    kinds = {one["name"]: one["kind"] for one in form["params"]}
    assert kinds["hidden_flag"] == kinds["_private"] == "keyword_only", kinds
    (form,) = discover.describe("own.ops.hands_on")["forms"]
    assert [one["name"] for one in form["params"]] == ["x", "rest"], form
    assert sorts("own.ops.Based", "units") == ["int"]
    (form,) = discover.describe("own.ops.Sized")["forms"]
    assert not {"units", "name"} & {one["name"] for one in form["params"]}, form
    (form,) = discover.describe("own.ops.either")["forms"]
    names = [one["name"] for one in form["params"]]
    assert "width" in names and "old_width" not in names, names


def docstrings_of_each_style_are_read():
    (a,) = types("own.ops.google", "a")
    assert (a["sort"], a["min"]) == ("int", 0), a
    (b,) = types("own.ops.google", "b")
    assert (b["sort"], b["of"]["sort"], b["length"]) == ("list", "int", 3), b
    (mode,) = types("own.ops.google", "mode")
    assert mode["choices"] == ["x", "y", "z"], mode
    (order,) = types("own.ops.numpy_style", "order")
    assert order["choices"] == ["C", "F"], order
    assert set(sorts("own.ops.numpy_style", "axis")) == {"axis", "tuple", "none"}
    assert types("own.ops.numpy_style", "a")[0]["sort"] == "tensor"
    assert types("own.ops.sphinx", "a")[0]["min"] == 0
    assert sorts("own.ops.sphinx", "b") == ["bool"]
    found = discover.describe("own.ops.google")["doc_constraints"]
    assert any(one["sentence"].startswith("Must be non-negative") for one in found), found


def classes_with_a_call_are_layers():
    assert discover.describe("own.ops.Layer")["layer"]
    assert types("own.ops.Layer", "inputs", "call_params")[0]["sort"] == "list"
    assert not discover.describe("own.ops.Plain")["layer"]


def public_names_are_grouped_and_reasons_given():
    entries = {one["path"]: one for one in discover.list_public("own")}
    assert entries["own.window"]["aliases"] == ["own.ops.window"], entries
    assert "own.shown" in entries and not any("hidden" in path for path in entries)
    assert entries["own.ops.needs_a_file"]["left_out"] == "needs a file (`filename`)"
    assert entries["own.ops.Failure"]["left_out"] == "is an exception"
    assert entries["own.ops.branches"]["left_out"] is None
    assert entries["own.ops.Declared"]["left_out"].startswith("is only declared")
    assert entries["own.ops.Layer"]["left_out"] is None
    assert not any("path" in path.split(".") or "dataclass" in path for path in entries)
    deny = [{"pattern": "own.ops.google", "reason": "because"}]
    entries = {one["path"]: one for one in discover.list_public("own", deny)}
    assert entries["own.ops.google"]["left_out"] == "because"


def what_is_not_there_is_said_and_never_raised():
    found = discover.describe("own.ops.nothing")
    assert found["missing"] and "nothing" in found["problem"]
    assert discover.describe("own.ops.MODES")["problem"].startswith("is not callable")
    for path in ("builtins.range", "builtins.zip", "builtins.print", "itertools.chain", "os.stat"):
        problem = discover.describe(path)["problem"]
        assert not (problem or "").startswith("cannot be described"), (path, problem)


def files_are_targets(folder):
    path = os.path.join(folder, "single.py")
    with open(path, "w") as stream:
        stream.write("def f(n: int): return n\n")
    assert sorts(path + "::f", "n") == ["int"]


def shapes_are_read():
    assert shape("(N, C_{in}, L)") == "[N,C_in,L]"
    assert shape("(*, H_{out})") == "[...,H_out]"
    assert shape("(N, d_1, d_2, ..., d_K)") == "[N,...]"
    assert shape("[batch, 4]") == "[batch,4]"
    assert shape("[batch] + spatial_shape + [channels]") == "[batch,...,channels]"
    assert shape("[D1...DN, chars]") == "[...,chars]"
    assert shape("[length, batch, other_feature_dims]") == "[length,batch,...]"
    assert shape("[batch, height, dims]") == "[batch,height,dims]"
    assert shape("(optional)") is None
    assert shape("(the height and the width of it, more)") is None


def sentences_and_what_they_say():
    """Sentences of every sort, each with what it says and, where told, with what it does not say."""
    for text, said, unsaid in (
        # Types.
        ("A `Tensor` with floating point or complex dtype.", ("dtype", "complex"), None),
        ("Real-valued input array.", ("dtype", "float"), None),
        ("`Tensor` with type `float` or `double`.", ("dtype", "float64"), None),
        ("Allowed dtypes: `float16`, `float32`, `complex64`.", ("dtype", "complex64"), None),
        ("A 0-D Tensor or Python value of type `y`.", ("dtype", "dtype:&y"), None),
        ("The specified output type of the operation.", ("dtype", "dtype"), None),
        ("Tuple of 3 tuples, padding pattern.", ("ndim", "2"), None),
        # Shapes.
        ("A `batch_size` x `classes` tensor.", ("shape", "[batch_size,classes]"), None),
        ("Must be `half` or `double`, with shape `[..., M, M]`.", ("shape", "[...,M,M]"), "string"),
        ("A list of ints that has length `1`, `2` or `4`.", ("shape", "[2]"), None),
        ("A 1-D tensor of length `rows`.", ("shape", "[rows]"), None),
        ("Last dimension must be size 3.", ("shape", "[...,3]"), "[3]"),
        ("Stride of the window: (h, w) or (d, h, w).", ("shape", "[3]"), None),
        ("List of N ints.", ("shape", "[N]"), None),
        ("A tuple of two ints.", ("shape", "[2]"), None),
        ("Its shape should be [n].", ("shape", "[n]"), None),
        ("3-D Tensor [batch, time, depth].", ("shape", "[batch,time,depth]"), None),
        ("The input `(N, C, H, W)`.", ("shape", "[N,C,H,W]"), None),
        ("A mask that has a shape like `y`.", ("shape", "shape:&y"), None),
        ("Tensor of shape `(*, n)` or `(*, n, k)`.", ("shape", "[...,n,k]"), None),
        ("A string `Tensor` of shape `[N, 3]`.", ("shape", "[N,3]"), None),
        ("Lengths, having size `[batch]`.", ("shape", "[batch]"), None),
        ("An array of the form [length, batch, ...].", ("shape", "[length,batch,...]"), None),
        ("A Tensor of size rows.", ("shape", "[rows]"), None),
        ("A single integer or double-integer tuple.", ("shape", "[2]"), None),
        ("Size of the last dimension must be 1 or 3.", ("shape", "[...,3]"), "3"),
        ("An array whose last dimension has length k.", ("shape", "[...,k]"), "[k]"),
        ("A vector of length 'channel', which is added.", ("shape", "[channel]"), None),
        ("Boxes, a 2D array of [[index, x1, y1, x2, y2]].", ("shape", "[...,5]"), None),
        (
            "`Tensor` of shape `[batch] + y + [k]` if it fits.",
            ("shape", "[batch,...,k]"),
            "[batch]",
        ),
        ("A list of `ints` that has length `>= 4`.", ("shape", "[>=4]"), "[4,inf)"),
        # Ranks.
        ("A tensor of rank `R > 0`.", ("ndim", ">=1"), None),
        ("An n-dimensional tensor, where n >= 2.", ("ndim", ">=2"), None),
        ("Must be at least 2-dimensional.", ("ndim", ">=2"), "[2,inf)"),
        # Ranges.
        ("Values must be greater than or equal to zero.", ("range", "[0,inf)"), None),
        ("An int > 1. The number of buckets.", ("range", "(1,inf)"), "[0,inf)"),
        ("Augmentation Param: Number of samplers.", ("range", "[0,inf)"), None),
        ("Only factors that are no less than 0.25 are supported.", ("range", "[0.25,inf)"), "25"),
        ("Must satisfy `0 <= x < 1`.", ("range", "[0,1)"), None),
        ("Level of detail, from 1 to 31.", ("range", "[1,31]"), None),
        ("Must be greater than zero.", ("range", "(0,inf)"), None),
        ("In the range `[-rank(y), rank(y))`.", ("range", "[-ndim:&y,ndim:&y)"), None),
        ("In the range `[0, y)`.", ("range", "[0,&y)"), None),
        ("The decay rate of the mean.", ("range", "[0,1]"), None),
        ("Fraction of the input units to drop.", ("range", "[0,1]"), None),
        ("A tensor of positive values.", ("range", "(0,inf)"), None),
        ("If given, the number of bins.", ("range", "[0,inf)"), None),
        ("Lengths of data for each of the samples.", ("range", "[0,inf)"), None),
        # Choices.
        ("A string. 'NHWC' and 'NCHW' are supported.", ("enum", "NCHW"), None),
        ("One of: * `'replace'`: as it is. * `'strict'`: raises.", ("enum", "strict"), None),
        ("The plot: 'TB' creates a tall plot; 'LR' creates a wide one.", ("enum", "LR"), None),
        ("`first` corresponds to this while `last` corresponds to that.", ("enum", "last"), None),
        ("If x='none', nothing is done. If x='mean', it is.", ("enum", "mean"), None),
        ("Possible values: 0: nearest. 1: linear.", ("enum", "1"), None),
        ("Order. Only 2 is currently supported.", ("enum", "2"), None),
        ("Method to use, 'a' (the default), 'b' or 'c'.", ("enum", "c"), None),
        ("Must be 1 or 2.", ("enum", "2"), None),
        ("Only 'a' is supported.", ("enum", "a"), None),
        ("Implementation mode, either 1 or 2.", ("enum", "2"), None),
        ("Options (any one of default, short, full)", ("enum", "short"), None),
        ("The type. Currently support 'int_a', 'b' and 'auto'.", ("enum", "auto"), None),
        ("One of: `'strict'`: raises.`'ignore'`: skips.", ("enum", "ignore"), None),
        ("'fast' - will be quick 'slow' - will be exact", ("enum", "slow"), None),
        ('An optional `string` from `"NWC", "NCW"`.', ("enum", "NCW"), None),
        ("Supported modes: nearest, linear, cubic.", ("enum", "linear"), None),
        ("If 'fast', do this. If 'slow', do that.", ("enum", "slow"), None),
    ):
        found = facts(text, params=["y"])
        assert said in found, (text, found)
        assert unsaid is None or unsaid not in {value for _, value in found}, (text, found)


def sentences_that_tell_of_a_case_or_of_something_else():
    for text, unsaid in (
        ("If set to k > 1, cells are skipped.", "range"),
        ("A tensor with `rank >= 2`.", "range"),
        ("N-D tensor, where `N >= 2`.", "range"),
        ("Rank must be at least 1.", "range"),
        ("Whether the log of the probability is returned.", "range"),
        ("A 0-D (scalar) `Tensor`, or a `Tensor` with the same shape as `y`.", "shape"),
        ("For example, data with shape (m, n, k) has m rows.", "shape"),
        ("Exactly one of `y` and `z` must be given.", "enum"),
        ("If given, it is used in place of the size of the window.", "range"),
        ("A bool. Only one of 'ragged' and 'sparse' can be used.", "enum"),
        ("Device to use, 'cpu', 'cuda', etc.", "enum"),
        ("Add a random value in `[-x, x]` to the image.", "range"),
        ("C from an expected input of size (N, C, L).", "shape"),
        ("Reduces into a scalar array with shape (1,).", "shape"),
        ("Broadcast to fit `y.shape[axis]`.", "shape"),
        ("If x has length d, d copies are made.", "shape"),
        ("Value +1 (positive), -1 (negative), 0 (ignore).", "range"),
        ("Data is clipped to the range [0, 1].", "range"),
        ("Setting it to a positive number makes a copy.", "range"),
        ("Number of rows. Negative values are supported.", "range"),
        ("Begin of the slice, size of each step; supports negative indices.", "range"),
        ("The type of padding algorithm to use.", "dtype"),
        ("Real-valued input array.", "ndim"),
        ("Scale, needed if the rank of at least one `y` is known.", "ndim"),
    ):
        found = facts(text, params=["y", "z"])
        assert unsaid not in {key for key, _ in found}, (text, found)
    # The default is outside: then it was no bound.
    assert "range" not in {key for key, _ in facts("Number of rows.", default=-1)}
    assert ("range", "[0,inf)") in facts("Number of rows.", default=1)
    assert "range" not in {key for key, _ in facts("Number of rows, set -1 for no limit.")}


def facts(text, kind="", params=(), default=None):
    found = sentences.extract("x", kind, text, params, default)
    return {(one["key"], one["value"]) for one in found}


def sentences_become_constraints():
    for text, fact in (
        ("A 4-D `Tensor` of shape `[batch, h, w, c]`.", ("shape", "[batch,h,w,c]")),
        ("A 4-D `Tensor`.", ("ndim", "4")),
        ("1-D or higher numeric `Tensor`.", ("ndim", ">=1")),
        ("A `Tensor`. Must be one of the following types: `half`, `int32`.", ("dtype", "float16")),
        ("A value in the range [0, 1).", ("range", "[0,1)")),
        ("Must be greater than 3.", ("range", "(3,inf)")),
        ("Between 2 and 5.", ("range", "[2,5]")),
        ("Number of rows.", ("range", "[0,inf)")),
        ("If ``True``, sorts.", ("dtype", "bool")),
        ("Can be a single number or a tuple.", ("structure", "tuple")),
        ("``'a'`` | ``'b'``", ("enum", "b")),
        ('An optional `string` from: `"NHWC", "NCHW"`.', ("enum", "NCHW")),
    ):
        assert fact in facts(text), (text, facts(text))
    assert ("dtype", "dtype:&y") in facts("Must have the same type as `y`.", params=["y"])
    assert ("shape", "shape:&y") in facts("Same shape as `y`.", params=["y"])
    assert ("tensor_t", "tensor") in facts("", "LongTensor")
    assert ("dtype", "int64") in facts("", "LongTensor")


def sentences_about_other_things_say_nothing():
    for text in (
        "See the documentation of the function above.",
        "The one that you want.",
        "Only one of `ragged` and `sparse` can be given.",
    ):
        assert not {fact for fact in facts(text) if fact[0] in ("enum", "range", "shape")}, text
    assert not facts("Same shape as `other`.", params=["y"])


def sections_end_where_they_end():
    text = "F.\n\nArgs:\n    a: an int\n\nReturns:\n    b: a float\n\nExample::\n\n    c: 3\n"
    assert list(docstrings.parse(text)[0]) == ["a"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PACKAGE.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as stream:
                stream.write(textwrap.dedent(text))
        sys.path.insert(0, folder)
        annotations_are_read()
        checks_in_the_source_are_read()
        keywords_outside_the_signature_are_found()
        docstrings_of_each_style_are_read()
        classes_with_a_call_are_layers()
        public_names_are_grouped_and_reasons_given()
        what_is_not_there_is_said_and_never_raised()
        files_are_targets(folder)
        shapes_are_read()
        sentences_become_constraints()
        sentences_and_what_they_say()
        sentences_that_tell_of_a_case_or_of_something_else()
        sentences_about_other_things_say_nothing()
        sections_end_where_they_end()
    print("all of it holds")


main()
