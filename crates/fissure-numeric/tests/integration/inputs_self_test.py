"""What the scan understands as inputs, and where a target's arguments come from. Run by inputs.rs
with the runtime's folder and the registry as JSON, all in one interpreter: prints one line per
sentence and ends with 1 if one of them is wrong."""

import contextlib
import io
import json
import math
import os
import runpy
import sys
import tempfile
import textwrap

sys.path.insert(0, sys.argv[1])
WANTED = sys.argv[3:]
with open(sys.argv[2], encoding="utf-8") as handle:
    REGISTRY = json.load(handle)

import numpy
import torch

from fissure_scan.session import Session

torch.set_num_threads(1)
CONFIG = {"tensor_size": None, "min_value": None, "max_value": None, "stop_on_failure": False,
          "oscillation_threshold": None, "max_fuzz_iterations": None, "mutation_rate": None,
          "gradient_backprop": True, "save_inputs": True}
CASES = []
# What a reproducer, whose process ends with it, replaces for good.
_PATCHED = [(owner, name) for owner, names in (
    (torch, ("compile", "from_numpy", "load", "save")), (torch.jit, ("script", "trace")),
    (torch.utils.data.DataLoader, ("__iter__",)), (math, tuple(dir(math))),
    (numpy, ("array", "asarray", "zeros", "ones", "full", "linspace", "arange", "eye", "load",
             "loadtxt", "genfromtxt", "fromfile", "frombuffer")),
    (numpy.random, ("rand", "randn", "random", "random_sample", "normal", "uniform",
                    "standard_normal", "exponential", "poisson", "gamma", "beta", "dirichlet",
                    "sample", "default_rng"))) for name in names]


class Events:
    def __init__(self):
        self.seen = []

    def emit(self, event, **fields):
        self.seen.append(dict(fields, event=event))

    def of(self, kind):
        return [event for event in self.seen if event["event"] == kind]


class Scan:
    """One scan of files written into a folder of its own."""

    def __init__(self, files, target="program.py", **more):
        folder = os.path.realpath(tempfile.mkdtemp())
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb" if isinstance(text, bytes) else "w") as handle:
                handle.write(text if isinstance(text, bytes) else textwrap.dedent(text))
        self.folder = folder
        file, module, function = target, None, None
        if "::" in target:
            file, function = target.split("::")
        elif ":" in target:
            (module, function), file = target.split(":"), None
        if file:
            file = os.path.join(folder, file)
        os.chdir(folder)
        sys.path.insert(0, folder)
        plan = {"file": file, "module": module, "function": function, "arguments": [],
                "root": folder, "directory": folder, "regions": False, "timeout": 20,
                "own_run_timeout": 20, "level": 4, "inputs": {}, "freeze": [], "weights": False,
                "strict": False, "output": os.path.join(folder, "out"), "registry": REGISTRY,
                "config": CONFIG}
        plan.update(more)
        self.events = Events()
        self.session = Session(plan, self.events)
        try:
            if self.session.start():
                self.session.run_search()
        finally:
            sys.path.remove(folder)
            self.forget()
        self.records = self.events.of("finding")
        self.findings = [event for event in self.records if event["severity"] != "theoretical"]
        self.notes = [event for event in self.records if event["severity"] == "theoretical"]
        understood = self.events.of("understood")
        self.inputs = dict((entry["name"], entry) for event in understood
                           for entry in event["inputs"])

    def forget(self):
        """The next scan may have modules of the same name."""
        for name in list(sys.modules):
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(self.folder):
                del sys.modules[name]

    def at(self, line, records=None):
        for record in self.findings if records is None else records:
            if record["site"]["line"] == line:
                return record
        return None

    def problem(self):
        return "; ".join(str(event.get("message")) for event in self.events.of("failed"))

    def reproduces(self, record):
        """Exit code 1 of reproduce.py, run as a script of its own."""
        before = list(sys.path)
        saved = [(owner, name, getattr(owner, name)) for owner, name in _PATCHED]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(os.path.join(record["folder"], "reproduce.py"),
                               run_name="__main__")
        except SystemExit as stop:
            return stop.code == 1
        finally:
            sys.path[:] = before
            for owner, name, value in saved:
                setattr(owner, name, value)
            self.forget()
        return False

    def __repr__(self):
        return "problem %r, records %r, inputs %r" % (
            self.problem(), [(record["site"]["line"], record["site"]["function"],
                              record["oracle"], record["severity"], record["level"],
                              record["label"], record["reason"]) for record in self.records],
            self.inputs)


