"""Lengths of embeddings by squares, sum and square root."""

import torch

torch.manual_seed(5)


def lengths(vectors):
    squares = vectors.pow(2)  # unstable
    return squares.sum(dim=1).sqrt()


def report(values):
    ordered, order = values.sort(descending=True)
    for rank in range(3):
        print(f"{rank + 1}. embedding {order[rank].item()} length {ordered[rank].item():.3f}")


embeddings = torch.randn(50, 12)  # input
sizes = lengths(embeddings)
report(sizes)
longest = sizes.max()
print("longest finite:", bool(torch.isfinite(longest)))
