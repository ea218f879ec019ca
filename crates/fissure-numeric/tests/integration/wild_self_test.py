"""Programs as strangers write them: each mechanism of the scan on a fault and on its twin."""

import scan_in_process as scans
from scan_in_process import Scan, case, check, run_cases


def function(text, name, **more):
    return Scan({"program.py": text}, target="program.py::" + name, **more)


@case("a conversion is seen in every spelling, and a saturated one is silent")
def conversions():
    text = """\
        import numpy as np
        def constructor(x):
            return np.uint8(x * 255.0)
        def keyword(x):
            return np.array(x * 255.0, dtype=np.uint8)
        def assignment(x):
            out = np.zeros(x.shape, dtype=np.uint8)
            out[:] = x * 255.0
            return out
        def saturated(x):
            return np.uint8(np.clip(x * 255.0, 0, 255))
        def order(x):
            return np.sort(x)[x.argsort()[::-1]]
        """
    for name in ("constructor", "keyword", "assignment"):
        scan = function(text, name)
        check(any(record["oracle"] == "wraparound" for record in scan.findings), scan)
    for name in ("saturated", "order"):
        scan = function(text, name)
        check(not any(record["oracle"] == "wraparound" for record in scan.records), scan)


@case("an overflow that a later root turns into a silent zero is found, a scaled one is not")
def silent_zero():
    text = """\
        import torch
        def unit(x):
            return x * torch.rsqrt((x ** 4).sum(-1, keepdim=True).clamp_min(1e-12).sqrt())
        def square(x):
            return x * torch.rsqrt((x * x).sum(-1, keepdim=True).clamp_min(1e-12))
        def scaled(x):
            y = x / x.abs().amax(-1, keepdim=True).clamp_min(1e-30)
            return y * torch.rsqrt((y * y).sum(-1, keepdim=True).clamp_min(1e-12))
        """
    scan = function(text, "unit")
    check(any(record["oracle"] == "silently_wrong" for record in scan.findings), scan)
    # Only values of 1e19 overflow there: worth a note.
    scan = function(text, "square")
    check(not scan.findings and scan.records, scan)
    scan = function(text, "scaled")
    check(not scan.findings, scan)


@case("a failure that the program tests for and replaces by a wrong value is found")
def tested():
    text = """\
        import torch
        def replaced(x):
            y = torch.log(1 + torch.exp(x))
            return torch.where(torch.isinf(y), torch.zeros_like(y), y)
        """
    scan = function(text, "replaced")
    check(any(record["oracle"] == "silently_wrong" for record in scan.findings), scan)


@case("a tensor wrapped anew is no input")
def wrapped():
    scan = function(
        """\
        import torch
        from torch.autograd import Variable
        def loss(x):
            w = Variable(x.data.tanh())
            return torch.log(w + 2.0).sum()
        """,
        "loss",
    )
    check([name for name, entry in scan.inputs.items() if not entry["frozen"]] == ["x"], scan)
    check(not scan.findings, scan)


@case("other flags and choices are tried")
def choices():
    scan = function(
        """\
        import torch
        def spread(x, reduction="mean"):
            y = torch.tanh(x)
            if reduction == "mean":
                return y.mean()
            if reduction == "ratio":
                return y.mean() / y.std()
            raise ValueError(reduction)
        """,
        "spread",
    )
    check(any(record["site"]["line"] == 7 for record in scan.findings), scan)


@case("inner dimensions of one element are tried")
def inner_sizes():
    scan = function(
        """\
        import torch
        def normalised(x):
            y = torch.tanh(x)
            return (y - y.mean((2, 3), keepdim=True)) / (y.std((2, 3), keepdim=True) + 1e-5)
        def call():
            return normalised(torch.linspace(-1, 1, 2 * 3 * 4 * 4).reshape(2, 3, 4, 4))
        if __name__ == "__main__":
            call()
        """,
        "normalised",
    )
    check(
        any(
            record["site"]["line"] == 4 and record["site"]["function"] == "std"
            for record in scan.findings
        ),
        scan,
    )


