"""Low precision, and the interface of the soft assertions. Run by inputs.rs, see scan_in_process.py."""

from scan_in_process import Scan, case, check, run_cases

import torch

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


@case("a provider of soft assertions takes the place of the analytic ones")
def _():
    from fissure_scan.steer import soft_assertions

    class Trained:
        label = "as trained"
        asked = 0

        def direction(self, values):
            Trained.asked += 1
            return values + 3.0

    def provider(name, dtype):
        return [Trained()] if (name, dtype) == ("log", "float32") else None

    soft_assertions.provide(provider)
    try:
        scan = Scan(
            {
                "program.py": """\
            import torch
            x = torch.randn(4)
            print(torch.log(x + 50).sum().item())
            """
            }
        )
    finally:
        soft_assertions.withdraw(provider)
    check(Trained.asked and scan.at(3)["label"].startswith("as trained"), scan)


@case("the failure regions of the registry are signed distances for every precision")
def _():
    from fissure_scan.steer import analytic

    for dtype, limit in (
        ("float16", 11.09375),
        ("bfloat16", 89.0),
        ("float32", 88.7228394),
        ("float64", 709.7827128933841),
    ):
        values = torch.tensor([0.0, limit], dtype=torch.float64)
        increase = analytic.intervals("exp", dtype)[0]
        check(increase.label == "increase", increase.label)
        check(increase.direction(values).tolist() == [limit, 0.0], dtype)
    decrease = analytic.intervals("log", "float32")[0]
    check(decrease.direction(torch.tensor([2.0, -1.0])).tolist() == [2.0, -1.0], "log")
    around = analytic.intervals("sqrt", "float32")[1]
    check(around.label == "toward zero", around.label)
    check(around.direction(torch.tensor([2.0, -1.0])).tolist() == [2.0, 1.0], "sqrt")


run_cases()
