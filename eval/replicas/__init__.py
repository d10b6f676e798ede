"""Other rows for a SQLite database: of the same kind, with the same keys, and with values that given queries use.

- `files`: reads an original, writes a replica.
- `rows`: makes the rows.
"""

__all__: list[str] = []
