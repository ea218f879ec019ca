"""Soft assertions: how far a call site is from failing, and in which direction it fails."""
