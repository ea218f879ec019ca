"""Arguments that only the program itself can make, and values that are no input of it: a fault and its twin each."""

from scan_in_process import Scan, case, check, run_cases

TRAINER = """\
    from dataclasses import dataclass
    import torch
    import torch.nn as nn

    @dataclass
    class Settings:
        clip: float = 0.2
        rate: float = 1e-3

    class Policy(nn.Module):
        def __init__(self, size: int, actions: int):
            super().__init__()
            self.body = nn.Linear(size, actions)

        def chosen(self, observed, actions):
            return torch.distributions.Categorical(logits=self.body(observed)).log_prob(actions)

    class Trainer:
        def __init__(self, policy%s, settings%s):
            self.policy = policy
            self.settings = settings
            self.optimizer = torch.optim.SGD(policy.parameters(), lr=settings.rate)

        def update(self, observed, actions, returns):
            returns = (returns - returns.mean()) / %s
            loss = -(self.policy.chosen(observed, actions) * returns).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss.item() * self.settings.clip
    """
SPREAD = ("returns.std()", "(returns.std(unbiased=False) + 1e-6)")


@case("an object of the program's own class is made where an annotation wants one")
def annotated():
    for hints in ((": Policy", ": Settings"), (": 'Policy'", ": 'Settings'")):
        scan = Scan({"program.py": TRAINER % (hints + SPREAD[:1])}, "program.py::Trainer.update")
        check(scan.at(25) is not None, scan)
        check(scan.at(25)["reproduced"], scan)
        scan = Scan({"program.py": TRAINER % (hints + SPREAD[1:])}, "program.py::Trainer.update")
        check(not scan.findings and scan.events.of("searched"), scan)


@case(
    "a class of the program that has the attribute is what a parameter without an annotation wants"
)
def by_attribute():
    scan = Scan({"program.py": TRAINER % ("", "", SPREAD[0])}, "program.py::Trainer.update")
    check(scan.at(25) is not None, scan)
    scan = Scan({"program.py": TRAINER % ("", "", SPREAD[1])}, "program.py::Trainer.update")
    check(not scan.findings and scan.events.of("searched"), scan)


@case("corners of boxes are in order where the function says so")
def ordered():
    text = """\
        import torch

        def shares(first: torch.Tensor, second: torch.Tensor):
            a, b, c, d = first.unbind(dim=-1)
            e, f, g, h = second.unbind(dim=-1)
            assert (c >= a).all(), "bad box: x1 larger than x2"
            assert (d >= b).all(), "bad box: y1 larger than y2"
            width = (torch.min(c, g) - torch.max(a, e)).clamp(min=0)
            height = (torch.min(d, h) - torch.max(b, f)).clamp(min=0)
            union = (c - a) * (d - b) + ((g - e) * (h - f)).abs() - width * height
            return (width * height / %s).mean()
        """
    scan = Scan({"program.py": text % "union"}, "program.py::shares")
    check(scan.at(11) is not None, scan)
    scan = Scan({"program.py": text % "union.clamp(min=1e-6)"}, "program.py::shares")
    check(not scan.findings and scan.events.of("searched"), scan)


@case("labels of two classes stay between 0 and 1, whatever words describe them")
def two_classes():
    text = '''\
        import torch

        def entropy(scores, labels):
            """Args:
                scores (Tensor): scores, larger for the positive class
                labels (Tensor): %s
            """
            chance = torch.sigmoid(scores)
            right = chance * labels + (1 - chance) * (1 - labels)
            return -torch.log(right%s).mean()
        '''
    for words in (
        "a float tensor (0 for the negative class and 1 for the positive class)",
        "dense (multi-hot or soft) targets (batch_size, num_classes)",
        "binary labels {0, 1}",
    ):
        scan = Scan({"program.py": text % (words, "")}, "program.py::entropy")
        check(scan.at(10) is not None, scan)
        check((scan.inputs["labels"]["low"], scan.inputs["labels"]["high"]) == (0.0, 1.0), scan)
        check(scan.inputs["scores"]["low"] is None, scan)
        scan = Scan({"program.py": text % (words, ".clamp(min=1e-6)")}, "program.py::entropy")
        check(not scan.findings, scan)


@case("labels that are cast before the formula multiplies with them are zeros and ones")
def cast_labels():
    text = """\
        import torch

        def focal(x, y, gamma=4):
            y = y.float()
            chance = torch.sigmoid(x)
            right = chance * y + (1 - chance) * (1 - y)
            return (-torch.pow(1 - right, gamma) * torch.log(right%s)).mean()
        """
    scan = Scan({"program.py": text % ""}, "program.py::focal")
    check(scan.at(7) is not None and scan.at(7)["site"]["function"] == "log", scan)
    scan = Scan({"program.py": text % ".clamp(min=1e-6)"}, "program.py::focal")
    check(not scan.findings, scan)