@case("what a function says leads to arguments that it accepts")
def arguments():
    text = """\
        import torch
        class Net(torch.nn.Module):
            def __init__(self, channels, hidden=6):
                super().__init__()
                self.first = torch.nn.Conv2d(channels, hidden, 3)
                self.last = torch.nn.Linear(hidden, 10)
            def forward(self, x):
                return torch.log(torch.softmax(self.last(self.first(x).mean((2, 3))), 1))
        def joined(parts):
            return torch.log(torch.cat([part.exp() for part in list(parts)[:2]]).sum())
        def clipped(optimizer, bound):
            total = sum(p.grad.norm() for g in optimizer.param_groups for p in g["params"])
            return torch.log(total) * bound
        def moved(image, mode):
            if mode not in ("near", "far"):
                raise ValueError("mode must be one of 'near' or 'far'")
            b, c, h, w = image.shape
            return torch.sqrt(image.reshape(b, c, h * w)).sum()
        def configured(x, config):
            return torch.log(x * config.scale + config.offset).sum()
        def labelled(scores, classes):
            if classes.dtype != torch.int64:
                raise TypeError("classes must be long integers")
            return torch.softmax(scores, 1).gather(1, classes[:, None]).log().mean()
        """
    for name in ("Net.forward", "joined", "clipped", "moved", "configured", "labelled"):
        scan = function(text, name)
        check(
            not scan.problem()
            and scan.session.problem is None
            and scan.session.baseline.operations > 0,
            (name, scan, scan.session.problem),
        )


@case("a finding says in a sentence what its input is")
def sentences():
    scan = function(
        """\
        import torch
        def standardised(x):
            return (x - x.mean(0)) / x.std(0)
        """,
        "standardised",
    )
    check(
        any(
            "column" in record["sentence"]
            or "equal" in record["sentence"]
            or "zeros" in record["sentence"]
            for record in scan.findings
        ),
        scan,
    )


@case("the advice names the call that made the operand")
def advice():
    scan = function(
        """\
        import torch
        def forward(x):
            return torch.softmax(x, dim=1)
        def loss(x):
            probabilities = forward(x)
            return -torch.log(probabilities).mean()
        """,
        "loss",
    )
    check(any("log_softmax" in (record["advice"] or "") for record in scan.findings), scan)


@case("a call that does not come back is a finding, one that takes long is not")
def hangs():
    text = """\
        import torch
        def endless(x):
            while float(x.abs().sum()) == 0.0:
                pass
            return torch.tanh(x).sum()
        def ends(x):
            count = 0
            while float(x.abs().sum()) == 0.0 and count < 100:
                count += 1
            return torch.tanh(x).sum()
        """
    scan = function(text, "endless")
    check(any(record["oracle"] == "hang" for record in scan.findings), scan)
    scan = function(text, "ends")
    check(not any(record["oracle"] == "hang" for record in scan.records), scan)


@case("values outside what a function is for are not its ordinary data")
def domains():
    scan = function(
        """\
        import torch
        def divergence(first, second):
            return (first * (torch.log(first + 1e-6) - torch.log(second + 1e-6))).sum()
        """,
        "divergence",
    )
    check(
        not any(
            record["level"] == "L0" or "ordinary" in record["sentence"] for record in scan.findings
        ),
        scan,
    )
    check(scan.inputs["second"]["low"] == 0.0, scan)


def script(text, **more):
    return Scan({"program.py": text}, **more)


@case("draws of an own generator are inputs, and what is picked from them is made of them")
def generators():
    text = """\
        import numpy as np
        rng = np.random.RandomState(0)
        data = rng.rand(12)
        start = rng.choice(data, 3)
        print(start / data.sum()%s)
        """
    scan = script(text % "")
    check(scan.at(5) is not None and scan.reproduces(scan.at(5)), scan)
    check(list(scan.inputs) == ["data"], scan)
    check(not script(text % " if data.sum() > 0 else 0.0").findings, scan)


@case("a penalty on a gradient is part of the step")
def penalties():
    text = """\
        import torch
        net = torch.nn.Linear(3, 1)
        x = torch.rand(4, 3, requires_grad=True)
        slope = torch.autograd.grad(net(x).tanh().sum(), x, create_graph=True)[0]
        loss = (torch.sqrt((slope ** 2).sum(1)%s) - 1.0).pow(2).mean()
        loss.backward()
        """
    scan = script(text % "")
    check(any(record["oracle"] == "gradient_nonfinite" for record in scan.findings), scan)
    check(not script(text % " + 1e-12").findings, scan)


