"""Brightness of images in JAX, relative to the brightest pixel."""

import jax
import jax.numpy as jnp

images = jax.random.uniform(jax.random.PRNGKey(4), (3, 6, 6))  # input


@jax.jit
def relative(images):
    return images / images.max(axis=(1, 2), keepdims=True)  # unstable


print(f"mean {float(relative(images).mean()):.4f}")
