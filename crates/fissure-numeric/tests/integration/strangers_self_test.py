"""Programs around other libraries, and programs that do not run as they are: a fault and its twin each."""

import importlib.util
import sys
import types

import numpy
import scan_in_process as scans
from scan_in_process import Scan, case, check, run_cases


def script(text, **more):
    return Scan({"program.py": text}, **more)


def library():
    """A package as scikit-learn and SciPy are: it takes arrays, gives plain ones, and has data."""
    module = types.ModuleType("stranger")
    data = types.ModuleType("sklearn.datasets")

    def smoothed(values):
        values = numpy.array(values, dtype=float)
        return values - values.min()

    def load_flowers():
        return {"data": numpy.linspace(1.0, 2.0, 12).reshape(4, 3), "names": ["a", "b", "c"]}

    def make_blobs():
        return numpy.linspace(1.0, 2.0, 12).reshape(4, 3), numpy.array([0, 1, 0, 1])

    for function in (load_flowers, make_blobs):
        function.__module__ = data.__name__
        setattr(data, function.__name__, function)

    def scores(values):
        values = numpy.array(values, dtype=float)
        with numpy.errstate(all="ignore"):
            return (values - values.mean()) / values.std()

    for function in (smoothed, scores):
        function.__module__ = module.__name__
        setattr(module, function.__name__, function)
    module.datasets = data
    sys.modules[module.__name__] = module


library()


@case("an array that a library gives back is followed")
def given_back():
    text = """\
        import numpy as np
        import stranger
        x = np.random.uniform(1.0, 2.0, size=8)
        y = stranger.smoothed(x)
        print(np.log(y%s).sum())
        """
    scan = script(text % "")
    check(any(record["site"]["function"] == "log" for record in scan.findings), scan)
    scan = script(text % " + 1.0")
    check(not scan.findings and scan.events.of("own_run")[0]["operations"] > 0, scan)
    check("y" not in scan.inputs, scan)


@case(
    "a library that gives NaN where it gave numbers is where it failed, unless the program has thought of it"
)
def spoiled_there():
    text = """\
        import numpy as np
        import stranger
        worst = float("inf")
        x = np.random.uniform(1.0, 2.0, size=8)
        y = %s
        print(worst, y.max())
        """
    scan = script(text % "stranger.scores(x)")
    found = [(record["site"]["line"], record["site"]["function"]) for record in scan.findings]
    check(found == [(5, "scores")], scan)
    check(all(record["reproduced"] is True for record in scan.findings), scan)
    scan = script(text % "np.nan_to_num(stranger.scores(x))")
    check(not scan.findings, scan)


@case("a temporary folder is gone when the program leaves it, and what was read from it is data")
def temporary_folder():
    text = """\
        import os
        import tempfile
        import numpy as np
        with tempfile.TemporaryDirectory() as folder:
            np.savetxt(os.path.join(folder, "levels.csv"), np.linspace(1.0, 2.0, 8))
            levels = np.loadtxt(os.path.join(folder, "levels.csv"))
        print(1.0 / (levels.std()%s), os.path.exists(folder))
        """
    scan = script(text % "")
    check(scan.events.of("own_run")[0]["error"] is None, scan)
    check([record["site"]["line"] for record in scan.findings] == [7], scan)
    scan = script(text % " + 1e-3")
    check(not scan.findings, scan)


@case("what a library of data sets gives is an input, in a tuple and in a record")
def data_sets():
    for line in (
        "X, y = stranger.datasets.make_blobs()",
        "X = stranger.datasets.load_flowers()['data']",
    ):
        text = (
            "import numpy as np\nimport stranger\n%s\n"
            "print(((X - X.mean(axis=0)) / (X.std(axis=0)%s)).sum())\n"
        )
        scan = script(text % (line, ""))
        check(any(record["site"]["function"] == "div" for record in scan.findings), scan)
        check(all(record["reproduced"] for record in scan.findings), scan)
        scan = script(text % (line, " + 1e-3"))
        check(not scan.findings, scan)


@case(
    "a computed matrix that linear algebra refuses is found, one that is caught or was given is not"
)
def refused():
    text = """\
        import numpy as np
        x = np.random.uniform(-1.0, 1.0, size=(5, 2))
        d = ((x[:, None] - x[None]) ** 2).sum(-1)
        k = np.exp(-d)%s
        %s
        """
    plain = "print(np.log(np.diag(np.linalg.cholesky(k))).sum())"
    scan = script(text % ("", plain))
    found = [record for record in scan.findings if record["site"]["function"] == "cholesky"]
    check(found and "refuses its matrix" in found[0]["sentence"], scan)
    check(found[0]["reproduced"], scan)
    scan = script(text % (" + 0.1 * np.eye(5)", plain))
    check(not scan.findings, scan)
    caught = "try:\n            np.linalg.cholesky(k)\n        except np.linalg.LinAlgError:\n            print(0)"
    scan = script(text % ("", caught))
    check(not any(record["site"]["function"] == "cholesky" for record in scan.findings), scan)
    scan = script(
        """\
        import numpy as np
        a = np.random.uniform(-1.0, 1.0, size=(3, 3))
        print(np.linalg.inv(a).sum())
        """
    )
    check(not any("refuses" in record["sentence"] for record in scan.records), scan)


