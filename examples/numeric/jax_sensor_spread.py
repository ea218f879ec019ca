"""The spread of sensor readings in JAX, as E[x*x] - E[x]**2."""

import jax
import jax.numpy as jnp

readings = 3.0 + jax.random.normal(jax.random.PRNGKey(8), (32, 4))  # input


@jax.jit
def spread(readings):
    mean = jnp.mean(readings, axis=0)
    return jnp.mean(readings * readings, axis=0) - mean * mean  # unstable


print(f"spread {float(spread(readings).mean()):.4f}")
