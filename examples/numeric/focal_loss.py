"""The focal loss for rare classes."""

import torch

torch.manual_seed(24)


def focal_loss(logits, targets, gamma=2.0, alpha=0.25):
    probability = torch.sigmoid(logits)
    correct = torch.where(targets > 0.5, probability, 1 - probability)
    weight = torch.where(targets > 0.5, alpha, 1 - alpha)
    return -(weight * (1 - correct) ** gamma * torch.log(correct)).mean()  # unstable


def rare_targets(count, share=0.1):
    return (torch.rand(count) < share).float()


logits = torch.randn(200)  # input
targets = rare_targets(200)
offset = torch.zeros(1, requires_grad=True)
for step in range(4):
    loss = focal_loss(logits + offset, targets)
    loss.backward()
    with torch.no_grad():
        offset -= offset.grad
        offset.grad = None
    print(f"step {step}: loss {loss.item():.5f}, offset {offset.item():.4f}")
