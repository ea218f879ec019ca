"""A small MLP classifier whose negative log likelihood starts from the logits."""

import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, batch):
        # Standardised features beyond ten deviations are measuring errors.
        hidden = torch.tanh(self.first(batch.clamp(-10.0, 10.0)))
        return self.second(hidden)


def negative_log_likelihood(logits, labels):
    log_probabilities = torch.log_softmax(logits, dim=1)
    return -log_probabilities[torch.arange(labels.shape[0]), labels].mean()


def main():
    features = torch.randn(64, 20)  # input
    labels = torch.randint(0, 5, (64,))
    model = Classifier(20, 16, 5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(5):
        optimizer.zero_grad()
        loss = negative_log_likelihood(model(features), labels)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
