"""One round of a generative adversarial network with the original minimax loss."""

import torch
from torch import nn

torch.manual_seed(18)

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))


def discriminator_loss(real, fake):
    verdict_real = torch.sigmoid(discriminator(real))
    verdict_fake = torch.sigmoid(discriminator(fake))
    return -(torch.log(verdict_real) + torch.log(1 - verdict_fake)).mean()  # unstable


def generator_loss(fake):
    return nn.functional.softplus(-discriminator(fake)).mean()


latent = torch.randn(32, 4)  # input
angles = 6.2832 * torch.rand(32)
real = torch.stack([angles.cos(), angles.sin()], dim=1)
step_discriminator = torch.optim.SGD(discriminator.parameters(), lr=0.05)
step_generator = torch.optim.SGD(generator.parameters(), lr=0.05)

for round_number in range(4):
    step_discriminator.zero_grad()
    loss = discriminator_loss(real, generator(latent).detach())
    loss.backward()
    step_discriminator.step()
    step_generator.zero_grad()
    deception = generator_loss(generator(latent))
    deception.backward()
    step_generator.step()
    print(f"round {round_number}: {loss.item():.4f} {deception.item():.4f}")
