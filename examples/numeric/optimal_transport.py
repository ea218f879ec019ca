"""Sinkhorn iterations between two point clouds."""

import torch

torch.manual_seed(10)


def transport_plan(cost, regularisation, iterations=10):
    plan = torch.exp(-cost / regularisation)
    for _ in range(iterations):
        plan = plan / plan.sum(dim=1, keepdim=True)  # unstable
        plan = plan / (plan.sum(dim=0, keepdim=True) + 1e-12)
    return plan / plan.shape[0]


def squared_distances(left, right):
    return (left.unsqueeze(1) - right.unsqueeze(0)).square().sum(dim=2)


def main():
    sources = torch.randn(12, 2)  # input
    destinations = torch.rand(12, 2)
    cost = squared_distances(sources, destinations)
    plan = transport_plan(cost, regularisation=0.5)
    print(f"transport cost {(plan * cost).sum().item():.4f}, mass {plan.sum().item():.4f}")


if __name__ == "__main__":
    main()
