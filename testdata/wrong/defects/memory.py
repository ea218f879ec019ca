"""Memory: elements that nobody writes, and elements beyond the end."""

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
