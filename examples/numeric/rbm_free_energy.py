"""A restricted Boltzmann machine trained by one step of contrastive divergence."""

import torch

torch.manual_seed(17)

visible_units, hidden_units = 12, 6
weights = torch.randn(visible_units, hidden_units) * 0.1  # input
weights.requires_grad_(True)
visible_bias = torch.zeros(visible_units, requires_grad=True)
hidden_bias = torch.zeros(hidden_units, requires_grad=True)


def free_energy(visible):
    activation = visible @ weights + hidden_bias
    softened = torch.log(1 + torch.exp(activation))  # unstable
    return (-visible @ visible_bias - softened.sum(dim=1)).mean()


def reconstruct(visible):
    hidden = torch.bernoulli(torch.sigmoid(visible @ weights + hidden_bias))
    return torch.bernoulli(torch.sigmoid(hidden @ weights.t() + visible_bias))


patterns = (torch.rand(40, visible_units) > 0.6).float()
for epoch in range(4):
    with torch.no_grad():
        fantasies = reconstruct(patterns)
    loss = free_energy(patterns) - free_energy(fantasies)
    gradients = torch.autograd.grad(loss, [weights, visible_bias, hidden_bias])
    with torch.no_grad():
        for parameter, gradient in zip([weights, visible_bias, hidden_bias], gradients):
            parameter -= 0.1 * gradient
    print(f"epoch {epoch}: free energy gap {loss.item():.4f}")
