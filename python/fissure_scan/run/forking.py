"""Whether a fork of this process would work."""

import os
import sys


def unforkable():
    """Why a fork of this process would not work; None when it does."""
    if not hasattr(os, "fork"):
        return "this system has no fork"
    tensorflow = sys.modules.get("tensorflow.python.eager.context")
    if (
        tensorflow is not None
        and getattr(getattr(tensorflow, "_context", None), "_context_handle", None) is not None
    ):
        return "TensorFlow has started its threads while it was imported"
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        return "JAX has started its threads while it was imported"
    return None
