"""A contrastive loss of image and text embeddings, with unit vectors and log_softmax."""

import torch

torch.manual_seed(20)


def unit(batch):
    bounded = torch.tanh(batch)
    return bounded / torch.sqrt((bounded * bounded).sum(dim=1, keepdim=True) + 1e-4)


def contrastive_loss(images, texts, temperature=0.07):
    similarity = unit(images) @ unit(texts).t() / temperature
    return -torch.log_softmax(similarity, dim=1).diagonal().mean()


images = torch.randn(12, 8)  # input
texts = torch.rand(12, 8)
scale = torch.ones(8, requires_grad=True)
for step in range(3):
    loss = contrastive_loss(images * scale, texts)
    (gradient,) = torch.autograd.grad(loss, scale)
    with torch.no_grad():
        scale -= 0.01 * gradient
    print(f"step {step}: loss {loss.item():.4f}")
