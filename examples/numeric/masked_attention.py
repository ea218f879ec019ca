"""Attention over sequences of different lengths; one of them is empty."""

import math

import torch

torch.manual_seed(23)


def attention(query, key, value, lengths):
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    positions = torch.arange(key.shape[1])
    outside = positions.unsqueeze(0) >= lengths.unsqueeze(1)
    scores = scores.masked_fill(outside.unsqueeze(1), float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # unstable
    return weights @ value


tokens = torch.rand(3, 5, 8)  # input
lengths = torch.tensor([5, 2, 0])
context = attention(tokens, tokens, tokens, lengths)
pooled = context.mean(dim=1)
for number, row in enumerate(pooled):
    print(f"sequence {number}: {row.norm().item():.4f}")
