"""Two views of the same items must find each other by inner products in half precision."""

import torch
from torch.nn import functional as F

torch.manual_seed(8)


def matching_loss(left, right, temperature=0.5):
    similarity = left.half() @ right.half().t()  # unstable
    labels = torch.arange(left.shape[0])
    return F.cross_entropy(similarity.float() / temperature, labels)


def main():
    views = torch.randn(24, 10)  # input
    noise = 0.1 * torch.rand(24, 10)
    scale = torch.ones(10, requires_grad=True)
    for step in range(4):
        loss = matching_loss(views * scale, views + noise)
        (gradient,) = torch.autograd.grad(loss, scale)
        with torch.no_grad():
            scale -= 0.05 * gradient
        print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
