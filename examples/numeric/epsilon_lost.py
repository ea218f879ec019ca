"""A detection loss that guards its logarithm with an epsilon too small for float32."""

import torch

torch.manual_seed(2)

EPSILON = 1e-10


def detection_loss(scores, present):
    probability = torch.sigmoid(scores)
    found = -torch.log(EPSILON + probability)
    missed = -torch.log(EPSILON + 1 - probability)  # unstable
    return torch.where(present, found, missed).mean()


def anchors(count):
    """Scores of the anchors and which of them hold an object."""
    scores = torch.randn(count)  # input
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
