"""Retrieval by cosine similarity, written with inner products and lengths."""

import torch

torch.manual_seed(9)


def cosine(first, second):
    inner = (first * second).sum(dim=-1)
    lengths = (first * first).sum(dim=-1).sqrt() * (second * second).sum(dim=-1).sqrt()
    return inner / lengths  # unstable


def best_match(query, documents):
    scores = cosine(query.expand_as(documents), documents)
    return scores.argmax().item(), scores.max().item()


queries = torch.randn(5, 16)  # input
documents = torch.rand(40, 16)
for number, query in enumerate(queries):
    index, score = best_match(query, documents)
    print(f"query {number}: document {index} with cosine {score:.4f}")
