"""What the scan understands as inputs: numbers, sizes, data from outside, and what it writes. Run by inputs.rs, see scan_in_process.py."""

import io
import os

from scan_in_process import Scan, case, check, run_cases

import numpy
import torch

# Numbers and sizes -------------------------------------------------------------------------------


@case("a tiny temperature of a target function is tried and found")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            weights = torch.exp(logits / temperature)
            return weights / weights.sum(-1, keepdim=True)

        if __name__ == "__main__":
            print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """
        },
        "losses.py::contrast",
        level=2,
        inputs={"logits": (-1.0, 1.0)},
    )
    found = scan.at(4)
    check(found and found["severity"] == "high" and "temperature" in found["input"], scan)
    check(scan.reproduces(found), scan)


@case("a stable function is silent for every temperature that is allowed")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            return torch.log_softmax(logits / temperature, dim=-1)

        print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """
        },
        "losses.py::contrast",
        inputs={"logits": (-1.0, 1.0)},
    )
    check(not scan.findings, scan)


@case("an epsilon of zero is outside what its name allows and only a note")
def _():
    scan = Scan(
        {
            "program.py": """\
        import torch

        def unit(x, eps=1e-6):
            return x / (x.norm(dim=-1, keepdim=True) + eps)

        x = torch.rand(8, 3)
        print(unit(x).sum().item())
        """
        }
    )
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
    scan = Scan(
        {
            "program.py": """\
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--temperature", type=float, default=0.5)
        options = parser.parse_args()
        x = torch.rand(8, 3)
        print(torch.exp(x / options.temperature).sum().item())
        """
        }
    )
    check(scan.at(7) and scan.inputs["temperature"]["low"] == 0.0, scan)


