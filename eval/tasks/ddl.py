"""CREATE statements of a demo database for each engine, built as syntax trees from one definition.

In: `TableDef`. Out: SQL text by dialect. Comments are stored in each engine's own way: COMMENT ON for PostgreSQL and
DuckDB, the COMMENT clause for MySQL; in SQLite they stay readable in the stored CREATE TABLE text.
"""

from __future__ import annotations

import re

from sqlglot import exp, parse_one

from eval.schema import Column, Dialect, ForeignKey, Index
from eval.sql.quoted_names import quoted_name
from eval.tasks.archive import TableDef

_SQLITE_TYPES = {"DECIMAL": "REAL", "VARCHAR": "TEXT"}
"""SQLite keeps DATE, TIMESTAMP and BOOLEAN as declared type names: they tell a reader what the text or number means."""


def create_table(definition: TableDef, dialect: Dialect) -> str:
    """CREATE TABLE with keys and CHECK constraints."""
    table = definition.table
    parts: list[exp.Expression] = [_column(column, dialect) for column in table.columns]
    parts.append(exp.PrimaryKey(expressions=[quoted_name(c) for c in table.primary_key]))
    parts += [_foreign_key(key) for key in table.foreign_keys]
    conditions = list(definition.checks)
    if dialect == "sqlite":  # SQLite has no boolean type
        conditions += [f"{column.name} IN (0, 1)" for column in table.columns if column.type == "BOOLEAN"]
    for number, condition in enumerate(conditions, 1):
        check = exp.CheckColumnConstraint(this=_condition(condition))
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
    return [_index(definition.name, index, dialect) for index in definition.table.indexes]


def describe(definition: TableDef, dialect: Dialect) -> list[str]:
    """COMMENT ON statements; none for engines that store comments elsewhere or not at all."""
    if dialect not in ("postgres", "duckdb"):
        return []
    table = definition.table
    comments: list[exp.Expression] = []
    if table.comment:
        comments.append(
            exp.Comment(this=_table(table.name), kind="TABLE", expression=exp.Literal.string(table.comment))
        )
    for column in table.columns:
        if column.comment:
            target = exp.column(quoted_name(column.name), table=quoted_name(table.name))
            comments.append(exp.Comment(this=target, kind="COLUMN", expression=exp.Literal.string(column.comment)))
    return [comment.sql(dialect=dialect) for comment in comments]


def insert(definition: TableDef, dialect: Dialect) -> str:
    """INSERT with one placeholder per column, in the driver's own style."""
    columns = [quoted_name(c.name) for c in definition.table.columns]
    into = exp.Schema(this=_table(definition.name), expressions=columns).sql(dialect=dialect)
    mark = "%s" if dialect in ("mysql", "postgres") else "?"
    return f"INSERT INTO {into} VALUES ({', '.join([mark] * len(columns))})"


def copy_stdin(definition: TableDef) -> str:
    """PostgreSQL's COPY FROM STDIN."""
    columns = [quoted_name(c.name) for c in definition.table.columns]
    return f"COPY {exp.Schema(this=_table(definition.name), expressions=columns).sql(dialect='postgres')} FROM STDIN"


def copy_csv(definition: TableDef, path: str) -> str:
    """DuckDB's COPY of a CSV file without a header, with texts in double quotes and NULL as an unquoted empty field."""
    table, file = _table(definition.name), exp.Literal.string(path)
    options = "(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', ALLOW_QUOTED_NULLS false)"
    return f"COPY {table.sql(dialect='duckdb')} FROM {file.sql(dialect='duckdb')} {options}"


def drop(name: str, dialect: Dialect) -> str:
    return f"DROP TABLE IF EXISTS {_table(name).sql(dialect=dialect)}"


def _table(name: str) -> exp.Table:
    return exp.Table(this=quoted_name(name))


def _condition(text: str) -> exp.Expr:
    condition = parse_one(text)
    for identifier in condition.find_all(exp.Identifier):
        identifier.set("quoted", True)
    return condition


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


def _foreign_key(key: ForeignKey) -> exp.ForeignKey:
    target = exp.Schema(this=_table(key.ref_table), expressions=[quoted_name(c) for c in key.ref_columns])
    return exp.ForeignKey(expressions=[quoted_name(c) for c in key.columns], reference=exp.Reference(this=target))


def _index(table: str, index: Index, dialect: Dialect) -> str:
    columns = [exp.column(quoted_name(c)) for c in index.columns]
    made = exp.Create(
        this=exp.Index(this=quoted_name(index.name), table=_table(table), params=exp.IndexParameters(columns=columns)),
        kind="INDEX",
        unique=index.unique,
    )
    return made.sql(dialect=dialect)