@case("digits that are lost on the way and not in the results are no finding")
def recovered():
    text = """\
        import torch
        q = torch.nn.functional.normalize(torch.randn(6, 4), dim=-1)
        r = torch.nn.functional.normalize(torch.randn(6, 4), dim=-1)
        dot = (q * r).sum(-1, keepdim=True).clamp(-1.0, 1.0)
        s = (1 - dot * dot).clamp_min(0.0).sqrt()
        print((%s).sum().item())
        """
    scan = script(text % "s")
    check(any(record["oracle"] == "cancellation" for record in scan.findings), scan)
    scan = script(text % "q + r + 1e-6 * s")
    check(not scan.findings, scan)


@case("a call that never comes back is a finding, one that does is none")
def endless():
    text = """\
        import torch
        def shrunk(x):
            while x.abs().sum() >= 0:
                x = x * %s
                %s
            return x
        """
    scan = Scan({"program.py": text % ("1.0", "x = x + 0")}, target="program.py::shrunk")
    check([record["oracle"] for record in scan.findings] == ["hang"], scan)
    scan = Scan({"program.py": text % ("0.5", "break")}, target="program.py::shrunk")
    check(not any(record["oracle"] == "hang" for record in scan.records), scan)


@case("a function of a script that cannot run is scanned all the same")
def unrunnable():
    text = """\
        import numpy as np
        rows = int(input("rows: "))
        table = np.loadtxt("no-such-file.csv")
        def scaled(x):
            return x / %s
        """
    scan = Scan({"program.py": text % "x.std()"}, target="program.py::scaled")
    check(any(record["site"]["function"] == "div" for record in scan.findings), scan)
    check(all(record["reproduced"] for record in scan.findings), scan)
    scan = Scan({"program.py": text % "(x.std() + 1e-3)"}, target="program.py::scaled")
    check(not scan.findings, scan)


assert scans


@case("a module that is being imported is known as such, so that it is not cut in two")
def imports():
    from fissure_scan.run.surroundings import importing

    scan = Scan(
        {
            "late.py": "import sys\nfrom fissure_scan.run.surroundings import importing\n"
            "DURING = importing(sys._getframe())\n",
            "program.py": "import late\nimport numpy as np\nprint(np.log(np.ones(3)), late.DURING)\n",
        }
    )
    check("True" in scan.events.of("own_run")[0]["output"], scan)
    check(not importing(sys._getframe()), scan)


@case("what NumPy code replaces afterwards is a note, what it keeps is a finding")
def replaced_afterwards():
    text = """\
        import numpy as np
        x = np.maximum(np.random.randn(12), 0.0)
        y = np.log(x)
        %s
        print(y.sum())
        """
    scan = script(text % "y = np.where(x > 0, y, 0.0)")
    check(not scan.findings and scan.notes, scan)
    scan = script(text % "y[x == 0] = 0.0")
    check(not scan.findings and scan.notes, scan)
    scan = script(text % "y = y * 2.0")
    check(scan.findings, scan)


@case("what one infinity does not show, many of them do")
def many_infinities():
    text = """\
        import torch
        noise = torch.rand(6, 4)
        scores = torch.log(noise%s)
        print(torch.softmax(scores, dim=-1).sum())
        """
    scan = script(text % "")
    check(scan.findings, scan)
    scan = script(text % ".clamp(min=1e-6)")
    check(not scan.findings, scan)


@case("a number of NumPy that is watched meets tensors as an ordinary one does")
def numbers_of_numpy():
    text = """\
        import numpy as np
        import torch
        def anneal(x, blur=0.5):
            total = x
            for exponent in np.arange(0.0, 2 * np.log(blur), np.log(blur)):
                scale = np.exp(exponent)
                total = scale * total / (scale + total.abs()) + total * scale - scale
            return total / total.std()
        """
    scan = Scan({"program.py": text}, target="program.py::anneal")
    check(scan.session.problem is None, scan)
    check(any(record["site"]["line"] == 8 for record in scan.findings), scan)


@case("a quotient of complex numbers is an operation like others")
def complex_numbers():
    text = """\
        import numpy as np
        image = np.random.rand(6, 6)
        spectrum = np.fft.fft2(image)
        spectrum = spectrum / %s
        print(np.fft.ifft2(spectrum).real.max())
        """
    scan = script(text % "np.abs(spectrum)")
    check([record["site"]["line"] for record in scan.findings] == [4], scan)
    check(scan.findings[0]["reproduced"], scan)
    scan = script(text % "np.maximum(np.abs(spectrum), 1e-9)")
    check(not scan.findings, scan)


