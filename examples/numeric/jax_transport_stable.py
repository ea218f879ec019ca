"""Optimal transport in JAX: the loop stays in logarithms."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(7), 2)
sources = jax.random.normal(keys[0], (5, 2))  # input
targets = jax.random.normal(keys[1], (5, 2))
REGULARISATION = 0.5

apart = jnp.clip(sources[:, None, :] - targets[None, :, :], -30.0, 30.0)
cost = jnp.sum(apart ** 2, axis=2)
kernel = -cost / REGULARISATION


def update(_, scales):
    rows, columns = scales
    rows = jnp.log(0.2) - jax.nn.logsumexp(kernel + columns[None, :], axis=1)
    columns = jnp.log(0.2) - jax.nn.logsumexp(kernel + rows[:, None], axis=0)
    return rows, columns


rows, columns = jax.lax.fori_loop(0, 5, update, (jnp.zeros(5), jnp.zeros(5)))
print(f"mean potential {float(jnp.mean(rows)):.4f}")
