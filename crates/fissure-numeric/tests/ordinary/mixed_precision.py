"""Training under bfloat16 autocast with a loss in float32."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(32, 16)
labels = torch.randint(0, 4, (32,))
for step in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(inputs)
    loss = F.cross_entropy(logits.float(), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(step, round(loss.item(), 4))
