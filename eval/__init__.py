"""Runs and judges SQL. This package contains no language model and never imports `agent`."""

__all__: list[str] = []
