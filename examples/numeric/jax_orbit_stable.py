"""Distances of bodies to a fitted centre in JAX: a square root that stays away from zero."""

import jax
import jax.numpy as jnp

bodies = jax.random.normal(jax.random.PRNGKey(6), (7, 2))  # input
centre = {"weight": jnp.zeros(2)}


def loss(centre):
    apart = jnp.clip(bodies - centre["weight"], -1e6, 1e6)
    squares = jnp.sum(apart ** 2, axis=1)
    return jnp.mean(jnp.sqrt(squares + 1e-6))


gradient = jax.grad(loss)(centre)
print(f"gradient {gradient['weight'][0]:.4f} {gradient['weight'][1]:.4f}")
