"""Queries that are there already: explained in plain words, mended, told apart by rows, and held against a question.

- `explanation`: what a query returns, as sentences.
- `mending`: a query that does not run, made one that does.
- `telling_apart`: rows on which two queries differ.
"""

__all__: list[str] = []
