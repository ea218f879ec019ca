"""Data that are no arrays of floats: whole numbers, frames of pandas. A fault and its twin each."""

import sys

from scan_in_process import Scan, case, check, run_cases


def script(text, **more):
    return Scan({"program.py": text}, **more)


def at(scan, function):
    return [record for record in scan.findings if record["site"]["function"] == function]


@case("counts that are drawn as whole numbers and divided by are inputs")
def counts():
    text = """\
        import numpy as np
        counts = np.random.poisson(50.0, size=(6, 4))
        size = counts.sum(axis=1)
        print((counts / %s[:, None]).max())
        """
    scan = script(text % "size")
    check(at(scan, "div"), scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    check(scan.inputs["counts"]["high"] >= 50.0 and scan.inputs["counts"]["low"] == 0.0, scan)
    scan = script(text % "np.maximum(size, 1)")
    check(not scan.findings and not scan.inputs["counts"]["frozen"], scan)


@case("labels that are compared are inputs, labels that only name elements are none")
def labels():
    text = """\
        import torch
        labels = torch.randint(0, 3, (12,))
        scores = torch.randn(12, 3)
        mask = (labels == 1).float()
        print((scores[:, 0] * mask).sum() / %s)
        """
    scan = script(text % "mask.sum()")
    check(at(scan, "div"), scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    scan = script(text % "mask.sum().clamp(min=1)")
    check(not at(scan, "div"), scan)
    scan = script(
        """\
        import torch
        labels = torch.randint(0, 3, (12,))
        scores = torch.randn(12, 3)
        print(torch.nn.functional.cross_entropy(scores, labels).item())
        """
    )
    check("labels" not in scan.inputs, scan)


@case("whole numbers that a function gets are varied where it computes with them")
def whole_parameters():
    text = """\
        import numpy as np
        def precision(y_true, y_pred):
            hits = np.sum(y_true * y_pred)
            return hits / %s
        if __name__ == "__main__":
            print(precision(np.array([1, 0, 1, 1]), np.array([1, 1, 0, 1])))
        """
    scan = script(text % "np.sum(y_pred)", target="program.py::precision")
    check(at(scan, "div"), scan)
    scan = script(text % "max(np.sum(y_pred), 1)", target="program.py::precision")
    check(not scan.findings, scan)


@case("a difference of bytes wraps around, one of wider numbers does not")
def bytes_apart():
    text = """\
        import numpy as np
        a = np.random.randint(0, 256, size=(8, 8)).astype(np.uint8)
        b = np.random.randint(0, 256, size=(8, 8)).astype(np.uint8)
        print(np.abs(%s - %s).mean())
        """
    scan = script(text % ("a", "b"))
    check([record for record in at(scan, "sub") if record["oracle"] == "wraparound"], scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    scan = script(text % ("a.astype(int)", "b.astype(int)"))
    check(not scan.findings, scan)


@case("a product that is meant to wrap is no finding")
def hashes():
    scan = script(
        """\
        import torch
        keys = torch.arange(20)
        print((keys * 2654435761123456789 % 1000).float().mean())
        """
    )
    check(not scan.findings, scan)


@case("what pandas computes is seen, and what it reads is an input")
def frames():
    try:
        import pandas
    except ImportError:
        print("not tried: pandas is not installed", file=sys.stderr)
        return
    text = """\
        import io
        import pandas as pd
        frame = pd.read_csv(io.StringIO("price,volume\\n10.5,3.0\\n11.0,4.0\\n10.8,2.5\\n"))
        print((frame["price"] / %s).max())
        """
    scan = script(text % "frame['volume']")
    check(at(scan, "div"), scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    scan = script(text % "frame['volume'].abs().clip(lower=1e-3)")
    check(not scan.findings and scan.events.of("own_run")[0]["operations"] > 0, scan)


@case("a source that makes arrays of several shapes gets the same kind of values each time")
def several_shapes():
    text = """\
        import torch
        def boxes(n):
            corner = torch.rand(n, 2)
            return torch.cat([corner, corner + torch.rand(n, 2)], dim=1)
        def area(b):
            return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        total = area(boxes(5))[:, None] + area(boxes(7))[None]
        print((1e-3 / %s).sum())
        """
    scan = script(text % "total")
    check(at(scan, "div"), scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    scan = script(text % "total.clamp(min=1e-3)")
    check(not at(scan, "div"), scan)


@case("counts that are converted by np.asarray are inputs")
def converted_counts():
    text = """\
        import numpy as np
        def share(counts):
            counts = np.%s(counts, dtype=float)
            return counts / %s
        counts = np.random.default_rng(0).integers(0, 4, size=6)
        print(share(counts).max())
        """
    for name in ("asarray", "array"):
        scan = script(text % (name, "counts.sum()"))
        check([record["site"]["line"] for record in scan.findings] == [4], scan)
        scan = script(text % (name, "max(counts.sum(), 1.0)"))
        check(not scan.findings, scan)


run_cases()
