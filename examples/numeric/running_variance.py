"""Running statistics kept as the sums of values and of squares."""

import math

import torch

torch.manual_seed(31)


class Statistics:
    def __init__(self):
        self.count, self.total, self.squares = 0, torch.zeros(()), torch.zeros(())

    def update(self, values):
        self.count += values.numel()
        self.total = self.total + values.sum()
        self.squares = self.squares + (values * values).sum()

    def deviation(self):
        mean = self.total / self.count
        return torch.sqrt(self.squares / self.count - mean * mean)  # unstable


samples = torch.randn(400)  # input
statistics = Statistics()
for chunk in samples.split(50):
    statistics.update(chunk)
deviation = statistics.deviation().item()
print(f"deviation {deviation:.5f}, finite: {math.isfinite(deviation)}")
