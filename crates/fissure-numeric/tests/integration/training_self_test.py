"""What training and gaps do: each mechanism on a fault and on its twin."""

import sys

import scan_in_process as scans
from scan_in_process import Scan, case, check, run_cases


def function(text, name, **more):
    return Scan({"program.py": text}, target="program.py::" + name, **more)


def at(scan, line):
    return [record for record in scan.findings if record["site"]["line"] == line]


@case(
    "a function that is only defined is differentiated: a root at 0 has no gradient, a floored one has"
)
def differentiated():
    text = """\
        import torch
        def distances(x):
            return torch.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
        def floored(x):
            return torch.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-8)
        def without(x):
            with torch.no_grad():
                return torch.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
        def in_place(x):
            x += 1.0
            return x.numpy().sum()
        """
    scan = function(text, "distances")
    found = at(scan, 3)
    check(found and found[0]["oracle"] == "gradient_nonfinite" and found[0]["reproduced"], scan)
    for name in ("floored", "without", "in_place"):
        scan = function(text, name)
        check(not scan.findings, (name, scan))


@case("the gradients of a layer's weights count, and where nothing is divided by 0 they are there")
def layers():
    text = """\
        import torch
        class Ratio(torch.nn.Module):
            def __init__(self, size=3):
                super().__init__()
                self.layer = torch.nn.Linear(size, size)
            def forward(self, x):
                y = self.layer(x)
                return torch.where(y.abs() > 0, y.pow(2).pow(0.5), torch.zeros_like(y))
        class Kept(Ratio):
            def forward(self, x):
                return self.layer(x).abs()
        """
    scan = function(text, "Ratio")
    check(any(record["oracle"] == "gradient_nonfinite" for record in at(scan, 8)), scan)
    scan = function(text, "Kept")
    check(not scan.findings, scan)


@case("a mean over the elements that a condition keeps is steered to none of them")
def conditions():
    text = """\
        import torch
        torch.manual_seed(0)
        layer = torch.nn.Linear(6, 2)
        x, y = torch.randn(24, 6), torch.randint(0, 2, (24,))
        hard = torch.nn.functional.cross_entropy(layer(x), y, reduction="none")
        keep = (hard > 0.3).float()
        loss = (hard * keep).sum() / keep.sum()%s
        loss.backward()
        """
    scan = Scan({"program.py": text % ""})
    check(at(scan, 7), scan)
    scan = Scan({"program.py": text % ".clamp(min=1.0)"})
    check(not at(scan, 7), scan)


@case(
    "where a module begins at random is no data; its weights are, and so are data that a module is given"
)
def beginnings():
    text = """\
        import torch
        class Power(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.randn(6, 4))
                self.register_buffer("u", self.unit(torch.randn(6)))
            def unit(self, v):
                return v / %s
            def forward(self, x):
                v = torch.mv(self.weight.t().detach(), self.u)
                return x @ self.weight.t() / (self.u.dot(self.weight.mv(self.unit(v))) ** 2 + 1e-6)
        torch.manual_seed(0)
        layer = Power()
        layer(torch.randn(5, 4)).sum().backward()
        """
    scan = Scan({"program.py": text % "v.norm()"})
    found = at(scan, 8)
    check(found and found[0]["level"] == "L3", scan)
    scan = Scan({"program.py": text % "(v.norm() + 1e-6)"})
    check(not at(scan, 8), scan)


@case(
    "a label that does not occur, or a node without an edge, is tried; an order has all of its places"
)
def absent():
    text = """\
        import torch
        torch.manual_seed(0)
        labels = torch.randint(0, 4, (32,))
        x = torch.randn(32, 3)
        sums = torch.zeros(4, 3).index_add(0, labels, x)
        counts = torch.zeros(4).index_add(0, labels, torch.ones(32))
        centres = sums / counts%s.unsqueeze(1)
        print(centres.abs().max())
        """
    scan = Scan({"program.py": text % ""})
    check(at(scan, 7), scan)
    scan = Scan({"program.py": text % ".clamp(min=1.0)"})
    check(not scan.findings, scan)
    scan = Scan(
        {
            "program.py": """\
        import torch
        torch.manual_seed(0)
        order = torch.randperm(16)
        x = torch.randn(16)
        counts = torch.zeros(16).index_add(0, order, torch.ones(16))
        print((x[order] / counts).sum())
        """
        }
    )
    check(not at(scan, 6), scan)


