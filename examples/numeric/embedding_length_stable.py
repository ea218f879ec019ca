"""Lengths of embeddings scaled before they are squared."""

import torch

torch.manual_seed(5)


def lengths(vectors):
    tiny = torch.finfo(vectors.dtype).tiny
    largest = vectors.abs().amax(dim=1, keepdim=True).clamp_min(tiny)
    scaled = vectors / largest
    return largest.squeeze(1) * torch.linalg.vector_norm(scaled, dim=1)


def report(values):
    ordered, order = values.sort(descending=True)
    for rank in range(3):
        print(f"{rank + 1}. embedding {order[rank].item()} length {ordered[rank].item():.3f}")


embeddings = torch.randn(50, 12)  # input
sizes = lengths(embeddings)
report(sizes)
longest = sizes.max()
print("longest finite:", bool(torch.isfinite(longest)))
