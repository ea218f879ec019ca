"""What functions of each library give back: infinities that are right, digits that do not matter, slopes
that are gone. Run with the interpreter of torch, JAX or TensorFlow; the cases of the others are left out."""

import importlib.util

from scan_in_process import Scan, case, check, run_cases


def has(library):
    return importlib.util.find_spec(library) is not None


def function(text, name, **more):
    return Scan({"program.py": text}, target="program.py::" + name, **more)


SLOPES = """\
    import %s as lib
    def distance(a, b):
        return lib.sqrt(%s((a - b) ** 2, -1))
    def guarded(a, b):
        square = %s((a - b) ** 2, -1)
        same = square == 0.0
        safe = lib.where(same, lib.ones_like(square), square)
        return lib.where(same, lib.zeros_like(square), lib.sqrt(safe))
    def masked(x):
        return lib.where(x > 0.0, lib.sqrt(lib.abs(x)), lib.zeros_like(x))
    def whole(x):
        return lib.argmax(x)
    """
POLES = """\
    import %s as lib
    def log1mexp(x):
        '''Compute `log(1 - exp(-|x|))` elementwise.'''
        return lib.log(-lib.expm1(-lib.abs(x)))
    def summed(p):
        '''Compute `log(p)` and add it up.'''
        return %s(lib.log(lib.abs(p)))
    def penalty(p):
        '''How far a share is from 1.'''
        return -lib.log(lib.abs(p))
    def ratio(a, b):
        '''Inverse `divide(a, b)`, infinity for 0.'''
        return lib.divide(a, b)
    """


def gone(scan, line):
    return any(
        record["site"]["line"] == line
        and record["oracle"] in ("gradient_nonfinite", "nonfinite", "hidden_nonfinite")
        for record in scan.findings
    )


def slopes(module, add):
    text = SLOPES % (module, add, add)
    scan = function(text, "distance")
    check(gone(scan, 3), scan)
    check(scan.at(3)["oracle"] == "gradient_nonfinite", scan)
    # The script may not have been run for want of time.
    check(scan.at(3)["reproduced"] is not False, scan)
    check(not function(text, "guarded").findings, scan)
    scan = function(text, "masked")
    # The root of TensorFlow has the slope 0 where nothing comes back to it.
    check(gone(scan, 10) == (module != "tensorflow"), scan)
    check(not function(text, "whole").findings, scan)


def poles(module, add):
    text = POLES % (module, add)
    scan = function(text, "log1mexp")
    check(not any(record["oracle"] == "nonfinite" for record in scan.findings), scan)
    check(scan.notes, scan)
    for name, line in (("summed", 7), ("penalty", 10), ("ratio", 13)):
        scan = function(text, name)
        check(scan.at(line) is not None, scan)


if has("torch"):

    @case("an infinity that a function of torch is documented to give is a note")
    def torch_poles():
        poles("torch", "lib.sum")

    @case("digits that an estimate of the error loses are a note where the results are right")
    def estimate():
        text = """\
            import torch
            def step(x):
                good = torch.sin(x)
                size = ((x + 3e6) - 3e6).abs().max()
                if size > 1e5:
                    raise ValueError("the step is too large")
                out = torch.empty_like(x)
                out[:] = good
                return out
            def both(x):
                return torch.sin(x), ((x + 3e6) - 3e6).abs().max()
            """
        scan = function(text, "step")
        check(not scan.findings, scan)
        scan = function(text, "both")
        check(any(record["oracle"] == "cancellation" for record in scan.findings), scan)

    @case("a formula that loses digits is a note where they do not reach the results")
    def harmless_formula():
        text = """\
            import torch
            def far(x):
                small = torch.exp(-x.abs()) * 1e-9
                return x.abs() + 1.0 + torch.log(1 + small)
            def near(x):
                small = torch.exp(-x.abs()) * 1e-9
                return torch.log(1 + small)
            """
        scan = function(text, "far")
        check(not scan.findings and scan.records, scan)
        scan = function(text, "near")
        check(scan.at(7) is not None, scan)

    @case("advice knows a sigmoid that is written by hand")
    def logistic():
        text = """\
            import torch
            def sigmoid(z):
                return 1.0 / (1.0 + torch.exp(-z))
            def loss(scores):
                return -torch.log(1 - sigmoid(scores)).mean()
            """
        scan = function(text, "loss")
        check("logsigmoid(-x)" in scan.at(5)["advice"], scan)


if has("jax"):

    @case("functions of JAX that are only defined are differentiated")
    def jax_slopes():
        slopes("jax.numpy", "lib.sum")

    @case("an infinity that a function of JAX is documented to give is a note")
    def jax_poles():
        poles("jax.numpy", "lib.sum")


if has("tensorflow"):
    # First: imported later, `tensorflow.math` would be a module that nobody watches.
    @case("an infinity that a function of TensorFlow is documented to give is a note")
    def tensorflow_poles():
        poles("tensorflow.math", "lib.reduce_sum")

    @case("functions of TensorFlow that are only defined are differentiated")
    def tensorflow_slopes():
        slopes("tensorflow", "lib.reduce_sum")


run_cases()
