"""CREATE TABLE statements → tables. All other statements in the text are ignored.

In: the text of a schema and its dialect. Out: its tables. Each statement is parsed with bounded time and depth, so
neither a huge nor a deeply nested text exhausts time or stack. No statement is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from eval.errors import InputError
from eval.schema import Column, Dialect, ForeignKey, Table
from eval.sql import parse
from eval.sql.dialects import faithful

MAX_TABLES = 1_000
MAX_COLUMNS = 20_000
"""Of all tables together."""
MAX_CHARACTERS = 1_000_000


def read_ddl(text: str, dialect: Dialect) -> tuple[Table, ...]:
    """The tables that the text creates. Raises InputError where a CREATE TABLE cannot be read."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"the schema's text has more than {MAX_CHARACTERS:,} characters")
    tables: list[Table] = []
    columns = 0
    for statement in _statements(text, dialect):
        if not statement.lstrip().lower().startswith("create"):
            continue
        parsed = parse(statement, dialect)
        if parsed.tree is None:
            raise InputError(f"a CREATE statement of the schema cannot be read: {parsed.error}")
        if isinstance(parsed.tree, exp.Create) and isinstance(parsed.tree.this, exp.Schema):
            tables.append(_table(parsed.tree.this, dialect))
            columns += len(tables[-1].columns)
            if len(tables) > MAX_TABLES or columns > MAX_COLUMNS:
                raise InputError(f"the schema has more than {MAX_TABLES:,} tables or {MAX_COLUMNS:,} columns")
    return tuple(tables)


def _statements(text: str, dialect: Dialect) -> Iterator[str]:
    try:
        tokens = faithful(dialect).tokenize(text)
    except TokenError:
        raise InputError("the schema's text cannot be read as SQL") from None
    start = end = None
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            if start is not None:
                yield text[start:end]
            start = None
        else:
            start, end = token.start if start is None else start, token.end + 1
    if start is not None:
        yield text[start:end]


def _table(created: exp.Schema, dialect: Dialect) -> Table:
    table = created.this
    name = table.name
    keys: list[ForeignKey] = []
    primary: list[str] = []
    columns: list[Column] = []
    for part in created.expressions:
        part = part.expressions[0] if isinstance(part, exp.Constraint) and part.expressions else part
        if isinstance(part, exp.PrimaryKey):
            primary += [_named(e) for e in part.expressions]
        elif isinstance(part, exp.ForeignKey) and isinstance(part.args.get("reference"), exp.Reference):
            keys += _key(tuple(_named(e) for e in part.expressions), part.args["reference"])
        elif isinstance(part, exp.ColumnDef):
            column, key = _column(part, dialect)
            columns.append(column)
            keys += key
    primary = primary or [c.name for c in columns if c.primary_key]
    if not columns:
        raise InputError(f"the table {name!r} has no columns")
    keyed = {n.casefold() for n in primary}
    return Table(
        name=name,
        columns=tuple(
            Column(c.name, c.type, c.nullable and c.name.casefold() not in keyed, c.name.casefold() in keyed, c.default)
            for c in columns
        ),
        namespace=table.db or None,
        primary_key=tuple(c.name for n in primary for c in columns if c.name.casefold() == n.casefold()),
        foreign_keys=tuple(keys),
    )


def _column(defined: exp.ColumnDef, dialect: Dialect) -> tuple[Column, list[ForeignKey]]:
    kind = defined.args.get("kind")
    nullable, primary, default = True, False, None
    keys: list[ForeignKey] = []
    for constraint in defined.constraints:
        rule = constraint.args.get("kind")
        if isinstance(rule, exp.PrimaryKeyColumnConstraint):
            primary = True
        elif isinstance(rule, exp.NotNullColumnConstraint):
            nullable = bool(rule.args.get("allow_null"))
        elif isinstance(rule, exp.DefaultColumnConstraint):
            default = rule.this.sql(dialect=dialect)
        elif isinstance(rule, exp.Reference):
            keys += _key((defined.name,), rule)
    written = kind.sql(dialect=dialect) if isinstance(kind, exp.DataType) else ""
    return Column(defined.name, written, nullable and not primary, primary, default), keys


def _key(columns: tuple[str, ...], reference: exp.Reference) -> list[ForeignKey]:
    """A reference without columns means the primary key of its table."""
    target = reference.this
    if isinstance(target, exp.Schema):
        return [ForeignKey(columns, target.this.name, tuple(_named(e) for e in target.expressions))]
    return [ForeignKey(columns, target.name, ())] if isinstance(target, exp.Table) else []


def _named(expression: exp.Expr) -> str:
    return expression.name or expression.this.name