@case("labels that a formula multiplies with are zeros and ones")
def labels():
    text = """\
        import torch
        def loss(logits, target):
            p = torch.sigmoid(logits)
            return -torch.log(%s).mean()
        """
    scan = function(text % "p * target + (1 - p) * (1 - target)", "loss")
    check(scan.inputs["target"]["high"] == 1.0, scan)
    check(list(scan.at(4)["input"]) == ["logits"], scan)
    scan = function(text % "1e-6 + p * target + (1 - p) * (1 - target)", "loss")
    check(not scan.findings, scan)


@case("one cause is one finding")
def causes():
    scan = function(
        """\
        import torch
        def statistics(x, y):
            n = x.shape[0]
            a = torch.tanh(x).sum() / (n - 1)
            b = torch.tanh(y).sum() / (n - 1)
            return a, b, torch.log(torch.cosh(torch.tanh(x)) - 0.5)
        """,
        "statistics",
    )
    check(len(scan.findings) == 1 and scan.at(4) is not None, scan)
    check([site["line"] for site in scan.at(4)["same_cause"]] == [5], scan)
    scan = script(
        """\
        import torch
        x, y = torch.randn(3), torch.randn(3)
        print(torch.log(x * x).sum().item())
        print(torch.log(y * y).sum().item())
        """
    )
    check(len(scan.findings) == 2, scan)


@case("digits that the inputs never had are nobody's loss")
def conditioning():
    text = """\
        import numpy as np
        x = np.random.normal(10.0, 1.0, size=64).astype(np.float32)
        %s
        print(float(spread))
        """
    naive = "spread = np.mean(x * x) - np.mean(x) ** 2"
    scan = script(text % naive)
    wanted = ("cancellation", "stable_algorithm")
    check(any(record["oracle"] in wanted for record in scan.findings), scan)
    twice = "wide = x.astype(np.float64); spread = np.mean((wide - wide.mean()) ** 2)"
    check(not script(text % twice).findings, scan)


@case("the script of every finding was run and showed it")
def shown():
    scan = script(
        """\
        import torch
        x = torch.randn(4, 3)
        print((x / x.norm(dim=1, keepdim=True)).sum().item(), torch.exp(x).sum().item())
        """
    )
    check(scan.findings, scan)
    check(all(record["reproduced"] is True for record in scan.findings), scan)


@case("the tests of a project show how a function is called")
def tests_of_the_project():
    files = {
        "program.py": """\
            import torch
            def blend(first, second, table):
                return torch.log(first * table["low"] + second * table["high"]).sum()
            """,
        "tests/test_blend.py": """\
            import unittest
            import torch
            import program
            class Blend(unittest.TestCase):
                def test_blend(self):
                    table = {"low": 0.25, "high": 0.75}
                    program.blend(torch.full((2, 2), 0.75), torch.full((2, 2), 0.75), table)
            """,
    }
    scan = Scan(files, target="program.py::blend", observe="tests")
    check(scan.inputs["first"]["shape"] == [2, 2], scan)
    check("as in the call" in scan.inputs["first"]["why"], scan)


@case("weights far from what they are, and data of 10^18, are notes, also where a program trains")
def far_away():
    text = """\
        import torch
        torch.manual_seed(0)
        power = torch.nn.Parameter(torch.tensor([3.0]))
        x = torch.rand(16, 4) + 0.5
        target = torch.randn(16, 4)
        loss = (x.pow(power) - %s).pow(2).mean()
        loss.backward()
        print(loss.item())
        """
    scan = Scan({"program.py": text % "target"})
    check(not scan.findings, scan)
    scan = Scan({"program.py": text % "torch.exp(target)"})
    check(any(record["site"]["function"] == "exp" for record in scan.findings), scan)


@case("the base of a logarithm is above 1 where it is described")
def base_of_a_logarithm():
    text = """\
        import numpy as np
        def information(p, base=2.0):
            \'\'\'Information of events.

            Parameters
            ----------
            p : ndarray
                Probabilities between 0.1 and 0.9.
            base : float
                %s
            \'\'\'
            return np.sqrt(-np.log(p) / np.log(base))
        """
    scan = function(text % "The base of the logarithm.", "information")
    check(not scan.findings and scan.inputs["base"]["low"] == 1.0, scan)
    scan = function(text % "Another number.", "information")
    check(scan.findings, scan)


assert scans
run_cases()
