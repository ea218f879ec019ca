"""Sweeps of functions that act on each element by itself: whole ranges of numbers against a wider type."""
