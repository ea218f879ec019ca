"""A small classifier in JAX, with the logarithm of the softmax in one piece."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(0), 3)
features = jax.random.normal(keys[0], (12, 4))  # input
labels = jnp.arange(12) % 3
params = {"kernel": 0.3 * jax.random.normal(keys[1], (4, 3)), "bias": jnp.zeros(3)}


@jax.jit
def loss(params, features):
    logarithms = jax.nn.log_softmax(features @ params["kernel"] + params["bias"])
    return -jnp.mean(logarithms[jnp.arange(12), labels])


for step in range(2):
    value, gradients = jax.value_and_grad(loss)(params, features)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, gradients)
    print(f"step {step}: loss {value:.4f}")
