"""CREATE TABLE statements → tables. All other statements in the text are ignored.

In: the text of a schema and its dialect. Out: its tables. Each statement is parsed with bounded time and depth, so
neither a huge nor a deeply nested text exhausts time or stack. No statement is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eval.errors import InputError
from eval.schema import FOLDS_UPPER, Column, Dialect, ForeignKey, Table
from eval.sql import parse
from eval.sql.dialects import faithful

MAX_TABLES = 1_000
MAX_COLUMNS = 20_000
"""Of all tables together."""
MAX_CHARACTERS = 1_000_000
_SEPARATOR = re.compile(r"^[ \t]*(?:GO(?:[ \t]+\d+)?|/)[ \t]*;?[ \t]*$", re.IGNORECASE | re.MULTILINE)
"""Lines that end a batch in the scripts of SQL Server and Oracle."""


def read_ddl(text: str, dialect: Dialect) -> tuple[Table, ...]:
    """The tables that the text creates. Raises InputError where a CREATE TABLE cannot be read."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"the schema's text has more than {MAX_CHARACTERS:,} characters")
    tables: list[Table] = []
    columns = 0
    for statement in _statements(_SEPARATOR.sub(";", text), dialect):
        tree = _created(statement, dialect) if statement.lstrip().lower().startswith("create") else None
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
            tables.append(_table(tree.this, dialect))
            columns += len(tables[-1].columns)
            if len(tables) > MAX_TABLES or columns > MAX_COLUMNS:
                raise InputError(f"the schema has more than {MAX_TABLES:,} tables or {MAX_COLUMNS:,} columns")
    return tuple(tables)


def _created(statement: str, dialect: Dialect) -> exp.Expr | None:
    """The statement's tree. Where it has clauses of its vendor that cannot be read (`ENABLE`, `USING INDEX …`), each
    column and constraint is read as far as it can be, and what follows their list is left out. Raises InputError."""
    parsed = parse(statement, dialect)
    if parsed.tree is not None:
        return parsed.tree
    tokens = faithful(dialect).tokenize(statement)
    opened = next((k for k, token in enumerate(tokens) if token.token_type == TokenType.L_PAREN), None)
    head = statement[: tokens[opened].start] if opened is not None else ""
    parts: list[str] = []
    for item in _items(tokens[opened:]) if opened is not None else ():
        for last in range(len(item) - 1, max(0, len(item) - 60), -1):  # more words are not its vendor's
            text = statement[item[0].start : item[last].end + 1]
            if parse(f"CREATE TABLE t ({text})", dialect).tree is not None:
                parts.append(text)
                break
    short = parse(f"{head}({', '.join(parts)})", dialect) if parts else parsed
    if short.tree is None:
        raise InputError(f"a CREATE statement of the schema cannot be read: {parsed.error}")
    return short.tree


def _items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """What stands between the commas of the first brackets."""
    depth = 0
    item: list[Token] = []
    for token in tokens:
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth == 0 or (depth == 1 and token.token_type == TokenType.COMMA):
            yield item
            item = []
            if depth == 0:
                return
        elif depth > 1 or token.token_type != TokenType.L_PAREN:
            item.append(token)


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
    exact = []
    for name in created.find_all(exp.Identifier) if dialect in FOLDS_UPPER else ():
        if not name.args.get("quoted"):
            name.set("this", name.name if name.name.islower() else name.name.upper())
        elif not name.name.isupper():
            exact.append(name.name)
    keys: list[ForeignKey] = []
    primary: list[str] = []
    columns: list[Column] = []
    for part in created.expressions:
        keyed_by = part.find(exp.ClusteredColumnConstraint, exp.NonClusteredColumnConstraint)
        if isinstance(part, exp.Constraint) and keyed_by and part.find(exp.PrimaryKeyColumnConstraint):
            primary += [column.name for column in keyed_by.find_all(exp.Column)]
            continue
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
        raise InputError(f"the table {table.name!r} has no columns")
    keyed = {n.casefold() for n in primary}
    return Table(
        name=table.name,
        columns=tuple(
            Column(c.name, c.type, c.nullable and c.name.casefold() not in keyed, c.name.casefold() in keyed, c.default)
            for c in columns
        ),
        namespace=table.db or None,
        primary_key=tuple(c.name for n in primary for c in columns if c.name.casefold() == n.casefold()),
        foreign_keys=tuple(keys),
        exact_names=tuple(dict.fromkeys(exact)),
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
