"""Attention in JAX, one query at a time under vmap, with the softmax of the library."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(2), 3)
queries = jax.random.normal(keys[0], (5, 8))  # input
memory = jax.random.normal(keys[1], (6, 8))


def attend(query):
    weights = jax.nn.softmax(memory @ query)
    return weights @ memory


answers = jax.jit(jax.vmap(attend))(queries)
print(f"answers {float(jnp.mean(answers)):.4f}")
