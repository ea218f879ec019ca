"""Functions that do something else when compiled, traced, scripted, or run without data."""

import torch


def compiled(input):
    """One more than the input; two more when compiled."""
    if wrong("compiled") and torch.compiler.is_compiling():
        return input + 2
    return input + 1


def traced(input):
    """One more than the input; two more when traced."""
    if wrong("traced") and torch.jit.is_tracing():
        return input + 2
    return input + 1


def other_device(input):
    """One more than the input, as float32; two more for tensors that were moved. Tests have no
    second device, so another dtype stands for it."""
    if wrong("other_device") and input.dtype == torch.float64:
        return (input + 2).float()
    return (input + 1).float()


def _operator(name, meta):
    """A custom operator that doubles, with the given word on its result without data."""

    @torch.library.custom_op("%s::%s" % (LIBRARY, name), mutates_args=())
    def double(input: torch.Tensor) -> torch.Tensor:
        return input.contiguous() * 2

    double.register_fake(meta)
    return double


def _shape(input):
    rows = input.new_empty(input.shape[1:]) if input.dim() else torch.empty_like(input)
    return rows if wrong("meta_shape") else input.new_empty(input.shape)


def _dtype(input):
    return input.new_empty(input.shape, dtype=torch.int16 if wrong("meta_dtype") else input.dtype)


def _strides(input):
    result = input.new_empty(input.shape)
    if wrong("meta_strides") and input.dim() > 1:
        return input.new_empty(input.shape[::-1]).permute(*range(input.dim())[::-1])
    return result


_double_shape = _operator("meta_shape", _shape)
_double_dtype = _operator("meta_dtype", _dtype)
_double_strides = _operator("meta_strides", _strides)


def meta_shape(input):
    """Twice the input; on the meta device the first dimension is missing."""
    return _double_shape(input)


def meta_dtype(input):
    """Twice the input; on the meta device another dtype."""
    return _double_dtype(input)


def meta_strides(input):
    """Twice the input; on the meta device in another order of memory."""
    return _double_strides(input)


def meta_rejects(input):
    """Twice the input; on the meta device an error."""
    if wrong("meta_rejects") and input.is_meta:
        raise ValueError("not enough values")
    return input * 2
