"""A rate of counts in JAX: softplus of the library."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(5), 2)
covariates = jax.random.normal(keys[0], (10, 3))  # input
counts = jnp.array([0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.0, 2.0, 1.0])
params = {"slope": jax.random.normal(keys[1], (3,))}


def loss(params):
    rate = jax.nn.softplus(covariates @ params["slope"]) + 0.01
    return jnp.mean(rate - counts * jnp.log(rate))


gradient = jax.grad(loss)(params)
print(f"loss {loss(params):.4f}, gradient {float(jnp.sum(gradient['slope'])):.4f}")
