"""Cosine retrieval with a temperature, perplexity by math, and a scripted function."""

import math

import torch
from torch.nn import functional as F

TEMPERATURE = 0.07
TOP = 3


@torch.jit.script
def scores(queries, documents):
    return F.normalize(queries, dim=-1) @ F.normalize(documents, dim=-1).t()


def info_nce(queries, documents, temperature=TEMPERATURE):
    logits = scores(queries, documents) / temperature
    return F.cross_entropy(logits, torch.arange(logits.shape[0]))


torch.manual_seed(2)
queries = torch.randn(10, 16)
documents = queries + 0.1 * torch.randn(10, 16)
loss = info_nce(queries, documents)
best = scores(queries, documents).topk(TOP, dim=1).indices
print(f"loss {loss.item():.4f}, perplexity {math.exp(min(loss.item(), 50.0)):.3f}")
print("first", best[0].tolist(), "bits", round(math.log2(TOP), 3))
