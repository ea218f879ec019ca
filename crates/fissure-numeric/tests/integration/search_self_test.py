"""Low precision, what soft assertions measure, what is no input, what is a note. Run by inputs.rs, see scan_in_process.py."""

from scan_in_process import Scan, case, check, run_cases

import torch


def script(text, **more):
    return Scan({"program.py": text}, **more)


# Low precision -----------------------------------------------------------------------------------


@case("data that float16 cannot hold is a note for a program that computes in float32")
def _():
    scan = Scan(
        {
            "program.py": """\
        import torch
        x = torch.rand(8) * 1000
        print((x * x).sum().item())
        """
        },
        level=1,
    )
    check(not scan.findings, scan)
    note = scan.at(3, scan.notes)
    check(note and note["oracle"] == "low_precision" and "float16" in note["reason"], scan)
    check(scan.reproduces(note), scan)


@case("a program that asks for autocast gets a finding where it fails under it")
def _():
    text = """\
        import torch
        a = torch.rand(8, 8) * 1000
        with torch.autocast("cuda", dtype=torch.float16):
            y = a @ a
            print(y.sum().item())
        """
    scan = Scan({"program.py": text}, level=1)
    found = scan.at(4)
    check(found and found["oracle"] == "low_precision" and found["severity"] == "critical", scan)
    check(scan.reproduces(found), scan)
    scan = Scan({"program.py": text.replace("* 1000", "* 2")}, level=1)
    check(not scan.findings, scan)
    # On a GPU this exponential is computed in float32.
    scan = Scan(
        {
            "program.py": text.replace("* 1000", "* 2").replace(
                "y = a @ a", "y = torch.exp(a @ a / 4)"
            )
        },
        level=0,
    )
    check(not scan.findings, scan)


@case("a half that only runs on a GPU is judged in float16")
def _():
    scan = Scan(
        {
            "program.py": """\
        import torch
        x = torch.rand(8) * 1000
        if torch.cuda.is_available():
            x = x.half()
        print((x * x).mean().item())
        """
        },
        level=1,
    )
    found = scan.at(5)
    check(found and found["oracle"] == "low_precision", scan)
    check(scan.reproduces(found), scan)


# Soft assertions ---------------------------------------------------------------------------------


@case("the failure regions of the registry are signed distances for every precision")
def _():
    import numpy

    from fissure_scan.steer.regions import regions

    for dtype, limit in (
        ("float16", 11.09375),
        ("bfloat16", 89.0),
        ("float32", 88.7228394),
        ("float64", 709.7827128933841),
    ):
        values = numpy.array([0.0, limit])
        increase = regions("exp", dtype)[0]
        check(increase.label == "increase", increase.label)
        check(increase.measure.distances(values).tolist() == [limit, 0.0], dtype)
    values = numpy.array([2.0, -1.0])
    decrease = regions("log", "float32")[0]
    check(decrease.measure.distances(values).tolist() == [2.0, -1.0], "log")
    around = regions("sqrt", "float32")[1]
    check(around.label == "toward zero", around.label)
    check(around.measure.distances(values).tolist() == [2.0, 1.0], "sqrt")
    without = regions("sqrt", "float32", gradients=False)
    check([region.label for region in without] == ["decrease"], without)


@case("the slope at the nearest element is what a small step changes, for every measure")
def _():
    import numpy

    from fissure_scan.steer import measures

    generator = numpy.random.Generator(numpy.random.PCG64(3))
    for measure in (
        measures.Below(5.0),
        measures.Above(-5.0),
        measures.Within(5.0),
        measures.Around(0.5, 0.01),
        measures.Vanishing(),
        measures.Gap(-1, 90.0),
        measures.Gap(0, 90.0),
        measures.Singular(),
    ):
        numbers = generator.normal(size=(3, 3))
        distance, slope = measure.nearest(numbers)
        step = 1e-6 * slope
        nearer, _ = measure.nearest(numbers - step)
        expected = distance - 1e-6 * float((slope * slope).sum())
        check(abs(nearer - expected) < 1e-10, (type(measure).__name__, nearer, expected))
    distance, slope = measures.Length().nearest(numpy.array([[3.0, 4.0], [30.0, 40.0]]))
    check((distance, slope.tolist()) == (5.0, [[3.0, 4.0], [0.0, 0.0]]), slope)


@case("an array of computed rows is no input, and what it is made of still is")
def computed_rows():
    text = """\
        import numpy as np
        X = np.random.rand(30, 4)
        y = np.arange(30) %% 3
        spread = np.array([X[y == c].var(axis=0) for c in range(3)])
        print((1.0 / np.sqrt(spread%s)).sum())
        """
    scan = script(text % "")
    check("spread" not in scan.inputs and scan.findings, scan)
    check(all("X" in record["input"] for record in scan.findings), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)
    check(not script(text % " + 1e-6").findings, scan)


@case("a tensor of computed numbers is no input")
def computed_numbers():
    scan = script(
        """\
        import torch
        x = torch.rand(6)
        pair = torch.tensor([x.mean(), x.std()])
        z = torch.rand(6)
        print(torch.log(z + 1.0).sum(), (pair * 2.0).sum())
        """
    )
    check("pair" not in scan.inputs and "z" in scan.inputs, scan)


@case("a failure that the code itself warns of is a note")
def warned_of():
    text = """\
        import warnings
        import torch
        x = torch.rand(8)
        spread = x.std()
        if spread < 1e-6:
            %s
        print(((x - x.mean()) / spread).sum().item())
        """
    scan = script(text % "pass")
    check(scan.findings, scan)
    scan = script(text % "warnings.warn('all values are equal')")
    check(not scan.findings, scan)
    check(any("warns of it" in (note["reason"] or "") for note in scan.notes), scan)


@case("rows that a docstring calls a distribution sum to 1")
def distributions():
    text = """\
        import torch
        def divergence(p, q):
            \"\"\"How far apart two distributions are.

            Args:
                p: data distribution with shape (n, d)
                q: %s
            \"\"\"
            p = p / p.sum(dim=-1, keepdim=True)
            return (p * torch.log1p((p - q) ** 2)).sum()
        """
    scan = Scan(
        {"program.py": text % "prior distribution with shape (n, d)"},
        target="program.py::divergence",
    )
    check(not scan.findings and scan.inputs["p"]["why"] == "documented as a distribution", scan)


run_cases()
