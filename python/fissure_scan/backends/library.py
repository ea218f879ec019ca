"""The backend of a library by its name."""

from .numpy_backend import BACKEND as NUMPY

_LOADED = {"numpy": NUMPY}


def of(library):
    backend = _LOADED.get(library)
    if backend is None:
        if library == "torch":
            from .torch_backend import TorchBackend

            backend = TorchBackend()
        elif library == "jax":
            from .jax_backend import BACKEND as backend
        elif library == "tensorflow":
            from .tensorflow_backend import BACKEND as backend
        elif library == "tensorflow1":
            from .graph_backend import BACKEND as backend
        elif library == "math":
            from .math_backend import BACKEND as backend
        else:
            raise KeyError(library)
        _LOADED[library] = backend
    return backend


def numpy_based(library):
    """Are the library's values looked at as NumPy arrays?"""
    return library in ("jax", "tensorflow", "tensorflow1")