def case(sentence):
    def register(function):
        CASES.append((sentence, function))
        return function
    return register


def check(value, scan):
    assert value, repr(scan)


# Numbers and sizes -------------------------------------------------------------------------------

@case("a tiny temperature of a target function is tried and found")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            weights = torch.exp(logits / temperature)
            return weights / weights.sum(-1, keepdim=True)

        if __name__ == "__main__":
            print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """}, "losses.py::contrast", level=2, inputs={"logits": (-1.0, 1.0)})
    found = scan.at(4)
    check(found and found["severity"] == "high" and "temperature" in found["input"], scan)
    check(scan.reproduces(found), scan)


@case("a stable function is silent for every temperature that is allowed")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            return torch.log_softmax(logits / temperature, dim=-1)

        print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """}, "losses.py::contrast", inputs={"logits": (-1.0, 1.0)})
    check(not scan.findings, scan)


@case("an epsilon of zero is outside what its name allows and only a note")
def _():
    scan = Scan({"program.py": """\
        import torch

        def unit(x, eps=1e-6):
            return x / (x.norm(dim=-1, keepdim=True) + eps)

        x = torch.rand(8, 3)
        print(unit(x).sum().item())
        """})
    check(not scan.findings, scan)
    note = scan.at(4, scan.notes)
    check(note and "eps = 0.0" in note["reason"], scan)
    check(scan.inputs["eps"]["kind"] == "constant", scan)
    check(scan.reproduces(note), scan)


@case("a number of the script that the user names as an input counts")
def _():
    text = """\
        import torch
        TEMPERATURE = 0.5
        x = torch.rand(8, 3)
        print(torch.exp(x / TEMPERATURE).sum().item())
        """
    scan = Scan({"program.py": text})
    check(not scan.at(4), scan)
    check(scan.at(4, scan.notes), scan)
    scan = Scan({"program.py": text}, inputs={"TEMPERATURE": (1e-3, 1.0)})
    found = scan.at(4)
    check(found and 1e-3 <= found["input"]["TEMPERATURE"]["smallest"] < 0.01, scan)
    scan = Scan({"program.py": text}, freeze=["TEMPERATURE"])
    check(not scan.records and not scan.events.of("unknown_inputs"), scan)


@case("an option of the command line is an input")
def _():
    scan = Scan({"program.py": """\
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--temperature", type=float, default=0.5)
        options = parser.parse_args()
        x = torch.rand(8, 3)
        print(torch.exp(x / options.temperature).sum().item())
        """})
    check(scan.at(7) and scan.inputs["temperature"]["low"] == 0.0, scan)


@case("a value that the program refuses is no finding")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            if temperature < 0.1 or temperature > 10:
                raise ValueError("temperature")
            return torch.exp(logits.clamp(-5, 5) / temperature)

        print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """}, "losses.py::contrast")
    check(not scan.records, scan)


@case("a single sample makes the deviation of a batch fail, and a loader's batch counts")
def _():
    text = """\
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.rand(8, 3), torch.arange(8))
        for x, y in DataLoader(data, batch_size=4):
            z = (x - x.mean(0)) / (x.std(0) + 0.1)
            print(z.sum().item())
        """
    scan = Scan({"program.py": text})
    found = scan.at(6)
    check(found and found["label"] == "a single sample" and found["level"] == "L2", scan)
    check(scan.reproduces(found), scan)
    scan = Scan({"program.py": """\
        import torch
        x = torch.rand(8, 3)
        print(((x - x.mean(0)) / (x.std(0) + 0.1)).sum().item())
        """})
    check(not scan.findings and scan.at(3, scan.notes), scan)


@case("an empty input is tried and only a note")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def average(x):
            return x.mean()

        print(average(torch.rand(4)))
        """}, "losses.py::average", inputs={"x": (0.0, 1.0)})
    check(not scan.findings and "empty" in scan.at(4, scan.notes)["reason"], scan)


