"""Queries that are there already: explained in plain words, and mended.

- `explanation`: what a query returns, as sentences.
- `mending`: a query that does not run, made one that does.
"""

__all__: list[str] = []
