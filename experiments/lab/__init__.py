"""Measurements of the lab."""
