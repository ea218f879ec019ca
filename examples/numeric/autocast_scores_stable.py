"""Similarity scores of long feature vectors under autocast, scaled before the product."""

import torch

torch.manual_seed(53)


def scores(features, width):
    scaled = features / width**0.5
    with torch.autocast("cpu", dtype=torch.float16):
        return scaled @ features.t()


features = 30.0 * torch.rand(8, 256)  # input
similarity = scores(features, features.shape[1])
print(f"largest score {similarity.float().max():.1f}")
