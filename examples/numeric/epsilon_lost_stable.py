"""A detection loss that needs no epsilon."""

import torch

torch.manual_seed(2)

LARGEST_SCORE = 1e4


def detection_loss(scores, present):
    found = torch.nn.functional.softplus(-scores)
    missed = torch.nn.functional.softplus(scores)
    return torch.where(present, found, missed).mean()


def anchors(count):
    """Scores of the anchors and which of them hold an object."""
    scores = torch.randn(count)  # input
    scores = scores.clamp(-LARGEST_SCORE, LARGEST_SCORE)
    present = torch.rand(count) > 0.8
    return scores, present


scores, present = anchors(256)
scale = torch.ones(1, requires_grad=True)
for step in range(3):
    loss = detection_loss(scale * scores, present)
    loss.backward()
    with torch.no_grad():
        scale -= 0.1 * scale.grad
        scale.grad = None
    print(f"step {step}: loss {loss.item():.4f}, scale {scale.item():.4f}")
