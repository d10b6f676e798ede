"""What a writer of a demo database says to each engine, and keeps to: no table of the same name is touched.

In: `TableDef`. Out: SQL text by dialect, from syntax trees. Comments are stored in each engine's own way: COMMENT ON
for PostgreSQL and DuckDB, the COMMENT clause for MySQL; in SQLite they stay readable in the stored CREATE TABLE text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp, parse_one

from eval.databases.types import DatabaseError
from eval.schema import Column, Dialect
from eval.sql.sources import quoted_name
from eval.tasks.archive import Row, TableDef

_SQLITE_TYPES = {"DECIMAL": "REAL", "VARCHAR": "TEXT"}
"""SQLite keeps DATE, TIMESTAMP and BOOLEAN as declared type names: they tell a reader what the text or number means."""

Filled = Iterable[tuple[TableDef, list[Row]]]
"""Tables with their rows, ordered so that the target of every foreign key comes first."""


class LoadError(DatabaseError):
    """The demo could not be written; the message says what to do and holds no credentials."""


def refuse_existing(existing: Iterable[str], tables: tuple[TableDef, ...]) -> None:
    """Raises LoadError where a table of the demo exists already."""
    clash = sorted({name.lower() for name in existing} & {table.name for table in tables})
    if clash:
        raise LoadError(f"{', '.join(clash[:3])} exists already; load the demo into an empty database")


def create_table(definition: TableDef, dialect: Dialect) -> str:
    table = definition.table
    parts: list[exp.Expression] = [_column(column, dialect) for column in table.columns]
    parts.append(exp.PrimaryKey(expressions=[quoted_name(c) for c in table.primary_key]))
    for key in table.foreign_keys:
        referred = exp.Schema(this=_table(key.ref_table), expressions=[quoted_name(c) for c in key.ref_columns])
        own = [quoted_name(c) for c in key.columns]
        parts.append(exp.ForeignKey(expressions=own, reference=exp.Reference(this=referred)))
    conditions = list(definition.checks)
    if dialect == "sqlite":  # SQLite has no boolean type
        conditions += [f"{column.name} IN (0, 1)" for column in table.columns if column.type == "BOOLEAN"]
    for number, condition in enumerate(map(parse_one, conditions), 1):
        for identifier in condition.find_all(exp.Identifier):
            identifier.set("quoted", True)
        check = exp.CheckColumnConstraint(this=condition)
        parts.append(exp.Constraint(this=quoted_name(f"ck_{table.name}_{number}"), expressions=[check]))
    properties = None
    if dialect == "mysql" and table.comment:
        comment = exp.SchemaCommentProperty(this=exp.Literal.string(table.comment))
        properties = exp.Properties(expressions=[comment])
    target = _table(table.name)
    if dialect == "sqlite" and table.comment:
        target.add_comments([f" {table.comment} "])
    create = exp.Create(this=exp.Schema(this=target, expressions=parts), kind="TABLE", properties=properties)
    return create.sql(dialect=dialect, pretty=True)


def create_indexes(definition: TableDef, dialect: Dialect) -> list[str]:
    """CREATE INDEX statements, to run after the rows are loaded."""
    statements = []
    for index in definition.table.indexes:
        columns = [exp.column(quoted_name(c)) for c in index.columns]
        params = exp.IndexParameters(columns=columns)
        made = exp.Index(this=quoted_name(index.name), table=_table(definition.name), params=params)
        statements.append(exp.Create(this=made, kind="INDEX", unique=index.unique).sql(dialect=dialect))
    return statements


def describe(definition: TableDef, dialect: Dialect) -> list[str]:
    """COMMENT ON statements; none for engines that store comments elsewhere or not at all."""
    if dialect not in ("postgres", "duckdb"):
        return []
    table = definition.table
    places = [exp.column(quoted_name(column.name), table=quoted_name(table.name)) for column in table.columns]
    columns = [("COLUMN", place, column.comment) for place, column in zip(places, table.columns, strict=True)]
    noted: list[tuple[str, exp.Expr, str | None]] = [("TABLE", _table(table.name), table.comment), *columns]
    return [
        exp.Comment(this=target, kind=kind, expression=exp.Literal.string(comment)).sql(dialect=dialect)
        for kind, target, comment in noted
        if comment
    ]


def insert(definition: TableDef, dialect: Dialect) -> str:
    """INSERT with one placeholder per column, in the driver's own style."""
    marks = ["%s" if dialect in ("mysql", "postgres") else "?"] * len(definition.table.columns)
    return f"INSERT INTO {_with_columns(definition, dialect)} VALUES ({', '.join(marks)})"


def copy_stdin(definition: TableDef) -> str:
    return f"COPY {_with_columns(definition, 'postgres')} FROM STDIN"


def copy_csv(definition: TableDef, path: str) -> str:
    """DuckDB's COPY of a CSV file without a header, with texts in double quotes and NULL as an unquoted empty field."""
    table, file = _table(definition.name), exp.Literal.string(path)
    options = "(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false)"
    return f"COPY {table.sql(dialect='duckdb')} FROM {file.sql(dialect='duckdb')} {options}"


def drop(name: str, dialect: Dialect) -> str:
    return f"DROP TABLE IF EXISTS {_table(name).sql(dialect=dialect)}"


def _with_columns(definition: TableDef, dialect: Dialect) -> str:
    columns = [quoted_name(c.name) for c in definition.table.columns]
    return exp.Schema(this=_table(definition.name), expressions=columns).sql(dialect=dialect)


def _table(name: str) -> exp.Table:
    return exp.Table(this=quoted_name(name))


def _column(column: Column, dialect: Dialect) -> exp.ColumnDef:
    constraints = []
    if not column.nullable:
        constraints.append(exp.ColumnConstraint(kind=exp.NotNullColumnConstraint()))
    if dialect == "mysql" and column.comment:
        comment = exp.CommentColumnConstraint(this=exp.Literal.string(column.comment))
        constraints.append(exp.ColumnConstraint(kind=comment))
    made = exp.ColumnDef(this=quoted_name(column.name), kind=_type(column.type, dialect), constraints=constraints)
    if dialect == "sqlite" and column.comment:
        made.add_comments([f" {column.comment} "])
    return made


def _type(name: str, dialect: Dialect) -> exp.DataType:
    if dialect == "sqlite":
        word = re.split(r"\W", name)[0]
        return exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=_SQLITE_TYPES.get(word, word))
    if dialect == "mysql" and name == "TIMESTAMP":
        return exp.DataType.build("DATETIME", dialect="mysql")  # MySQL's TIMESTAMP shifts with the session's time zone
    return exp.DataType.build(name)
