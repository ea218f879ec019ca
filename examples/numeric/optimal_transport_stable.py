"""Sinkhorn iterations in the log domain between two point clouds."""

import torch

torch.manual_seed(10)


def transport_plan(cost, regularisation, iterations=10):
    log_plan = -cost / regularisation
    for _ in range(iterations):
        log_plan = log_plan - torch.logsumexp(log_plan, dim=1, keepdim=True)
        log_plan = log_plan - torch.logsumexp(log_plan, dim=0, keepdim=True)
    return torch.exp(log_plan) / log_plan.shape[0]


def squared_distances(left, right):
    return (left.unsqueeze(1) - right.unsqueeze(0)).square().sum(dim=2)


def main():
    sources = torch.randn(12, 2)  # input
    sources = sources.clamp(-10.0, 10.0)
    destinations = torch.rand(12, 2)
    cost = squared_distances(sources, destinations)
    plan = transport_plan(cost, regularisation=0.5)
    print(f"transport cost {(plan * cost).sum().item():.4f}, mass {plan.sum().item():.4f}")


if __name__ == "__main__":
    main()
