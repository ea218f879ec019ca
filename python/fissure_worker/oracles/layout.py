"""The same values laid out differently in memory give another result.

# What it does

Makes the call again with each tensor argument, one at a time, in another memory layout: as a
slice of a larger tensor, with transposed storage, as every second element of a longer one,
`channels_last`, and as an expanded view where the tensor repeats itself.

# Why it matters

Shape and values are what a caller thinks of; strides come from whatever happened before. A kernel
that reads the wrong elements of a strided tensor gives plausible, wrong numbers.

# When it stays silent

- The call is random, or changes its arguments in place.
- The difference is rounding by the measure of the same call in `float64`.
- NaN or infinities of the input spread in another order, unless the call is element by element.
- The library says that it does not take the layout.
- The function is about layout itself (`as_strided`, `stride`, `data_ptr`, …).

# Example

```text
torch.foo(x) != torch.foo(x.t().contiguous().t())
```
"""

from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.indices import writes_twice

PRICE = 8
#: Words of a message that refuses a layout.
LAYOUT_WORDS = ("stride", "contiguous", "layout", "memory format", "overlap", "storage", " view")
#: Larger tensors are left alone.
LIMIT = 1 << 22


unavailable = foreign.unread


def check(call):
    if call.has("about layout") or call.random or call.mutates:
        return
    arguments = call.build()
    if writes_twice(call, arguments):
        return
    for place, tensor in call.tensors(arguments):
        if compare.count(tensor) > LIMIT:
            continue
        for name, expression, changed in variants(place, tensor):
            if getattr(tensor, "requires_grad", False):
                # It is as much the beginning of a graph as the tensor itself.
                expression += ".detach().requires_grad_()"
                changed = changed.detach().requires_grad_()
            change = [place.assignment(arguments, expression)]
            variant = call.build().replace(place, changed)
            detail = "%s of %s" % (name, place.name)
            report = call.compare_variant(detail, change, variant)
            if report is not None and not about_layout(report):
                # Other layouts of this argument most likely say the same again.
                yield report
                break


def about_layout(report):
    """The call refuses the layout and says so."""
    text = report.observed.lower()
    return "raises" in report.detail and any(word in text for word in LAYOUT_WORDS)


def variants(place, tensor):
    """(name, source expression, tensor) of each other layout of the same values."""
    if compare.is_numpy(tensor):
        return numpy_variants(place, tensor)
    return torch_variants(place, tensor)


def torch_variants(place, tensor):
    import torch

    if str(tensor.layout) != "torch.strided" or tensor.is_quantized:
        return
    it = place.expression
    rank = tensor.dim()
    if tensor.numel() == 0:
        return
    if rank >= 2 and min(tensor.shape[-2:]) > 1:
        yield (
            "transposed storage",
            "%s.transpose(-1, -2).contiguous().transpose(-1, -2)" % it,
            tensor.transpose(-1, -2).contiguous().transpose(-1, -2),
        )
    if rank in (4, 5) and tensor.shape[1] > 1:
        name = "channels_last" if rank == 4 else "channels_last_3d"
        yield (
            name,
            "%s.contiguous(memory_format=torch.%s)" % (it, name),
            tensor.contiguous(memory_format=getattr(torch, name)),
        )
    if rank >= 1 and tensor.shape[-1] > 1:
        yield (
            "every second element",
            "torch.stack([%s, %s], -1)[..., 0]" % (it, it),
            torch.stack([tensor, tensor], -1)[..., 0],
        )
    if rank >= 1:
        yield (
            "slice of a larger tensor",
            "torch.cat([%s[..., :1], %s, %s[..., :1]], -1)[..., 1:-1]" % (it, it, it),
            torch.cat([tensor[..., :1], tensor, tensor[..., :1]], -1)[..., 1:-1],
        )
    for dimension in range(rank):
        first = tensor.narrow(dimension, 0, 1)
        if tensor.shape[dimension] > 1 and compare.identical(tensor, first.expand_as(tensor)):
            yield (
                "expanded view",
                "%s.narrow(%d, 0, 1).expand(%r)" % (it, dimension, tuple(tensor.shape)),
                first.expand_as(tensor),
            )
            break


def numpy_variants(place, array):
    import numpy

    it = place.expression
    if not getattr(array, "ndim", 0) or array.size == 0:
        return
    if array.ndim >= 2:
        yield "column order", "%s.copy(order='F')" % it, array.copy(order="F")
    yield (
        "negative stride",
        "%s[::-1].copy()[::-1]" % it,
        array[::-1].copy()[::-1],
    )
    yield (
        "every second element",
        "%s.repeat(2, axis=-1)[..., ::2]" % it,
        numpy.repeat(array, 2, axis=-1)[..., ::2],
    )
