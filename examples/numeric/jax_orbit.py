"""Distances of bodies to a fitted centre in JAX: the gradient of a square root at zero."""

import jax
import jax.numpy as jnp

bodies = jax.random.normal(jax.random.PRNGKey(6), (7, 2))  # input
centre = {"weight": jnp.zeros(2)}


def loss(centre):
    squares = jnp.sum((bodies - centre["weight"]) ** 2, axis=1)
    return jnp.mean(jnp.sqrt(squares))  # unstable


gradient = jax.grad(loss)(centre)
print(f"gradient {gradient['weight'][0]:.4f} {gradient['weight'][1]:.4f}")
