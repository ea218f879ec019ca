//! Fixes in the words of JAX and TensorFlow.

use super::{check, fixed};

#[test]
fn the_logarithm_of_a_softmax_is_rewritten_under_each_librarys_names() {
    check(
        "log_softmax",
        "log",
        "import tensorflow as tf\np = tf.nn.softmax(x @ w)\ny = tf.math.log(p)\n",
        "import tensorflow as tf\ny = tf.nn.log_softmax(x @ w)\n",
    );
    check(
        "log_softmax",
        "log",
        "import jax\nimport jax.numpy as jnp\np = jax.nn.softmax(z, axis=1)\ny = jnp.log(p[rows, labels])\n",
        "import jax\nimport jax.numpy as jnp\ny = jax.nn.log_softmax(z, axis=1)[rows, labels]\n",
    );
    check(
        "log_softmax",
        "log",
        "import tensorflow.compat.v1 as tf\ny = tf.log(tf.nn.softmax(z))\n",
        "import tensorflow.compat.v1 as tf\ny = tf.nn.log_softmax(z)\n",
    );
}

#[test]
fn sigmoids_and_sums_of_exponentials_have_their_stable_forms() {
    check(
        "log_sigmoid",
        "log",
        "import tensorflow as tf\ny = tf.math.log(1.0 - tf.sigmoid(a + b))\n",
        "import tensorflow as tf\ny = tf.math.log_sigmoid(-(a + b))\n",
    );
    check(
        "softplus",
        "log",
        "import jax\nimport jax.numpy as jnp\ny = jnp.log(1.0 + jnp.exp(x))\n",
        "import jax\nimport jax.numpy as jnp\ny = jax.nn.softplus(x)\n",
    );
    check(
        "logsumexp",
        "log",
        "import tensorflow as tf\ny = tf.math.log(tf.reduce_sum(tf.exp(x), axis=1))\n",
        "import tensorflow as tf\ny = tf.reduce_logsumexp(x, axis=1)\n",
    );
    check(
        "xlogy",
        "log",
        "import tensorflow as tf\ny = p * tf.math.log(p)\n",
        "import tensorflow as tf\ny = tf.math.xlogy(p, p)\n",
    );
}

#[test]
fn guards_use_the_librarys_own_functions() {
    check(
        "denominator_clamp",
        "div",
        "import jax.numpy as jnp\ny = x / jnp.max(x)\n",
        "import jax.numpy as jnp\ny = x / jnp.maximum(jnp.max(x), 1e-12)\n",
    );
    check(
        "cast_clamp",
        "cast",
        "import tensorflow as tf\ny = tf.cast(x * 255.0, tf.uint8)\n",
        "import tensorflow as tf\ny = tf.cast(tf.clip_by_value(x * 255.0, 0.0, 255.0), tf.uint8)\n",
    );
}

#[test]
fn no_torch_code_is_proposed_for_a_program_in_another_library() {
    for source in [
        "import tensorflow as tf\ny = tf.sqrt(tf.reduce_sum(tf.square(x)))\n",
        "import jax.numpy as jnp\ny = jnp.sqrt(jnp.sum(x ** 2))\n",
    ] {
        let fixes = fixed(source, "sqrt");
        assert!(!fixes.is_empty());
        for (_, text) in fixes {
            assert!(!text.contains("torch") && !text.contains("clamp"), "{text}");
        }
    }
}
