"""A small classifier, trained the way many tutorials do it. It runs, and it looks fine.

    fissure scan examples/quickstart.py
"""

import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.hidden = nn.Linear(features, 32)
        self.output = nn.Linear(32, classes)

    def forward(self, batch):
        return torch.softmax(self.output(torch.relu(self.hidden(batch))), dim=1)


def cross_entropy(probabilities, labels):
    one_hot = nn.functional.one_hot(labels, probabilities.shape[1])
    return -(one_hot * torch.log(probabilities)).sum(dim=1).mean()


def standardise(batch):
    return (batch - batch.mean(dim=0)) / batch.std(dim=0)


measurements = torch.randn(128, 6)
labels = (measurements.sum(dim=1) > 0).long()

model = Classifier(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    optimizer.zero_grad()
    loss = cross_entropy(model(standardise(measurements)), labels)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
