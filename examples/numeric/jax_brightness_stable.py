"""Brightness of images in JAX, relative to the brightest pixel, black images included."""

import jax
import jax.numpy as jnp

images = jax.random.uniform(jax.random.PRNGKey(4), (3, 6, 6))  # input


@jax.jit
def relative(images):
    return images / jnp.maximum(images.max(axis=(1, 2), keepdims=True), 1e-6)


print(f"mean {float(relative(images).mean()):.4f}")
