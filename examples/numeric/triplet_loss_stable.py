"""A triplet loss with Euclidean distances that are smooth where an anchor equals its positive."""

import torch
from torch import nn

torch.manual_seed(19)


def euclidean(first, second):
    return (first - second).pow(2).sum(dim=1).add(1e-6).sqrt()


def triplet_loss(anchor, positive, negative, margin=0.5):
    gap = euclidean(anchor, positive) - euclidean(anchor, negative)
    return torch.relu(gap + margin).mean()


anchors = torch.rand(16, 8)
positives = torch.rand(16, 8)  # input
negatives = torch.rand(16, 8)
embed = nn.Linear(8, 4)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.05)
for step in range(4):
    optimizer.zero_grad()
    embedded = [torch.tanh(embed(batch)) for batch in (anchors, positives, negatives)]
    loss = triplet_loss(*embedded)
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.4f}")
