"""Two views of the same items must find each other by the cosine of their angle."""

import torch
from torch.nn import functional as F

torch.manual_seed(8)


def unit(vectors):
    largest = vectors.abs().amax(dim=1, keepdim=True).detach().clamp_min(1e-6)
    return F.normalize(vectors / largest, dim=1, eps=1e-3)


def matching_loss(left, right, temperature=0.5):
    similarity = unit(left) @ unit(right).t()
    labels = torch.arange(left.shape[0])
    return F.cross_entropy(similarity / temperature, labels)


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
