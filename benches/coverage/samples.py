"""Samples of PyTorch's own tests, run once: what their blocks are is a measure for a campaign."""

import sys

import torch
from fissure_worker.seeds import AbsentFinder

# The samples import packages that only PyTorch's own tests need.
sys.meta_path.append(AbsentFinder())

from torch.testing._internal.common_methods_invocations import op_db


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in _tensors(part)]
    return []


def _run(backward):
    calls = 0
    for operator in op_db:
        for dtype in sorted(operator.supported_dtypes("cpu"), key=str):
            gradient = (
                backward
                and operator.supports_autograd
                and (dtype.is_floating_point or dtype.is_complex)
            )
            if backward and not gradient:
                continue
            try:
                samples = list(operator.sample_inputs("cpu", dtype, requires_grad=gradient))
            except Exception:
                continue
            for sample in samples:
                try:
                    result = operator(sample.input, *sample.args, **sample.kwargs)
                    roots = [one for one in _tensors(result) if one.requires_grad]
                    if roots:
                        torch.autograd.backward(roots, [torch.ones_like(one) for one in roots])
                    calls += 1
                except Exception:
                    continue
    return calls


def names():
    """The public functions behind the operators."""
    for operator in op_db:
        for path in (operator.name, "Tensor." + operator.name):
            found = torch
            for part in path.split("."):
                found = getattr(found, part, None)
            if callable(found):
                yield "torch." + path
                break


def forward():
    return _run(backward=False)


def backward():
    return _run(backward=True)


if __name__ == "__main__":
    print("\n".join(names()))
