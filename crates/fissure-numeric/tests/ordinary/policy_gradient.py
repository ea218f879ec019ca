"""Actor and critic on random transitions, with torch's own distributions."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], 1e-3)
for iteration in range(3):
    states, rewards = torch.randn(10, 4), torch.randn(10)
    actions = Categorical(logits=policy(states))
    chosen = actions.sample()
    advantage = rewards - critic(states).squeeze(-1)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    loss = -(actions.log_prob(chosen) * scaled.detach()).mean()
    loss = loss + 0.5 * advantage.pow(2).mean() - 0.01 * actions.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