@case("points that are rows here and coordinates there coincide")
def coinciding_points():
    text = """\
        import numpy as np
        stations = np.array([[48.1, 11.5], [52.5, 13.4], [50.1, 8.7], [53.5, 9.9]])
        lat = np.radians(np.random.uniform(47.0, 55.0, 20))[:, None]
        lon = np.radians(np.random.uniform(6.0, 15.0, 20))[:, None]
        a, b = np.radians(stations[:, 0]), np.radians(stations[:, 1])
        c = np.sin(lat) * np.sin(a) + np.cos(lat) * np.cos(a) * np.cos(lon - b)
        print(np.arccos(%s).min())
        """
    scan = script(text % "c")
    check(any(record["site"]["function"] == "acos" for record in scan.findings), scan)
    scan = script(text % "np.clip(c, -1.0, 1.0)")
    check(not scan.findings, scan)


@case("an option that a function asks about under another name may be 0")
def handed_on():
    text = """\
        import argparse
        import numpy as np
        def rate(step, warmup):
            if step %s warmup:
                return step / warmup
            return 1.0
        parser = argparse.ArgumentParser()
        parser.add_argument("--warmup-steps", type=int, default=4)
        args = parser.parse_args()
        weights = np.ones(3)
        for step in range(8):
            weights = weights - rate(step, args.warmup_steps) * 0.1
        print(weights)
        """
    scan = script(text % "<=")
    check([record["site"]["line"] for record in scan.findings] == [5], scan)
    scan = script(text % "<")
    check(not scan.findings, scan)


@case("how a script makes up its data is no failure of it")
def simulated():
    text = """\
        import numpy as np
        rng = np.random.default_rng(1)
        x = rng.normal(size=20)
        prices = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.01, 20)))
        rate = np.exp(0.3 * x)
        counts = rng.poisson(rate)
        print(prices.mean(), counts.mean()%s)
        """
    scan = script(text % "")
    check(not scan.findings, scan)
    scan = script(text % ", rate.mean()")
    check([record["site"]["line"] for record in scan.findings] == [5], scan)


@case("a column of whole numbers in a frame is the array that it was made of")
def whole_columns():
    text = """\
        import numpy as np
        import pandas as pd
        rng = np.random.default_rng(2)
        visits = pd.DataFrame({"shown": rng.integers(0, 50, 12), "clicked": rng.integers(0, 20, 12)})
        print((visits["clicked"] / %s).max())
        """
    if importlib.util.find_spec("pandas") is None:
        return
    scan = script(text % 'visits["shown"]')
    check([record["site"]["line"] for record in scan.findings] == [5], scan)
    scan = script(text % 'visits["shown"].clip(lower=1)')
    check(not scan.findings, scan)


@case("a step that is divided by what it changed fails where nothing is left to change")
def fixed_point():
    text = """\
        import torch
        def slope(p):
            p = p.detach().requires_grad_(True)
            return torch.autograd.grad(((p - 1.0) ** 4).sum(), p)[0]
        p = torch.tensor([0.8, 0.5])
        for _ in range(3):
            g = slope(p)
            p = p - 0.1 * g / %s
        print(p)
        """
    scan = script(text % "g.norm()")
    check([record["site"]["line"] for record in scan.findings] == [8], scan)
    scan = script(text % "(g.norm() + 1e-3)")
    check(not scan.findings, scan)


@case("probabilities that a program writes down stay probabilities")
def written_probabilities():
    text = """\
        import numpy as np
        start = np.array([%s])
        print(np.log(start + 1e-9).sum())
        """
    scan = script(text % "0.6, 0.4")
    check(not scan.findings and scan.inputs["start"]["low"] == 0.0, scan)
    scan = script(text % "0.6, 0.9")
    check([record["site"]["line"] for record in scan.findings] == [3], scan)


@case("what is documented of a parameter holds for the array that is made of a list")
def documented_lists():
    text = """\
        import numpy as np
        def spread(p):
            \'\'\'Entropy of what may happen.

            Parameters
            ----------
            p : list of float
                %s

            Examples
            --------
            >>> spread([1.0, 0.0, 0.0])
            \'\'\'
            p = np.asarray(p)
            return -(p * np.log(p + 1e-12)).sum()
        """
    scan = Scan({"program.py": text % "A probability vector."}, target="program.py::spread")
    check(not scan.findings and scan.inputs["p"]["high"] == 1.0, scan)
    scan = Scan({"program.py": text % "Heights."}, target="program.py::spread")
    check([record["site"]["function"] for record in scan.findings] == ["log"], scan)


run_cases()
