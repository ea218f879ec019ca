"""Retrieval by cosine similarity, with vectors scaled to unit length first."""

import torch

torch.manual_seed(9)


def unit(vectors):
    tiny = torch.finfo(vectors.dtype).tiny
    scaled = vectors / vectors.abs().amax(dim=-1, keepdim=True).clamp_min(tiny)
    length = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
    return scaled / length.clamp_min(0.5)


def cosine(first, second):
    return (unit(first) * unit(second)).sum(dim=-1)


def best_match(query, documents):
    scores = cosine(query.expand_as(documents), documents)
    return scores.argmax().item(), scores.max().item()


queries = torch.randn(5, 16)  # input
documents = torch.rand(40, 16)
for number, query in enumerate(queries):
    index, score = best_match(query, documents)
    print(f"query {number}: document {index} with cosine {score:.4f}")
