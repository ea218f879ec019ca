"""Numbers at their ends, points that coincide, matrices that lose their rank: each fault and its twin."""

from scan_in_process import Scan, case, check, run_cases


def function(text, name, **more):
    return Scan({"program.py": text}, target="program.py::" + name, **more)


@case("a warm-up of no steps is tried, and a guarded one is silent")
def warm_up():
    text = """\
        import torch
        def scale(step, warmup_steps):
            if step <= warmup_steps:
                return step / warmup_steps
            return 1.0
        def guarded_scale(step, warmup_steps):
            if step < warmup_steps:
                return (step + 1) / max(1, warmup_steps)
            return 1.0
        def update(grad, step, warmup_steps=100):
            return grad * scale(step, warmup_steps)
        def guarded(grad, step, warmup_steps=100):
            return grad * guarded_scale(step, warmup_steps)
        """
    scan = function(text, "update")
    check(scan.at(4) is not None and "warmup_steps = 0" in scan.at(4)["label"], scan)
    check(scan.reproduces(scan.at(4)), scan)
    scan = function(text, "guarded")
    check(not scan.findings, scan)


@case("numbers that an object is made with are tried like parameters")
def constructor():
    text = """\
        import torch
        class Anneal:
            def __init__(self, rampup=50, strength=1.0):
                self.rampup = rampup
                self.strength = strength
            def weight(self, loss, step=3):
                share = step / self.rampup if step >= self.rampup else 0.5
                return loss * (self.strength * share)
        class Careful:
            def __init__(self, rampup=50, strength=1.0):
                self.rampup = rampup
                self.strength = strength
            def weight(self, loss, step=3):
                share = step / self.rampup if step >= self.rampup > 0 else 0.5
                return loss * (self.strength * share)
        """
    scan = function(text, "Anneal.weight")
    check(scan.at(7) is not None and "rampup = 0" in scan.at(7)["label"], scan)
    check(scan.reproduces(scan.at(7)), scan)
    scan = function(text, "Careful.weight")
    check(not scan.findings, scan)


@case("a function of plain numbers is a target like another")
def plain_numbers():
    text = """\
        import math
        import torch
        def rate(step, warmup_steps, total_steps):
            if step < warmup_steps:
                return step / warmup_steps
            return 0.5 * (1 + math.cos(math.pi * (step - warmup_steps) / max(1, total_steps - warmup_steps)))
        def hasty(step, hold=10):
            if step >= hold:
                return math.exp(-(step - hold) / hold)
            return 1.0
        """
    scan = function(text, "rate")
    check(scan.session.problem is None and not scan.findings, scan)
    scan = function(text, "hasty")
    check(scan.at(9) is not None and scan.reproduces(scan.at(9)), scan)


@case("a size of 0 stays a note where the program does not ask about it")
def sizes():
    scan = function(
        """\
        import torch
        def smooth(x, window=4):
            return x.cumsum(0) / window
        """,
        "smooth",
    )
    check(not scan.findings, scan)


@case("a cosine that rounding brings above 1 is found where points coincide")
def cosine():
    text = """\
        import numpy as np
        def unit(azimuth, height):
            return np.stack([np.cos(height) * np.cos(azimuth),
                             np.cos(height) * np.sin(azimuth), np.sin(height)], axis=-1)
        def angle(azimuth, height, other_azimuth, other_height):
            cosine = np.sum(unit(azimuth, height) * unit(other_azimuth, other_height), axis=-1)
            return np.arccos(cosine)
        def bounded(azimuth, height, other_azimuth, other_height):
            cosine = np.sum(unit(azimuth, height) * unit(other_azimuth, other_height), axis=-1)
            return np.arccos(np.clip(cosine, -1.0, 1.0))
        """
    scan = function(text, "angle")
    check(scan.at(7) is not None and scan.at(7)["site"]["function"] in ("arccos", "acos"), scan)
    check(scan.reproduces(scan.at(7)), scan)
    scan = function(text, "bounded")
    check(not scan.findings, scan)


@case("a batch of matrices of which some lose their rank is found, with a ridge it is silent")
def batch_of_matrices():
    text = """\
        import torch
        def fit(points, values, queries):
            near = torch.exp(-((queries[:, None] - points[None]) ** 2).sum(-1))
            gram = torch.einsum("qn,ni,nj->qij", near, points, points)
            right = torch.einsum("qn,ni,n->qi", near, points, values)
            return torch.linalg.solve(gram, right)
        def ridge(points, values, queries):
            near = torch.exp(-((queries[:, None] - points[None]) ** 2).sum(-1))
            gram = torch.einsum("qn,ni,nj->qij", near, points, points)
            right = torch.einsum("qn,ni,n->qi", near, points, values)
            size = gram.diagonal(dim1=1, dim2=2).sum(-1)
            gram = gram + (0.01 * (1.0 + size))[:, None, None] * torch.eye(points.shape[1])
            return torch.linalg.solve(gram, right)
        if __name__ == "__main__":
            torch.manual_seed(0)
            points, queries = torch.randn(20, 3), torch.randn(4, 3)
            fit(points, torch.randn(20), queries)
            ridge(points, torch.randn(20), queries)
        """
    scan = function(text, "fit")
    check(scan.at(6) is not None, scan)
    scan = function(text, "ridge")
    check(not scan.findings, scan)


@case("a Gumbel draw of minus infinity is found, a bounded one is silent")
def gumbel():
    text = """\
        import torch
        def sample(logits):
            u = torch.rand_like(logits)
            return torch.softmax(logits - torch.log(-torch.log(u)), -1)
        def bounded(logits):
            u = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
            return torch.softmax(logits - torch.log(-torch.log(u)), -1)
        """
    scan = function(text, "sample")
    check(scan.at(4) is not None, scan)
    scan = function(text, "bounded")
    check(not scan.findings, scan)


@case(
    "a quotient that only a comparison looks at is no finding, one that chooses a wrong result is"
)
def compared():
    text = """\
        import numpy as np
        def centred(x):
            middle = x.mean()
            spread = np.abs(x - middle).max() / np.abs(middle)
            if spread < 1e-13:
                print("digits are lost")
            return x - middle
        def scaled(x):
            share = x / x.sum()
            if share.max() > 0.5:
                return x * 0.0
            return share
        """
    scan = function(text, "centred")
    check(not scan.findings, scan)
    scan = function(text, "scaled")
    check(scan.at(9) is not None, scan)


@case("a weight of 0 that raises at once is a note, a protective constant of 0 too")
def raises_at_once():
    text = """\
        import torch
        def loss(x, beta=2.0):
            return torch.nn.functional.softplus(torch.tanh(beta * x)).sum() * (1.0 / beta)
        def unit(x, eps=1e-8):
            if eps > 1.0:
                raise ValueError(eps)
            return x / (x.norm(dim=-1, keepdim=True) + eps)
        """
    for name in ("loss", "unit"):
        scan = function(text, name)
        check(not scan.findings, scan)


run_cases()
