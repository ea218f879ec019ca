"""Candidates, moves and variations that lead a run to a failure."""
