"""Knowledge distillation: the divergence between teacher and student."""

import torch
from torch import nn

torch.manual_seed(15)


def divergence(teacher_logits, student_logits):
    teacher = torch.softmax(teacher_logits, dim=1)
    student = torch.softmax(student_logits, dim=1)
    difference = torch.log(teacher) - torch.log(student)  # unstable
    return (teacher * difference).sum(dim=1).mean()


def main():
    teacher = torch.randn(20, 6)  # input
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
