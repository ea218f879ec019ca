"""The clipped surrogate objective of proximal policy optimisation."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)


class Policy(nn.Module):
    def __init__(self, observation_size, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observation_size, 32), nn.ReLU(), nn.Linear(32, actions))

    def log_probability(self, observations, actions):
        log_probabilities = F.log_softmax(self.body(observations), dim=-1)
        return log_probabilities.gather(1, actions.unsqueeze(1)).squeeze(1)


def surrogate(new, old, advantage, clip=0.2):
    ratio = torch.exp(new - old)  # unstable
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
    return -torch.min(ratio * advantage, clipped * advantage).mean()


def main():
    observations = torch.randn(128, 8)  # input
    actions = torch.randint(0, 4, (128,))
    advantage = torch.randn(128)
    policy = Policy(8, 4)
    behaviour = Policy(8, 4)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    with torch.no_grad():
        old = behaviour.log_probability(observations, actions)
    for epoch in range(4):
        optimizer.zero_grad()
        loss = surrogate(policy.log_probability(observations, actions), old, advantage)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
