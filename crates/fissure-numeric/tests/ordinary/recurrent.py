"""A noisy wave predicted from its past; NumPy makes the windows, torch learns."""

import numpy as np
import torch
from torch import nn

np.random.seed(0)
wave = np.sin(np.linspace(0, 20, 200)) + 0.1 * np.random.randn(200)
windows = np.stack([wave[start : start + 10] for start in range(180)])
inputs = torch.from_numpy(windows).float().unsqueeze(-1)
targets = torch.tensor(wave[10:190], dtype=torch.float32)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(1, 8, batch_first=True)
        self.output = nn.Linear(8, 1)

    def forward(self, batch):
        states, _ = self.memory(batch)
        return self.output(states[:, -1]).squeeze(-1)


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(5):
    loss = nn.MSELoss()(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", np.sqrt(loss.item()))
