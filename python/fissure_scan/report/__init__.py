"""Findings, their scripts, and the check of proposed fixes."""
