"""A convolutional classifier, trained and evaluated the usual way."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3)
        self.dropout = nn.Dropout(0.25)
        self.hidden = nn.Linear(16 * 5 * 5, 32)
        self.output = nn.Linear(32, 10)

    def forward(self, images):
        features = F.max_pool2d(F.relu(self.norm(self.first(images))), 2)
        features = F.max_pool2d(F.relu(self.second(features)), 2)
        hidden = F.relu(self.hidden(torch.flatten(features, 1)))
        return F.log_softmax(self.output(self.dropout(hidden)), dim=1)


images = (torch.rand(32, 1, 28, 28) - 0.1307) / 0.3081
labels = torch.randint(0, 10, (32,))
network = Network()
optimizer = torch.optim.Adadelta(network.parameters(), lr=1.0)
for epoch in range(2):
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        loss = F.nll_loss(network(images[start : start + 8]), labels[start : start + 8])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
network.eval()
with torch.no_grad():
    print("accuracy", (network(images).argmax(1) == labels).float().mean().item())
torch.save(network.state_dict(), "network.pt")
