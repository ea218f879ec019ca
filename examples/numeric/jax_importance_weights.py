"""Importance weights in JAX: the exponential of a difference, covered up by a clip."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(3), 2)
new = jax.random.normal(keys[0], (16,))  # input
old = jax.random.normal(keys[1], (16,))
advantages = jnp.linspace(-1.0, 1.0, 16)

ratio = jnp.exp(new - old)  # unstable
surrogate = jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages)
print(f"objective {float(jnp.mean(surrogate)):.4f}")
