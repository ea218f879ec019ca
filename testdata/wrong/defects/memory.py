"""Memory: elements that nobody writes, and elements beyond the end."""

import ctypes

import torch


def unwritten_end(input):
    """Copies all elements but, where it is wrong, the last one."""
    result = torch.empty(input.shape, dtype=input.dtype)
    count = input.numel() - 1 if wrong("unwritten_end") else input.numel()
    result.view(-1)[:count] = input.reshape(-1)[:count]
    return result


def unwritten_mask(input):
    """A mask in which the elements of one sign are left as the memory was."""
    result = torch.empty(input.shape, dtype=torch.bool)
    if wrong("unwritten_mask"):
        result[input > 0] = True
        return result
    return result.copy_(input > 0)


def unwritten_scratch(input):
    """A sum that begins with what was in memory."""
    total = torch.empty(()) if wrong("unwritten_scratch") else torch.zeros(())
    return total + input.sum()


def reads_its_address(input):
    """Nothing is wrong with it: the C library copies the elements, which have to be there for that."""
    input = input.contiguous()
    result = torch.empty_like(input)
    ctypes.memmove(result.data_ptr(), input.data_ptr(), input.numel() * input.element_size())
    return result


def native_sum(input, first, last):
    """The sum of the bytes from `first` to `last` (beyond the end) around the elements, read by the C library."""
    size = input.numel() * input.element_size()
    return torch.tensor(sum(ctypes.string_at(input.data_ptr() - first, size + first + last)) % 251)


def reads_one_byte_behind(input):
    if wrong("reads_one_byte_behind"):
        native_sum(input, 0, 1)
    return native_sum(input, 0, 0)


def reads_one_byte_before(input):
    if wrong("reads_one_byte_before"):
        native_sum(input, 1, 0)
    return native_sum(input, 0, 0)


def reads_far_behind(input):
    if wrong("reads_far_behind"):
        ctypes.string_at(input.data_ptr() + input.numel() * input.element_size() + 100_000, 1)
    return native_sum(input, 0, 0)


def writes_behind(input):
    """Writes the byte behind the elements back as it was: nothing else would notice."""
    if wrong("writes_behind"):
        place = input.data_ptr() + input.numel() * input.element_size()
        (ctypes.c_char * 1).from_address(place)[0] = (ctypes.c_char * 1).from_address(place)[0]
    return native_sum(input, 0, 0)


def writes_behind_out(input, *, out=None):
    """As above, behind the tensor that the caller gave for the result."""
    result = input * 2
    if out is None:
        return result
    if wrong("writes_behind_out"):
        place = out.data_ptr() + out.numel() * out.element_size()
        (ctypes.c_char * 1).from_address(place)[0] = (ctypes.c_char * 1).from_address(place)[0]
    return out.copy_(result)
