"""Points pushed apart by gradient steps on smoothed mutual distances."""

import torch

torch.manual_seed(13)


def distances(points):
    difference = points.unsqueeze(0) - points.unsqueeze(1)
    rows, columns = torch.triu_indices(len(points), len(points), offset=1)
    squared = (difference[rows, columns] * difference[rows, columns]).sum(dim=1)
    return torch.sqrt(squared + 1e-6)


def energy(points):
    return torch.exp(-distances(points)).sum()


positions = torch.rand(8, 2)  # input
positions.requires_grad_(True)
for step in range(5):
    value = energy(positions)
    value.backward()
    with torch.no_grad():
        positions -= 0.02 * positions.grad
        positions.grad = None
print(f"energy {value.item():.4f}, spread {positions.std().item():.4f}")
