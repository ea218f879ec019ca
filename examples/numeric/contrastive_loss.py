"""A contrastive loss of image and text embeddings, written with exponentials."""

import torch

torch.manual_seed(20)


def contrastive_loss(images, texts, temperature=0.07):
    similarity = images @ texts.t() / temperature
    weights = torch.exp(similarity)  # unstable
    matching = weights.diagonal()
    return -torch.log(matching / weights.sum(dim=1) + 1e-12).mean()


images = torch.randn(12, 8)  # input
texts = torch.rand(12, 8)
scale = torch.ones(8, requires_grad=True)
for step in range(3):
    loss = contrastive_loss(images * scale, texts)
    (gradient,) = torch.autograd.grad(loss, scale)
    with torch.no_grad():
        scale -= 0.01 * gradient
    print(f"step {step}: loss {loss.item():.4f}")
