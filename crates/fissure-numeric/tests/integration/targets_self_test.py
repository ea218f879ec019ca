"""Where the arguments of a target function come from. Run by inputs.rs, see scan_in_process.py."""

from scan_in_process import Scan, case, check, run_cases

# Arguments of a target function ------------------------------------------------------------------


@case("a NumPy docstring gives shapes, types and ranges")
def _():
    scan = Scan(
        {
            "losses.py": '''\
        import torch

        def likelihood(mean, spread, labels):
            """Negative log likelihood.

            Parameters
            ----------
            mean : torch.Tensor of shape (n, d)
                Any value in [-1, 1].
            spread : torch.Tensor, shape (n, d)
                Strictly positive, at least 0.1.
            labels : torch.LongTensor, shape (n,)
                Class indices.

            Returns
            -------
            float
            """
            assert mean.shape == spread.shape and labels.shape == mean.shape[:1]
            assert labels.dtype == torch.int64 and bool((spread >= 0.1).all())
            return (mean / spread).sum() + torch.log(spread).sum() + labels.sum()
        '''
        },
        "losses.py::likelihood",
    )
    check(not scan.problem() and not scan.findings, scan)
    check((scan.inputs["mean"]["low"], scan.inputs["mean"]["high"]) == (-1.0, 1.0), scan)
    check(
        scan.inputs["spread"]["low"] == 0.1 and scan.inputs["spread"]["why"] == "documented", scan
    )


@case("a Google docstring gives shapes and ranges")
def _():
    scan = Scan(
        {
            "losses.py": '''\
        import torch

        def entropy(probs, weight):
            """Entropy.

            Args:
                probs (Tensor): probabilities, shape (batch, classes)
                weight (Tensor): one per class, shape (classes,), in (0, 2]

            Returns:
                Tensor: the entropy
            """
            assert probs.dim() == 2 and weight.shape == probs.shape[1:]
            return -(weight * probs * torch.log(probs)).sum(1)
        '''
        },
        "losses.py::entropy",
    )
    found = scan.at(14)
    check(found and found["severity"] == "critical" and found["level"] == "L1", scan)
    check(scan.inputs["weight"]["high"] == 2.0, scan)
    check(scan.reproduces(found), scan)


@case("a Sphinx docstring gives types and ranges")
def _():
    scan = Scan(
        {
            "losses.py": '''\
        import numpy as np

        def decay(times, rate):
            """Exponential decay.

            :param times: non-negative times
            :type times: numpy.ndarray of shape (n,)
            :param float rate: between 0.5 and 2
            """
            assert isinstance(rate, float) and times.ndim == 1 and (times >= 0).all()
            return np.exp(-rate * times)
        '''
        },
        "losses.py::decay",
    )
    check(not scan.problem() and not scan.findings, scan)
    check(scan.inputs["rate"]["high"] == 2.0 and scan.inputs["times"]["low"] == 0.0, scan)


@case("arguments come from the call in the main block")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def loss(table, width, names):
            return torch.log(table["x"].reshape(-1, width)).sum() + torch.sqrt(names[0]).sum()

        if __name__ == "__main__":
            print(loss({"x": torch.full((6,), 2.0)}, 3, [torch.ones(2)]))
        """
        },
        "losses.py::loss",
        level=0,
    )
    check(not scan.problem() and not scan.records, scan)


@case("arguments come from a test in the same file, and from an example of the docstring")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def loss(x, kind):
            if kind != "odd":
                raise KeyError(kind)
            return torch.log(x).sum()

        def test_loss_is_finite():
            assert torch.isfinite(loss(torch.tensor([1.5, 2.5]), "odd"))
        """
        },
        "losses.py::loss",
    )
    check(not scan.problem() and "line 9" in scan.inputs["x"]["why"], scan)
    scan = Scan(
        {
            "losses.py": '''\
        import torch

        def loss(x, kind):
            """The loss.

            >>> loss(torch.tensor([1.5, 2.5]), "odd")
            tensor(1.3218)
            """
            if kind != "odd":
                raise KeyError(kind)
            return torch.log(x).sum()
        '''
        },
        "losses.py::loss",
    )
    check(not scan.problem() and scan.at(11), scan)


@case("a value that nothing documents is level L2, an observed one is the program's own")
def _():
    scan = Scan(
        {"losses.py": "import torch\n\ndef f(x):\n    return torch.log(x)\n"}, "losses.py::f"
    )
    check(scan.at(4) and scan.at(4)["level"] == "L2" and scan.at(4)["severity"] == "high", scan)
    scan = Scan(
        {
            "losses.py": "import torch\n\ndef f(x):\n    return torch.log(x)\n\n"
            "f(torch.tensor([-1.0, 2.0]))\n"
        },
        "losses.py::f",
    )
    check(scan.at(4)["level"] == "L0" and scan.at(4)["severity"] == "critical", scan)
    check(scan.reproduces(scan.at(4)), scan)


PACKAGE = {
    "package/__init__.py": "",
    "package/helper.py": "import torch\n\ndef root(x):\n    return torch.sqrt(x)\n",
    "package/module.py": """\
        import torch
        from torch import nn

        from .helper import root
        from . import helper

        class Model(nn.Module):
            def __init__(self, inputs, outputs, scale: float = 2.0):
                super().__init__()
                self.layer = nn.Linear(inputs, outputs)
                self.scale = scale

            def forward(self, x):
                return torch.log(torch.softmax(self.scale * self.layer(x), dim=-1))

            @staticmethod
            def ratio(a, b):
                return a / b

            @classmethod
            def length(cls, x):
                return root((x * x).sum() - 1.0)

            def inverse(self, x):
                return self.scale / x

        def observed():
            model = Model(5, 2)
            model(torch.rand(7, 5))

        if __name__ == "__main__":
            observed()
        """,
}


