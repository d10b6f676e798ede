"""Columns whose texts a statement changes piece by piece: the first argument of REPLACE and REGEXP_REPLACE.

MariaDB moves the rest of the text at each piece, so that one call on a long text takes minutes, and a call cannot be
stopped. In: the tree of a statement and the schema. Out: the columns of long types that such calls read, for the engine
to look up how long their texts are.
"""

from __future__ import annotations

from sqlglot import exp

from eval.schema import Schema
from eval.sql.nodes import called_name
from eval.sql.traversal import every

_REWRITING = frozenset({"replace", "regexp_replace"})
_LONG_TYPES = ("mediumtext", "longtext", "mediumblob", "longblob", "json")
"""Types that hold more than 64 KiB."""


def rewritten_columns(tree: exp.Expr, schema: Schema) -> set[tuple[str, str]]:
    """Pairs of table and column. A column of a subquery counts as the column of that name in any table of the
    statement."""
    long_columns: set[tuple[str, str]] = set()
    tables = every(tree, exp.Table)
    for call in every(tree, exp.Func):
        if called_name(call) not in _REWRITING:
            continue
        text = call.expressions[0] if isinstance(call, exp.Anonymous) and call.expressions else call.this
        for column in every(text, exp.Column) if isinstance(text, exp.Expr) else ():
            named = [source for source in tables if column.table in ("", source.alias_or_name)]
            for table in filter(None, (schema.table(source.name) for source in named or tables)):
                long_columns |= {
                    (table.name, own.name)
                    for own in table.columns
                    if own.name.casefold() == column.name.casefold() and own.type.lower().startswith(_LONG_TYPES)
                }
    return long_columns
