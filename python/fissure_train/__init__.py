"""Unit tests of unstable functions inside the target's interpreter, for the training of soft assertions.

Runs the real function of the installed library, asks its oracles, and writes labelled samples. What
the features are and how a model is trained is the Rust side's business.
"""
