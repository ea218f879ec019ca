"""One adapter per library: make tensors, call a function on them, differentiate it."""

import math

import numpy as np


class Torch:
    name = "torch"

    def __init__(self):
        import torch

        torch.set_num_threads(1)
        self.module = torch
        self.version = torch.__version__
        self.names = {"torch": torch, "F": torch.nn.functional, "math": math}

    def prepared(self, function):
        return function

    def tensor(self, values, dtype):
        return self.module.from_numpy(np.array(values)).to(getattr(self.module, dtype))

    def numbers(self, result):
        return result.detach().double().numpy()

    def is_tensor(self, value):
        return isinstance(value, self.module.Tensor)

    def call(self, function, tensors):
        with self.module.no_grad():
            return function(*tensors)

    def gradients(self, function, tensors):
        """The gradients of the sum of the first result."""
        torch = self.module
        leaves = [value.detach().requires_grad_(True) for value in tensors]
        with torch.enable_grad():
            result = first(function(*leaves))
            found = torch.autograd.grad(result.sum(), leaves, allow_unused=True)
        return [self.numbers(value) for value in found if value is not None]


class TensorFlow:
    name = "tensorflow"

    def __init__(self):
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.module = tf
        self.version = tf.__version__
        self.names = {"tf": tf, "math": math}
        # The kernels of the eager call, without what an optimiser would rewrite.
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})

    def prepared(self, function):
        """An expression as a graph per type and shape: most of an eager call is its overhead."""
        tf = self.module

        def call(*tensors):
            key = tuple((value.dtype, tuple(value.shape[1:])) for value in tensors)
            graph = graphs.get(key)
            if graph is None:
                some = [tf.TensorSpec([None] + list(shape), dtype) for dtype, shape in key]
                graph = tf.function(function, autograph=False).get_concrete_function(*some)
                graphs[key] = graph
            return graph(*tensors)

        graphs = {}
        return call

    def tensor(self, values, dtype):
        tf = self.module
        # The direct cast of a constant is done by NumPy, which has no bfloat16.
        return tf.cast(tf.constant(np.array(values), dtype=tf.float64), getattr(tf, dtype))

    def numbers(self, result):
        return self.module.cast(result, self.module.float64).numpy()

    def is_tensor(self, value):
        return isinstance(value, self.module.Tensor)

    def call(self, function, tensors):
        return function(*tensors)

    def gradients(self, function, tensors):
        tf = self.module
        with tf.GradientTape() as tape:
            for value in tensors:
                tape.watch(value)
            result = tf.reduce_sum(first(function(*tensors)))
        found = tape.gradient(result, tensors)
        return [self.numbers(value) for value in found if value is not None]


class NumPy:
    """Functions of the user that take and give arrays; there are no gradients."""

    name = "numpy"

    def __init__(self):
        self.module = np
        self.version = np.__version__
        self.names = {"np": np, "numpy": np, "math": math}
        np.seterr(all="ignore")

    def prepared(self, function):
        return function

    def tensor(self, values, dtype):
        return np.array(values, dtype=getattr(np, dtype))

    def numbers(self, result):
        return np.asarray(result, dtype=np.float64)

    def is_tensor(self, value):
        return isinstance(value, (np.ndarray, np.generic))

    def call(self, function, tensors):
        return function(*tensors)

    def gradients(self, function, tensors):
        return []


def first(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def load(name):
    return {"torch": Torch, "tensorflow": TensorFlow, "numpy": NumPy}[name]()
