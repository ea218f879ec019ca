"""Functions whose in-place form, `out=` or method does something else."""

import torch


def converts(input):
    # Without documentation: what is float32 already is no copy, and written to.
    result = input.float()
    if not wrong("converts") and result is input:
        result = result.clone()
    return result.sub_(1.0)


def subtracts_in_place(input):
    return input.sub_(1.0)


def less_its_mean(input):
    return input - (input.mean(1, keepdim=True) + input.mean() * 1e-2)


def less_its_narrow_mean(input):
    return input - input.float().mean().to(input.dtype)


def up_to_here(input, keys):
    scores = input @ keys.transpose(-2, -1)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, float("-inf")).softmax(-1) @ keys


def with_positions(input):
    return input + torch.arange(1, input.shape[-1] + 1)


def slow_wave(input):
    return (input * 3).sin()


def product_in_bfloat16(input, other):
    return (input.bfloat16() @ other.bfloat16().t()).to(input.dtype)


def cubed(input):
    """Its in-place form forgets one factor."""
    return input * input * input


def cubed_(input):
    if wrong("cubed"):
        return input.mul_(input)
    return input.pow_(3)


def not_in_place(input):
    return input + 1


def not_in_place_(input):
    """The right values, but the input stays as it was."""
    if wrong("not_in_place"):
        return input + 1
    return input.add_(1)


def out_ignored(input, *, out=None):
    """Returns the right values and leaves `out` alone."""
    result = input - 1
    if out is None or wrong("out_ignored"):
        return result
    out.resize_(result.shape).copy_(result)
    return out


def out_strides(input, *, out=None):
    """Writes into `out` as if it had no gaps."""
    result = input + 2
    if out is None:
        return result
    if wrong("out_strides") and not out.is_contiguous():
        flat = torch.as_strided(out, (out.numel(),), (1,), out.storage_offset())
        flat.copy_(result.reshape(-1))
        return out
    return out.resize_(result.shape).copy_(result)


def planted_method(input, other):
    """The method of the same name subtracts the other way round."""
    return input - other


def _method(self, other):
    if wrong("planted_method"):
        return other - self
    return self - other


# The two libraries share one class of tensors: the method belongs to whoever was loaded last.
torch.Tensor.planted_method = _method


def changes_its_input(input):
    """The absolute value, computed in the caller's memory."""
    if wrong("changes_its_input"):
        return input.abs_()
    return input.abs()