@case("an exception that the program raises by a statement of its own is no failed division")
def own_statement():
    text = """\
        import numpy as np

        def share(times, scores):
            pairs = int((np.subtract.outer(times, times) > 0).sum())
            %s
            return float((scores > 0).sum()) / pairs
        """
    check_first = "if pairs == 0: raise ValueError('no pairs')"
    scan = Scan({"program.py": text % "pass"}, "program.py::share")
    check(scan.at(6) is not None, scan)
    own = "if pairs == 0:\n                raise ZeroDivisionError('no pairs')"
    for guard in (check_first, own):
        scan = Scan({"program.py": text % guard}, "program.py::share")
        check(not scan.findings, scan)


@case("the gradient of an operation with a result that nobody uses is watched")
def unused_result():
    text = """\
        import torch
        points = torch.randn(8, 3, requires_grad=True)
        others = torch.randn(8, 3)
        left, sizes, right = torch.linalg.svd(points.T @ others%s)
        loss = ((points @ (left @ right)%s - others) ** 2).mean()
        (slope,) = torch.autograd.grad(loss, points)
        print(slope.sum().item())
        """
    scan = Scan({"program.py": text % ("", "")}, level=3)
    check(scan.events.of("own_run")[0]["error"] is None, scan)
    check(any(record["oracle"] == "gradient_nonfinite" for record in scan.findings), scan)
    scan = Scan({"program.py": text % (".detach()", ".detach()")}, level=3)
    check(scan.at(4) is None, scan)


@case("an array that the program cured in place is no failure for what selects from it later")
def cured():
    text = """\
        import numpy as np
        features = np.random.default_rng(0).random((9, 5))
        inverse = np.power(features.sum(axis=1), -1.0)
        %s
        print((features * inverse[:, None]).sum())
        """
    scan = Scan({"program.py": text % "pass"})
    check(scan.at(3) is not None, scan)
    scan = Scan({"program.py": text % "inverse[np.isinf(inverse)] = 0.0"})
    check(not scan.findings and scan.at(3, scan.notes) is not None, scan)


@case(
    "what follows from an overflow of weights far from their own is as much a note as the overflow"
)
def far_weights():
    text = """\
        import torch
        angles = torch.randn(6)
        raw = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.Adam([raw], lr=0.1)
        for _ in range(2):
            sharp = raw.exp()
            loss = -(sharp * torch.cos(angles) - %s).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(loss.item())
        """
    scan = Scan({"program.py": text % "torch.log(torch.special.i0(sharp))"})
    check(scan.at(7) is not None, scan)
    scan = Scan({"program.py": text % "(torch.log(torch.special.i0e(sharp)) + sharp)"})
    check(not scan.findings, scan)


@case("an assertion names the choices by constants of the program")
def asserted():
    text = """\
        import torch
        BINARY, MANY = "binary", "many"

        class Overlap:
            def __init__(self, mode: str):
                assert mode in {BINARY, MANY}
                self.mode = mode

            def value(self, chances, truth):
                if self.mode == BINARY:
                    chances = torch.sigmoid(chances)
                return (chances * truth).sum() / %s
        """
    scan = Scan({"program.py": text % "truth.abs().sum()"}, "program.py::Overlap.value")
    check(scan.at(12) is not None, scan)
    scan = Scan({"program.py": text % "(truth.abs().sum() + 1)"}, "program.py::Overlap.value")
    check(not scan.findings and scan.events.of("searched"), scan)


@case("a method that a decorator made an object of gets an object of its class")
def wrapped_method():
    text = """\
        import functools
        import numpy as np

        class Ray:
            def __init__(self, direction: np.ndarray):
                self.direction = np.asarray(direction, dtype=float)

            @functools.lru_cache(maxsize=None)
            def unit(self):
                return self.direction / %s
        """
    scan = Scan({"program.py": text % "np.sqrt((self.direction**2).sum())"}, "program.py::Ray.unit")
    # What an object holds that was made up is no data of the program.
    check(scan.at(10) is not None and scan.at(10)["level"] == "L2", scan)
    check(scan.at(10)["reproduced"], scan)
    scan = Scan({"program.py": text % "(1.0 + np.abs(self.direction))"}, "program.py::Ray.unit")
    check(not scan.findings and scan.events.of("searched"), scan)


@case("all weights at zero, and all inputs at zero, are tried by themselves and together")
def zeros():
    text = """\
        import torch
        torch.manual_seed(0)
        x = torch.randn(6, 4)
        layer = torch.nn.Linear(4, 3%s)
        h = layer(x)
        y = h / %s
        print(y.sum().item())
        """
    for bias in ("", ", bias=False"):
        scan = Scan({"program.py": text % (bias, "h.norm(dim=1, keepdim=True)")})
        check(scan.at(6) is not None, scan)
        scan = Scan({"program.py": text % (bias, "h.norm(dim=1, keepdim=True).clamp(min=1e-6)")})
        check(not scan.findings, scan)
    text = """\
        import torch
        torch.manual_seed(0)
        x = torch.rand(6, 4)
        layer = torch.nn.Linear(4, 3)
        h = (layer(x) ** 2).sum() + x.sum()
        print((h / %s).item())
        """
    scan = Scan({"program.py": text % "((layer(x) ** 2).sum() + x.sum())"})
    check(scan.at(6) is not None, scan)
    scan = Scan({"program.py": text % "((layer(x) ** 2).sum() + x.sum() + 1e-3)"})
    check(not scan.findings, scan)


if __name__ == "__main__":
    run_cases()
