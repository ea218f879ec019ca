"""A convolutional network whose log-average pooling has a floor."""

import torch
from torch import nn

torch.manual_seed(34)


class LogPoolNetwork(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.convolution = nn.Conv2d(1, channels, kernel_size=3)
        self.head = nn.Linear(channels, classes)
        with torch.no_grad():
            self.convolution.bias.fill_(-0.2)

    def forward(self, images):
        active = torch.relu(self.convolution(images))
        pooled = active.mean(dim=(2, 3)).add(1e-3).log()
        return self.head(torch.tanh(pooled))


def main():
    images = torch.rand(8, 1, 12, 12)  # input
    network = LogPoolNetwork(2, 3)
    with torch.no_grad():
        network.convolution.weight.abs_()
    scores = network(images)
    loss = nn.functional.cross_entropy(scores, torch.zeros(8, dtype=torch.long))
    loss.backward()
    print(f"loss {loss.item():.4f}, predictions {scores.argmax(dim=1).tolist()}")


if __name__ == "__main__":
    main()