# Arguments of a target function ------------------------------------------------------------------

@case("a NumPy docstring gives shapes, types and ranges")
def _():
    scan = Scan({"losses.py": '''\
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
        '''}, "losses.py::likelihood")
    check(not scan.problem() and not scan.findings, scan)
    check((scan.inputs["mean"]["low"], scan.inputs["mean"]["high"]) == (-1.0, 1.0), scan)
    check(scan.inputs["spread"]["low"] == 0.1 and scan.inputs["spread"]["why"] == "documented", scan)


@case("a Google docstring gives shapes and ranges")
def _():
    scan = Scan({"losses.py": '''\
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
        '''}, "losses.py::entropy")
    found = scan.at(14)
    check(found and found["severity"] == "critical" and found["level"] == "L1", scan)
    check(scan.inputs["weight"]["high"] == 2.0, scan)
    check(scan.reproduces(found), scan)


@case("a Sphinx docstring gives types and ranges")
def _():
    scan = Scan({"losses.py": '''\
        import numpy as np

        def decay(times, rate):
            """Exponential decay.

            :param times: non-negative times
            :type times: numpy.ndarray of shape (n,)
            :param float rate: between 0.5 and 2
            """
            assert isinstance(rate, float) and times.ndim == 1 and (times >= 0).all()
            return np.exp(-rate * times)
        '''}, "losses.py::decay")
    check(not scan.problem() and not scan.findings, scan)
    check(scan.inputs["rate"]["high"] == 2.0 and scan.inputs["times"]["low"] == 0.0, scan)


@case("arguments come from the call in the main block")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def loss(table, width, names):
            return torch.log(table["x"].reshape(-1, width)).sum() + torch.sqrt(names[0]).sum()

        if __name__ == "__main__":
            print(loss({"x": torch.full((6,), 2.0)}, 3, [torch.ones(2)]))
        """}, "losses.py::loss", level=0)
    check(not scan.problem() and not scan.records, scan)


@case("arguments come from a test in the same file, and from an example of the docstring")
def _():
    scan = Scan({"losses.py": """\
        import torch

        def loss(x, kind):
            if kind != "odd":
                raise KeyError(kind)
            return torch.log(x).sum()

        def test_loss_is_finite():
            assert torch.isfinite(loss(torch.tensor([1.5, 2.5]), "odd"))
        """}, "losses.py::loss")
    check(not scan.problem() and "line 9" in scan.inputs["x"]["why"], scan)
    scan = Scan({"losses.py": '''\
        import torch

        def loss(x, kind):
            """The loss.

            >>> loss(torch.tensor([1.5, 2.5]), "odd")
            tensor(1.3218)
            """
            if kind != "odd":
                raise KeyError(kind)
            return torch.log(x).sum()
        '''}, "losses.py::loss")
    check(not scan.problem() and scan.at(11), scan)


@case("a value that nothing documents is level L2, an observed one is the program's own")
def _():
    scan = Scan({"losses.py": "import torch\n\ndef f(x):\n    return torch.log(x)\n"},
                "losses.py::f")
    check(scan.at(4) and scan.at(4)["level"] == "L2" and scan.at(4)["severity"] == "high", scan)
    scan = Scan({"losses.py": "import torch\n\ndef f(x):\n    return torch.log(x)\n\n"
                              "f(torch.tensor([-1.0, 2.0]))\n"}, "losses.py::f")
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
        """}


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
    scan = Scan({"losses.py": """\
        import torch

        def total(scale, *parts, **options):
            return torch.log(sum(parts)) * scale * options["factor"]

        print(total(2.0, torch.tensor([1.0]), torch.tensor([3.0]), factor=0.5))
        """}, "losses.py::total", level=2)
    check(not scan.problem(), scan)


# Data from outside -------------------------------------------------------------------------------

