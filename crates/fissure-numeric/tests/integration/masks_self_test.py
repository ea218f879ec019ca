"""What an argument is by its use: masks, logits, labels, scales; each on a fault and on its twin."""

import scan_in_process as scans
from scan_in_process import Scan, case, check, run_cases


def function(text, name, **more):
    return Scan({"program.py": text}, target="program.py::" + name, **more)


@case(
    "a mask that is left out is tried, and a whole row of it is masked; with a finite mask it does no harm"
)
def left_out():
    text = '''\
        import torch
        class Attention(torch.nn.Module):
            def __init__(self, size=8):
                super().__init__()
                self.query, self.key = torch.nn.Linear(size, size), torch.nn.Linear(size, size)
            def forward(self, x, mask=None):
                """x: (batch, time, size); mask: (batch, time), True where it is padding"""
                scores = self.query(x) @ self.key(x).transpose(1, 2)
                if mask is not None:
                    scores = scores.masked_fill(mask[:, None, :], %s)
                return torch.softmax(scores, dim=-1) @ x
        '''
    scan = function(text % "float('-inf')", "Attention")
    found = scan.at(11)
    check(found and found["reproduced"] and "mask" in found["input"], scan)
    check(scan.reproduces(found), scan)
    scan = function(text % "-1e9", "Attention")
    check(not scan.findings, scan)


@case("a mask that is passed is tried with nothing in it, and optional weights with nothing but 0")
def empty():
    text = """\
        import numpy as np
        def error(guess, truth, mask=None):
            apart = np.abs(guess - truth)
            if mask is None:
                return apart.mean()
            return apart[mask].sum() / %s
        def spread(x: np.ndarray, valid: "bool array" = np.ones((4, 3), bool)):
            return (x * valid).sum() / %s
        def weighted(x, weights=None):
            if weights is None:
                return x.mean()
            return (x * weights).sum() / %s
        """
    faulty = text % ("mask.sum()", "valid.sum()", "weights.sum()")
    kept = text % ("max(mask.sum(), 1)", "max(valid.sum(), 1)", "(weights.sum() + 1e-6)")
    for name, line in (("error", 6), ("spread", 8), ("weighted", 12)):
        scan = function(faulty, name)
        check(scan.at(line) and scan.at(line)["reproduced"], (name, scan))
        scan = function(kept, name)
        check(not scan.findings, (name, scan))


@case(
    "what goes into softmax is no probability, whatever it is called, and a documented logit is none either"
)
def logits():
    text = """\
        import torch
        def focal(y_pred, labels):
            p = torch.softmax(y_pred, dim=-1)%s
            return -torch.log(p.gather(1, labels[:, None])).mean()
        """
    scan = function(text % "", "focal")
    check(scan.at(4) and "softmax" in scan.inputs["y_pred"]["why"], scan)
    scan = function(text % ".clamp(1e-6, 1.0)", "focal")
    check(not scan.findings, scan)
    text = '''\
        import torch
        def surprise(confidence):
            """Surprise.

            Args:
                confidence (Tensor): raw scores of the network, shape (n,)
            """
            return torch.log1p(torch.exp(confidence)).mean()
        '''
    scan = function(text, "surprise")
    check(scan.at(8) and scan.inputs["confidence"]["high"] is None, scan)


@case("a line that names parameters says what they are")
def lines():
    text = '''\
        import torch
        def agreement(query, key, scale):
            """Scores of all pairs.

            query, key: (batch, time, size)
            scale: one per sample, at least 0.5; of shape (batch,)
            """
            assert query.dim() == 3 and scale.shape == query.shape[:1]
            return (query @ key.transpose(1, 2) / scale[:, None, None]).sum()
        '''
    scan = function(text, "agreement")
    check(not scan.problem() and not scan.findings and scan.inputs["scale"]["low"] == 0.5, scan)


@case("targets of a binary cross entropy stay between 0 and 1, and scales do not become negative")
def kinds():
    text = """\
        import torch
        import torch.nn.functional as F
        def loss(output, truth):
            return F.binary_cross_entropy_with_logits(output, truth)
        def ratio(x, sigma):
            return torch.exp(-x.abs() / (sigma + 0.1))
        def free(x, log_sigma: torch.Tensor):
            return torch.exp(-x.abs() * log_sigma)
        """
    scan = function(text, "loss")
    check(not scan.findings and scan.inputs["truth"]["high"] == 1.0, scan)
    scan = function(text, "ratio")
    check(not scan.findings and scan.inputs["sigma"]["low"] == 0.0, scan)
    scan = function(text, "free")
    check(scan.at(8), scan)


@case("an exponent that is a setting overflows by its nature when it is huge")
def exponents():
    text = """\
        import torch
        def weighted(x, beta=0.5):
            return (1.0 + x.abs()) ** (2 * beta)
        """
    scan = function(text, "weighted")
    check(not scan.findings, scan)


@case("only what is passed to a function has another size, what it keeps beside that does not")
def sizes():
    text = """\
        import torch
        TABLE = [0.2, 0.3, 0.5]
        def mixed(x):
            weights = torch.tensor(TABLE)
            return (x[..., None] * weights / (weights.numel() - 1)).sum()
        """
    scan = function(text, "mixed")
    check(not scan.findings, scan)


@case("arrays of an object that are judged after a run are judged by what the run had in them")
def exchanged():
    text = """\
        import torch
        class Center(torch.nn.Module):
            def __init__(self, size=3):
                super().__init__()
                self.params = torch.nn.Parameter(torch.randn(1, size), requires_grad=False)
            def forward(self, x):
                y = self.params
                lengths = x.pow(2).sum(1).view(-1, 1) + y.pow(2).sum(1).view(1, -1)
                return torch.clamp(lengths - 2.0 * torch.mm(x, y.t()), 0.0)
        """
    scan = function(text, "Center")
    check(not any("times 1e-" in record["label"] for record in scan.findings), scan)


@case("a package in the folder of the scan is differentiated as a file is")
def package():
    text = """\
        import torch
        def distances(x):
            return torch.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)%s)
        """
    for more, faulty in (("", True), (" + 1e-8", False)):
        files = {"nearby/__init__.py": "", "nearby/metric.py": text % more}
        scan = Scan(files, target="nearby.metric:distances")
        found = scan.at(3)
        check((found and found["oracle"] == "gradient_nonfinite") == (faulty or None), scan)


assert scans


@case("a range that a sentence gives all arguments holds")
def range_of_all():
    text = """\
        import torch
        def kept(u, v, scale=1.0):
            '''Hyperbolic distance; both points have entries between -0.3 and 0.3.'''
            a = 1 - (u ** 2).sum(-1)
            b = 1 - (v ** 2).sum(-1)
            return scale * torch.log1p(((u - v) ** 2).sum(-1) / (a * b))
        """
    scan = function(text, "kept")
    check(not scan.findings, scan)
    scan = function(text.replace("have entries between", "are not"), "kept")
    check(scan.findings, scan)


@case("a bound that stands in a clause about a parameter holds")
def bound_in_a_clause():
    text = """\
        import torch
        def kept(x, dof):
            '''Log density; dof is the number of degrees of freedom (> 0).'''
            return -torch.log1p(x * x / dof)
        def free(x, dof):
            '''Log density; dof is the number of degrees of freedom of all x > 0.'''
            return -torch.log1p(x * x / dof)
        """
    scan = function(text, "kept")
    check(not scan.findings, scan)
    scan = function(text, "free")
    check(scan.at(7) is not None, scan)


run_cases()
