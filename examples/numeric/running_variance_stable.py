"""Running statistics by Welford's update of mean and squared deviations."""

import math

import torch

torch.manual_seed(31)


class Statistics:
    def __init__(self):
        self.count, self.mean, self.squares = 0, torch.zeros(()), torch.zeros(())

    def update(self, values):
        mean = values.mean()
        difference = mean - self.mean
        total = self.count + values.numel()
        spread = ((values - mean) * (values - mean)).sum()
        between = difference * difference * (self.count * values.numel() / total)
        self.squares = self.squares + spread + between
        self.mean = self.mean + difference * (values.numel() / total)
        self.count = total

    def deviation(self):
        return torch.sqrt(self.squares / self.count)


samples = torch.randn(400)  # input
samples = samples.clamp(-1e6, 1e6)
statistics = Statistics()
for chunk in samples.split(50):
    statistics.update(chunk)
deviation = statistics.deviation().item()
print(f"deviation {deviation:.5f}, finite: {math.isfinite(deviation)}")
