"""The focal loss for rare classes, on the logits."""

import torch

torch.manual_seed(24)


def focal_loss(logits, targets, gamma=2.0, alpha=0.25):
    signed = torch.where(targets > 0.5, logits, -logits)
    log_correct = torch.nn.functional.logsigmoid(signed)
    wrong = torch.sigmoid(-signed)
    weight = torch.where(targets > 0.5, alpha, 1 - alpha)
    return -(weight * wrong**gamma * log_correct).mean()


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
