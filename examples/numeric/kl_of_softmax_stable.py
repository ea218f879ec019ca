"""Knowledge distillation: the divergence in the log domain."""

import torch
from torch import nn

torch.manual_seed(15)


def divergence(teacher_logits, student_logits):
    teacher = torch.log_softmax(teacher_logits, dim=1)
    student = torch.log_softmax(student_logits, dim=1)
    return nn.functional.kl_div(student, teacher, log_target=True, reduction="batchmean")


def main():
    teacher = torch.randn(20, 6)  # input
    teacher = teacher.clamp(-1e3, 1e3)
    features = torch.rand(20, 12)
    student = nn.Linear(12, 6)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        loss = divergence(teacher, student(features))
        loss.backward()
        optimizer.step()
        print(f"step {step}: divergence {loss.item():.4f}")


if __name__ == "__main__":
    main()