@case("methods, static and class methods of a module in a package are targets")
def _():
    for name, line in (("ratio", 18), ("inverse", 25)):
        scan = Scan(PACKAGE, "package.module:Model." + name)
        check(scan.at(line), scan)
        check(scan.reproduces(scan.at(line)), scan)
    scan = Scan(PACKAGE, "package.module:Model.length")
    check(any(record["site"]["file"].endswith("helper.py") for record in scan.findings), scan)


@case("a forward of a module takes the observed constructor and input")
def _():
    scan = Scan(PACKAGE, "package.module:Model.forward")
    check(scan.inputs["x"]["shape"] == [7, 5] and scan.at(14), scan)
    check(scan.reproduces(scan.at(14)), scan)


@case("a file inside a package keeps its relative imports")
def _():
    scan = Scan(PACKAGE, "package/module.py::Model.ratio")
    check(scan.at(18), scan)
    check(scan.reproduces(scan.at(18)), scan)


@case("positional-only and variable arguments of an observed call are passed on")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def total(scale, *parts, **options):
            return torch.log(sum(parts)) * scale * options["factor"]

        print(total(2.0, torch.tensor([1.0]), torch.tensor([3.0]), factor=0.5))
        """
        },
        "losses.py::total",
        level=2,
    )
    check(not scan.problem(), scan)


@case("a signature that a decorator hides is found behind it")
def hidden_signature():
    text = """\
        import torch
        def logged(function):
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper
        @logged
        def spread(x, scale: float = 1.0):
            return x / (x.sum() * scale)
        class Layer(torch.nn.Module):
            @logged
            def forward(self, x, mask=None):
                return x / x.norm()
        """
    scan = Scan({"losses.py": text}, target="losses.py::spread")
    check("x" in scan.inputs and scan.at(8) is not None, scan)
    scan = Scan({"losses.py": text}, target="losses.py::Layer.forward")
    check("x" in scan.inputs and scan.at(12) is not None, scan)


@case("what a docstring calls a unit vector is of unit length, other vectors are not")
def unit_length():
    text = """\
        import torch
        def angle(a, b):
            \"\"\"Angle between directions.

            Args:
                a (Tensor): %s of shape (n, 3)
                b (Tensor): %s of shape (n, 3)
            \"\"\"
            return torch.acos((a * b).sum(-1).clamp(-1.0 - 1e-3, 1.0 + 1e-3)%s)
        """
    scan = Scan({"losses.py": text % (("vectors",) * 2 + (" * 0.5",))}, target="losses.py::angle")
    check(not scan.findings, scan)
    scan = Scan({"losses.py": text % (("vectors",) * 2 + ("",))}, target="losses.py::angle")
    check(scan.findings, scan)
    text = text.replace(".clamp(-1.0 - 1e-3, 1.0 + 1e-3)", " * 0.999")
    scan = Scan({"losses.py": text % (("unit vectors",) * 2 + ("",))}, target="losses.py::angle")
    check(not scan.findings, scan)
    scan = Scan({"losses.py": text % (("vectors",) * 2 + ("",))}, target="losses.py::angle")
    check(scan.findings, scan)


@case("a covariance by name or docstring stays one in the search")
def covariances():
    text = """\
        import numpy as np
        def distance(x, mean, cov):
            d = x - mean
            return np.sqrt(d @ np.linalg.solve(cov + 1e-9 * np.eye(len(d)), d))
        def documented(x, scatter):
            \'\'\'Length of x.

            Parameters
            ----------
            x : array, shape (3,)
            scatter : array, shape (3, 3)
                Covariance matrix of the noise.
            \'\'\'
            return np.sqrt(x @ scatter @ x + 1e-6)
        def correlation(cov):
            deviation = np.sqrt(np.diag(cov))
            return cov / np.outer(deviation, deviation)
        """
    for name in ("distance", "documented"):
        scan = Scan({"program.py": text}, target="program.py::" + name)
        check(scan.session.runner is not None and not scan.findings, scan)
    scan = Scan({"program.py": text}, target="program.py::correlation")
    check(any(record["site"]["function"] == "div" for record in scan.findings), scan)


@case("a function of any number of arrays gets as many as it wants")
def several():
    scan = Scan(
        {
            "program.py": """\
            import torch
            def similarity(*tensors):
                if len(tensors) != 3:
                    raise ValueError("three tensors, please")
                first, second, third = tensors
                return (first * second).sum() / third.sum()
            """
        },
        target="program.py::similarity",
    )
    check(any(record["site"]["line"] == 6 for record in scan.findings), scan)


@case("sizes that an assertion asks for are read from its text")
def asserted():
    scan = Scan(
        {
            "program.py": """\
            import numpy as np
            def spread(chains, pairs):
                assert chains.ndim == 3
                assert chains.shape[-1] >= 12
                assert pairs.shape[1] == 2
                return chains.std(axis=-1) / chains.std() + pairs.sum()
            """
        },
        target="program.py::spread",
    )
    check(scan.session.runner is not None, scan)
    check(any(record["site"]["line"] == 6 for record in scan.findings), scan)


@case("a part of another tensor can be written down, whatever its stride")
def strides():
    scan = Scan(
        {
            "program.py": """\
            import torch
            def ratio(x, scale):
                return x / x.norm() * scale
            if __name__ == "__main__":
                table = torch.linspace(1.0, 2.0, 12).reshape(3, 4)
                print(ratio(table, torch.as_strided(table, (1,), (4,))))
            """
        },
        target="program.py::ratio",
    )
    record = scan.at(3)
    check(record is not None and scan.reproduces(record), scan)


run_cases()
