"""A cubic fitted by a small network, with a mean squared error written out."""

import torch

torch.manual_seed(0)
inputs = torch.linspace(-1, 1, 100).unsqueeze(1)
targets = inputs**3 + 0.1 * torch.randn(100, 1)
model = torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(50):
    loss = ((model(inputs) - targets) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

measurements = torch.randn(50, 3)
deviation = measurements.std(0) + 1e-8
print(((measurements - measurements.mean(0)) / deviation).abs().max().item())
