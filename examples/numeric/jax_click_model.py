"""A click model in JAX: log(1 - p) of a sigmoid."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(1), 2)
scores = jax.random.normal(keys[0], (20,))  # input
clicked = (jnp.arange(20) % 2).astype(jnp.float32)


def loss(scores):
    chance = jax.nn.sigmoid(scores)
    missed = jnp.log(1.0 - chance)  # unstable
    return -jnp.mean(clicked * jax.nn.log_sigmoid(scores) + (1.0 - clicked) * missed)


print(f"loss {loss(scores):.4f}")