@case("an image of bytes is an input from 0 to 255 and stays whole numbers")
def _():
    scan = Scan({"program.py": """\
        import numpy as np
        import torch

        class Picture:
            def __array__(self, dtype=None, copy=None):
                return (np.arange(48) * 5 % 200 + 20).astype("uint8").reshape(4, 4, 3)

        pixels = np.asarray(Picture())
        image = torch.from_numpy(pixels / 255.0)
        print((image / image.max()).sum().item(), np.log(pixels / 255.0).sum())
        """})
    check((scan.inputs["pixels"]["low"], scan.inputs["pixels"]["high"]) == (0.0, 255.0), scan)
    found = scan.at(10)
    check(found and found["severity"] == "critical", scan)
    values = found["input"]["pixels"]["values"]
    check(all(value == int(value) and 0 <= value <= 255 for value in values), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)


@case("a tensor of bytes and an image that was scaled elsewhere keep their ranges")
def _():
    scan = Scan({"reader.py": "", "program.py": """\
        import sys
        import torch

        def scaled():
            # Stands for a library: nobody watches.
            return OUTSIDE["image"].clone()

        photo = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8)
        OUTSIDE = {"image": torch.tensor([[(7 * i) % 256 for i in range(64)]]).float().div(255)}
        print(torch.log(photo.float() / 255 + 0.1).sum().item())
        """})
    check((scan.inputs["photo"]["low"], scan.inputs["photo"]["high"]) == (0.0, 255.0), scan)
    check(not scan.at(10), scan)
    from fissure_scan import sources
    image = torch.arange(64).float() / 255
    check(sources.image_range(image, 0.0, 0.25, False, 64)[:2] == (0.0, 1.0), "scaled")
    check(sources.image_range(torch.rand(64), 0.0, 0.99, False, 64) is None, "not scaled")


@case("a batch of a loader over files is one input with its name")
def _():
    scan = Scan({"program.py": """\
        import struct
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Files(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                raw = bytearray(struct.pack("3f", 1.0 + index, 2.0, 3.0))
                return torch.frombuffer(raw, dtype=torch.float32), index

        for number, (points, labels) in enumerate(DataLoader(Files(), batch_size=4)):
            print(torch.log(points).sum().item())
        """})
    check(scan.inputs["points"]["kind"] == "batch", scan)
    check(scan.inputs["points"]["shape"] == [4, 3], scan)
    found = scan.at(14)
    check(found and "points" in found["input"], scan)
    check(scan.reproduces(found), scan)


@case("tensors and archives that are loaded from files are inputs")
def _():
    raw = io.BytesIO()
    torch.save({"x": torch.tensor([1.0, 2.0]), "name": "n"}, raw)
    archive = io.BytesIO()
    numpy.savez(archive, a=numpy.array([1.0, 2.0]), b=numpy.array([3, 4]))
    scan = Scan({"data.pt": raw.getvalue(), "data.npz": archive.getvalue(), "program.py": """\
        import numpy as np
        import torch
        data = torch.load("data.pt")
        print(torch.log(data["x"]).sum().item())
        with np.load("data.npz") as held:
            table = held["a"]
            print(held.files, held["b"].sum())
        print(np.sqrt(table).sum())
        """})
    check(scan.at(4) and scan.at(8), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)


@case("functions of math are sites, steered through item, and end the program where they fail")
def _():
    scan = Scan({"program.py": """\
        import math
        from math import log
        import torch
        x = torch.rand(4)
        y = torch.randn(4)
        a = (x.mean() - 0.2).item()
        print(log(a), math.exp(y.sum().item()))
        """})
    sites = [site["function"] for site in scan.events.of("understood")[0]["sites"]]
    check("log" in sites and "exp" in sites, scan)
    found = [record for record in scan.findings if record["site"]["line"] == 7]
    check(sorted(record["producer"] for record in found) == ["exp", "log"], scan)
    check(all(scan.reproduces(record) for record in found), scan)


@case("a division of plain numbers by zero is found")
def _():
    scan = Scan({"program.py": """\
        import torch
        x = torch.rand(4)
        total = (x > 0.25).sum().item()
        print(1.0 / total)
        """})
    found = scan.at(4)
    check(found and found["producer"] == "div", scan)
    check(scan.reproduces(found), scan)


@case("scripted and traced functions are seen inside")
def _():
    scan = Scan({"program.py": """\
        import torch

        @torch.jit.script
        def inner(x):
            return torch.log(x)

        traced = torch.jit.trace(lambda x: torch.sqrt(x - 0.5), torch.ones(2))
        x = torch.rand(4)
        print(inner(x).sum().item(), traced(x).sum().item())
        traced.save("traced.pt")
        """})
    check(scan.at(5) and scan.at(7), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)
    check(not os.path.exists(os.path.join(scan.folder, "traced.pt")), scan)


