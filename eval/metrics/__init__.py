"""Comparison of results."""