@case("an isolated node of a sparse graph is found, with a floor under the degrees it is none")
def sparse():
    text = """\
        import torch
        torch.manual_seed(0)
        edges = torch.randint(0, 6, (2, 50))
        graph = torch.sparse_coo_tensor(edges, torch.ones(50), (6, 6)).coalesce()
        degree = torch.sparse.sum(graph, dim=1).to_dense()
        scale = degree%s.pow(-0.5)
        row, column = graph.indices()
        graph = torch.sparse_coo_tensor(graph.indices(), graph.values() * scale[row] * scale[column], (6, 6))
        print(torch.sparse.mm(graph, torch.randn(12, 3)).abs().max())
        """
    scan = Scan({"program.py": text % ""})
    check(at(scan, 6), scan)
    scan = Scan({"program.py": text % ".clamp(min=1.0)"})
    check(not scan.findings, scan)


@case("a quotient of columns with gaps fails at its own line")
def gaps():
    try:
        import pandas
    except ImportError:
        print("not tried: pandas is not installed", file=sys.stderr)
        return
    assert pandas
    text = """\
        import numpy as np
        import pandas as pd
        rng = np.random.default_rng(0)
        prices = pd.Series(rng.normal(100, 1, 60))
        moves = prices.diff()
        spread = moves.rolling(5).std()
        ratio = (moves / %s).dropna()
        print(ratio.tail(3))
        """
    scan = Scan({"program.py": text % "spread"})
    check(at(scan, 7), scan)
    scan = Scan({"program.py": text % "(spread + 1e-3)"})
    check(not at(scan, 7), scan)


@case("a sentence of the docstring, or what fails beyond 1 at once, bounds an argument")
def ranges():
    text = '''\
        import torch
        def correction(action):
            """Log density of actions in [-1, 1]."""
            return torch.log(1 - action ** 2 + 1e-6).sum(-1)
        def undone(action):
            return torch.atanh(action).sum(-1)
        def held(action):
            return torch.atanh(action.clamp(-0.999, 0.999)).sum(-1)
        '''
    for name in ("correction", "held"):
        scan = function(text, name)
        check(not scan.findings, (name, scan))
    scan = function(text, "undone")
    check(at(scan, 6), scan)
    text = '''\
        import numpy as np
        def density(x, spread):
            """Parameters
            ----------
            x : ndarray
                Residuals.
            spread : ndarray
                %s
            """
            return -0.5 * np.log(spread) - x ** 2 / spread
        '''
    scan = function(text % "Conditional variances of the residuals.", "density")
    check(not scan.findings and scan.inputs["spread"]["low"] is not None, scan)
    scan = function(text % "Log variances.", "density")
    check(scan.inputs["spread"]["why"] != "documented", scan)


@case(
    "choices that only the source names, arrays that are left out together, and classes are called"
)
def called():
    text = """\
        import torch
        def basis(x, kind=None):
            if kind not in ("flat", "round"):
                raise ValueError("kind=%r is not a valid entry" % (kind,))
            return torch.log(x) if kind == "flat" else x * x
        class Metric:
            def __init__(self, truth=None, guess=None):
                self.truth, self.guess = truth, guess
            def __call__(self, truth=None, guess=None):
                if truth is None or guess is None:
                    raise ValueError("truth or guess is None. Pass truth and guess.")
                return (truth / guess).mean()
        """
    for name, line in (("basis", 5), ("Metric", 12)):
        scan = function(text, name)
        check(scan.records, (name, scan))


@case("a call with large arrays is made with corners of them, where it accepts these")
def corners():
    text = """\
        import torch
        def contrast(image):
            assert image.shape[1] == 3 and image.shape[2] >= %d
            return ((image - image.mean()) / image.std()).abs().max()
        if __name__ == "__main__":
            contrast(torch.rand(4, 3, 96, 96))
        """
    for least, size in ((2, 8), (20, 32), (60, 96)):
        scan = function(text % least, "contrast")
        check(scan.inputs["image"]["shape"][2:] == [size, size] and at(scan, 4), scan)


assert scans
run_cases()
