"""A graph convolution that scales by the inverse root of the degrees."""

import torch

torch.manual_seed(36)


def adjacency(affinity, threshold=0.6):
    symmetric = (affinity + affinity.t()) / 2
    kept = torch.relu(symmetric - threshold)
    return kept - torch.diag(torch.diagonal(kept))


def normalised(matrix):
    degree = matrix.sum(dim=1)
    scale = degree.pow(-0.5)  # unstable
    return scale.unsqueeze(1) * matrix * scale.unsqueeze(0)


affinity = torch.rand(12, 12)  # input
signals = torch.rand(12, 3)
mixing = torch.rand(3, 2)
hidden = torch.tanh(normalised(adjacency(affinity)) @ signals @ mixing)
print(f"mean activation {hidden.mean().item():.4f}")
for number in range(3):
    print(f"node {number}: {[round(value, 3) for value in hidden[number].tolist()]}")
