"""The wider computation beside a run, by the library that is looked at."""

import sys

from ..backends import library as backends


def beside(library):
    """A shadow in float64 for torch, JAX and TensorFlow; None where there is no such thing."""
    if backends.numpy_based(library):
        from .array_shadow import ArrayShadow

        return ArrayShadow(backends.of(library))
    if "torch" in sys.modules:
        import torch
        from .shadow import Shadow

        return Shadow(torch.float64)
    return None


def of_program(trace):
    """The library whose values are looked at as NumPy arrays, if a run used one."""
    for node in trace.nodes:
        if backends.numpy_based(node.library):
            return node.library
    return None
