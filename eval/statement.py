"""SQL that may be sent to a database: what `eval.sql.guard` hands to `eval.databases`, and a child process receives.

A leaf module, so that a process which only runs statements need not load what reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval.schema import Dialect


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """SQL that may be sent to a database. Only `eval.sql.guard` creates one (apart from tests).

    `sql` is generated back from the syntax tree, without comments; it is never the model's own text.
    """

    sql: str
    dialect: Dialect
    tree: Any = field(default=None, repr=False, compare=False)
    """The tree that the guard checked, of sqlglot. Read-only; never sent to a child process."""

    def __reduce__(self) -> tuple[type[ReadStatement], tuple[str, Dialect]]:
        return ReadStatement, (self.sql, self.dialect)