@case("a value that the program refuses is no finding")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def contrast(logits, temperature: float = 0.5):
            if temperature < 0.1 or temperature > 10:
                raise ValueError("temperature")
            return torch.exp(logits.clamp(-5, 5) / temperature)

        print(contrast(torch.tensor([[0.5, -0.5, 0.25]])))
        """
        },
        "losses.py::contrast",
    )
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
    scan = Scan(
        {
            "program.py": """\
        import torch
        x = torch.rand(8, 3)
        print(((x - x.mean(0)) / (x.std(0) + 0.1)).sum().item())
        """
        }
    )
    check(not scan.findings and scan.at(3, scan.notes), scan)


@case("an empty input is tried and only a note")
def _():
    scan = Scan(
        {
            "losses.py": """\
        import torch

        def average(x):
            return x.mean()

        print(average(torch.rand(4)))
        """
        },
        "losses.py::average",
        inputs={"x": (0.0, 1.0)},
    )
    check(not scan.findings and "empty" in scan.at(4, scan.notes)["reason"], scan)


# Data from outside -------------------------------------------------------------------------------


@case("an image of bytes is an input from 0 to 255 and stays whole numbers")
def _():
    scan = Scan(
        {
            "program.py": """\
        import numpy as np
        import torch

        class Picture:
            def __array__(self, dtype=None, copy=None):
                return (np.arange(48) * 5 % 200 + 20).astype("uint8").reshape(4, 4, 3)

        pixels = np.asarray(Picture())
        image = torch.from_numpy(pixels / 255.0)
        print((image / image.max()).sum().item(), np.log(pixels / 255.0).sum())
        """
        }
    )
    check((scan.inputs["pixels"]["low"], scan.inputs["pixels"]["high"]) == (0.0, 255.0), scan)
    found = scan.at(10)
    check(found and found["severity"] == "critical", scan)
    values = found["input"]["pixels"]["values"]
    check(all(value == int(value) and 0 <= value <= 255 for value in values), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)


@case("a tensor of bytes and an image that was scaled elsewhere keep their ranges")
def _():
    scan = Scan(
        {
            "reader.py": "",
            "program.py": """\
        import sys
        import torch

        def scaled():
            # Stands for a library: nobody watches.
            return OUTSIDE["image"].clone()

        photo = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8)
        OUTSIDE = {"image": torch.tensor([[(7 * i) % 256 for i in range(64)]]).float().div(255)}
        print(torch.log(photo.float() / 255 + 0.1).sum().item())
        """,
        }
    )
    check((scan.inputs["photo"]["low"], scan.inputs["photo"]["high"]) == (0.0, 255.0), scan)
    check(not scan.at(10), scan)
    from fissure_scan.watch import sources

    image = torch.arange(64).float() / 255
    check(sources.image_range(image, 0.0, 0.25, False, 64)[:2] == (0.0, 1.0), "scaled")
    check(sources.image_range(torch.rand(64), 0.0, 0.99, False, 64) is None, "not scaled")


@case("a batch of a loader over files is one input with its name")
def _():
    scan = Scan(
        {
            "program.py": """\
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
        """
        }
    )
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
    scan = Scan(
        {
            "data.pt": raw.getvalue(),
            "data.npz": archive.getvalue(),
            "program.py": """\
        import numpy as np
        import torch
        data = torch.load("data.pt")
        print(torch.log(data["x"]).sum().item())
        with np.load("data.npz") as held:
            table = held["a"]
            print(held.files, held["b"].sum())
        print(np.sqrt(table).sum())
        """,
        }
    )
    check(scan.at(4) and scan.at(8), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)


@case("functions of math are sites, steered through item, and end the program where they fail")
def _():
    scan = Scan(
        {
            "program.py": """\
        import math
        from math import log
        import torch
        x = torch.rand(4)
        y = torch.randn(4)
        a = (x.mean() - 0.2).item()
        print(log(a), math.exp(y.sum().item()))
        """
        }
    )
    sites = [site["function"] for site in scan.events.of("understood")[0]["sites"]]
    check("log" in sites and "exp" in sites, scan)
    found = [record for record in scan.findings if record["site"]["line"] == 7]
    check(sorted(record["producer"] for record in found) == ["exp", "log"], scan)
    check(all(scan.reproduces(record) for record in found), scan)


@case("a division of plain numbers by zero is found")
def _():
    scan = Scan(
        {
            "program.py": """\
        import torch
        x = torch.rand(4)
        total = (x > 0.25).sum().item()
        print(1.0 / total)
        """
        }
    )
    found = scan.at(4)
    check(found and found["producer"] == "div", scan)
    check(scan.reproduces(found), scan)


@case("scripted and traced functions are seen inside")
def _():
    scan = Scan(
        {
            "program.py": """\
        import torch

        @torch.jit.script
        def inner(x):
            return torch.log(x)

        traced = torch.jit.trace(lambda x: torch.sqrt(x - 0.5), torch.ones(2))
        x = torch.rand(4)
        print(inner(x).sum().item(), traced(x).sum().item())
        traced.save("traced.pt")
        """
        }
    )
    check(scan.at(5) and scan.at(7), scan)
    check(all(scan.reproduces(record) for record in scan.findings), scan)
    check(not os.path.exists(os.path.join(scan.folder, "traced.pt")), scan)


@case("a compiled model from a file is said not to be seen")
def _():
    model = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), model)
    scan = Scan(
        {
            "model.pt": model.getvalue(),
            "program.py": """\
        import torch
        model = torch.jit.load("model.pt")
        print(torch.log(model(torch.rand(3, 2)).abs() + 1).sum().item())
        """,
        }
    )
    own = scan.events.of("own_run")[0]
    check(own["error"] is None and "torch.jit.load" in own["unseen"][0], own)


# Files -------------------------------------------------------------------------------------------


@case("what a program writes is readable for it and does not reach its folder")
def _():
    scan = Scan(
        {
            "kept.txt": "before",
            "program.py": """\
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
        """,
        }
    )
    own = scan.events.of("own_run")[0]
    check(own["error"] is None and scan.at(17), own)
    check(
        sorted(os.listdir(scan.folder)) == ["kept.txt", "out", "program.py"],
        os.listdir(scan.folder),
    )
    check(open(os.path.join(scan.folder, "kept.txt")).read() == "before", scan)


run_cases()
