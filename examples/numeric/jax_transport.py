"""Optimal transport in JAX: the kernel underflows, and the loop divides by its sums."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(7), 2)
sources = jax.random.normal(keys[0], (5, 2))  # input
targets = jax.random.normal(keys[1], (5, 2))
REGULARISATION = 0.5

cost = jnp.sum((sources[:, None, :] - targets[None, :, :]) ** 2, axis=2)
kernel = jnp.exp(-cost / REGULARISATION)


def update(_, scales):
    rows, columns = scales
    rows = 0.2 / (kernel @ columns)  # unstable
    columns = 0.2 / (kernel.T @ rows)
    return rows, columns


rows, columns = jax.lax.fori_loop(0, 5, update, (jnp.ones(5), jnp.ones(5)))
print(f"row sums {float(jnp.sum(rows * (kernel @ columns))):.4f}")
