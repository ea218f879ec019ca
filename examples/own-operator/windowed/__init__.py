"""A small package with one custom operator, registered with `torch.library`."""

from windowed import ops

__all__ = ["ops"]