# Low precision -----------------------------------------------------------------------------------

@case("data that float16 cannot hold is a note for a program that computes in float32")
def _():
    scan = Scan({"program.py": """\
        import torch
        x = torch.rand(8) * 1000
        print((x * x).sum().item())
        """}, level=1)
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
    scan = Scan({"program.py": text.replace("* 1000", "* 2").replace(
        "y = a @ a", "y = torch.exp(a @ a / 4)")}, level=0)
    check(not scan.findings, scan)


@case("a half that only runs on a GPU is judged in float16")
def _():
    scan = Scan({"program.py": """\
        import torch
        x = torch.rand(8) * 1000
        if torch.cuda.is_available():
            x = x.half()
        print((x * x).mean().item())
        """}, level=1)
    found = scan.at(5)
    check(found and found["oracle"] == "low_precision", scan)
    check(scan.reproduces(found), scan)


# Soft assertions ---------------------------------------------------------------------------------

@case("a provider of soft assertions takes the place of the analytic ones")
def _():
    from fissure_scan import soft_assertions

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
        scan = Scan({"program.py": """\
            import torch
            x = torch.randn(4)
            print(torch.log(x + 50).sum().item())
            """})
    finally:
        soft_assertions.withdraw(provider)
    check(Trained.asked and scan.at(3)["label"].startswith("as trained"), scan)


@case("the failure regions of the registry are signed distances for every precision")
def _():
    from fissure_scan import analytic
    for dtype, limit in (("float16", 11.09375), ("bfloat16", 89.0), ("float32", 88.7228394),
                         ("float64", 709.7827128933841)):
        values = torch.tensor([0.0, limit], dtype=torch.float64)
        increase = analytic.intervals("exp", dtype)[0]
        check(increase.label == "increase", increase.label)
        check(increase.direction(values).tolist() == [limit, 0.0], dtype)
    decrease = analytic.intervals("log", "float32")[0]
    check(decrease.direction(torch.tensor([2.0, -1.0])).tolist() == [2.0, -1.0], "log")
    around = analytic.intervals("sqrt", "float32")[1]
    check(around.label == "toward zero", around.label)
    check(around.direction(torch.tensor([2.0, -1.0])).tolist() == [2.0, 1.0], "sqrt")


# Files -------------------------------------------------------------------------------------------

@case("what a program writes is readable for it and does not reach its folder")
def _():
    scan = Scan({"kept.txt": "before", "program.py": """\
        import os
        import numpy as np
        import torch
        os.makedirs("results/deep", exist_ok=True)
        with open("results/deep/log.txt", "w") as handle:
            handle.write("x")
        with open("kept.txt", "a") as handle:
            handle.write(" after")
        assert open("kept.txt").read() == "before after"
        assert os.path.exists("results/deep/log.txt") and os.path.isdir("results")
        np.save("array.npy", np.arange(3.0))
        assert np.load("array.npy").shape == (3,)
        torch.save({"w": torch.ones(2)}, "model.pt")
        assert torch.load("model.pt")["w"].sum() == 2
        os.remove("kept.txt")
        x = torch.rand(4)
        print(torch.log(x).sum().item())
        """})
    own = scan.events.of("own_run")[0]
    check(own["error"] is None and scan.at(17), own)
    check(sorted(os.listdir(scan.folder)) == ["kept.txt", "out", "program.py"],
          os.listdir(scan.folder))
    check(open(os.path.join(scan.folder, "kept.txt")).read() == "before", scan)


wrong = 0
for sentence, function in CASES:
    if WANTED and not any(word in sentence for word in WANTED):
        continue
    try:
        function()
        print("%s: ok" % sentence, flush=True)
    except Exception as error:
        wrong += 1
        print("%s: %s: %s" % (sentence, type(error).__name__, str(error)[:1500]), flush=True)
        if not isinstance(error, AssertionError):
            import traceback
            traceback.print_exc()
sys.exit(1 if wrong else 0)
