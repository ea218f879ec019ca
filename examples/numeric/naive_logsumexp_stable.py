"""The partition function of a small energy model by logsumexp."""

import torch

torch.manual_seed(14)


class EnergyModel:
    def __init__(self, states):
        self.bias = torch.zeros(states, requires_grad=True)

    def log_partition(self, scores):
        return torch.logsumexp(scores + self.bias, dim=1)

    def log_likelihood(self, scores, observed):
        chosen = (scores + self.bias).gather(1, observed.unsqueeze(1)).squeeze(1)
        return (chosen - self.log_partition(scores)).mean()


scores = torch.randn(32, 6)  # input
observed = torch.randint(0, 6, (32,))
model = EnergyModel(6)
for step in range(4):
    objective = model.log_likelihood(scores, observed)
    objective.backward()
    with torch.no_grad():
        model.bias += 0.5 * model.bias.grad
        model.bias.grad.zero_()
    print(f"step {step}: log likelihood {objective.item():.4f}")
