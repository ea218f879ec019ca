"""A language model of two encoder layers with a causal mask."""

import math

import torch
from torch import nn

torch.manual_seed(1)


class Positions(nn.Module):
    def __init__(self, width, length=50):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("table", table)

    def forward(self, batch):
        return batch + self.table[: batch.size(1)]


embedding, positions = nn.Embedding(100, 16), Positions(16)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
head = nn.Linear(16, 100)
parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
mask = nn.Transformer.generate_square_subsequent_mask(12)
for step in range(3):
    tokens = torch.randint(0, 100, (4, 13))
    hidden = encoder(positions(embedding(tokens[:, :-1]) * math.sqrt(16)), mask=mask)
    loss = nn.CrossEntropyLoss()(head(hidden).reshape(-1, 100), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    schedule.step()
    print(loss.item(), math.exp(loss.item()))
