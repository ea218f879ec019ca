"""Least squares by the normal equations with a ridge that bounds their condition."""

import torch

torch.manual_seed(12)


def equations(design, response):
    gram = design.t() @ design + design.shape[0] * torch.eye(design.shape[1])
    return gram, design.t() @ response


def fit(system, moment):
    return torch.linalg.solve(system, moment)


def residual(design, response, coefficients):
    return (design @ coefficients - response).abs().mean()


design = torch.rand(40, 4)  # input
slopes = torch.rand(4)
response = design @ slopes + 0.01 * torch.rand(40)

system, moment = equations(design, response)
coefficients = fit(system, moment)
print("coefficients:", [round(value, 3) for value in coefficients.tolist()])
print(f"mean residual {residual(design, response, coefficients).item():.5f}")
