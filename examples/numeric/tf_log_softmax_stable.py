"""A softmax regression in TensorFlow with log_softmax, trained step by step in a tf.function."""

import tensorflow as tf

features = tf.random.normal((16, 5))  # input
labels = tf.one_hot(tf.range(16) % 3, 3)
kernel = tf.Variable(0.3 * tf.random.normal((5, 3)))
bias = tf.Variable(tf.zeros(3))


@tf.function
def train(features):
    with tf.GradientTape() as tape:
        logarithms = tf.nn.log_softmax(features @ kernel + bias)
        chosen = tf.reduce_sum(labels * logarithms, axis=1)
        loss = -tf.reduce_mean(chosen)
    for variable, gradient in zip([kernel, bias], tape.gradient(loss, [kernel, bias])):
        variable.assign_sub(0.1 * gradient)
    return loss


for step in range(2):
    print(f"step {step}: loss {float(train(features)):.4f}")
