"""The backend of a library by its name."""

import importlib
import sys

from .numpy_backend import BACKEND as NUMPY

#: Library → the module of its backend.
_MODULES = {
    "torch": "torch_backend",
    "jax": "jax_backend",
    "tensorflow": "tensorflow_backend",
    "tensorflow1": "graph_backend",
    "math": "math_backend",
}
#: Libraries without a hook that sees every operation: their functions are replaced (wrapping.py).
_REPLACED = ("jax", "tensorflow")
_LOADED = {"numpy": NUMPY}


def module_of(library):
    return importlib.import_module("." + _MODULES[library], __package__)


def of(library):
    if library not in _LOADED:
        module = module_of(library)
        _LOADED[library] = module.TorchBackend() if library == "torch" else module.BACKEND
    return _LOADED[library]


def replaced():
    """Modules of the loaded libraries whose functions are replaced."""
    return [module_of(library) for library in _REPLACED if library in sys.modules]


def numpy_based(library):
    """Are the library's values looked at as NumPy arrays?"""
    return library in _REPLACED or library == "tensorflow1"
