"""Oracles: what counts as a failure, by an operation, a formula or a wider computation."""
