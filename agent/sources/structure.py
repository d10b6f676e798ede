"""The schema of a task in whatever form it was sent → `eval.schema.Schema`, or a database without rows.

In: a list or dict of tables, a dict of column lists, JSON in a text, CREATE TABLE statements, or the name of a demo
database. Out: a `Schema` in the asked dialect, with bounded sizes and names that can be quoted; or `InputError`, which
says what to change. Minor faults are tolerated: a key to a missing table is left out, an unknown type is kept as
written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.sources.ddl import MAX_COLUMNS, MAX_TABLES, read_ddl
from eval.databases.base import Database
from eval.databases.scratch import ScratchDatabase, scratch_database
from eval.databases.types import DatabaseError
from eval.engines import ENGINES
from eval.errors import InputError
from eval.schema import Column, Dialect, ForeignKey, Schema, Table
from eval.tasks.demos import demo_ids, demo_named

MAX_NAME = 200
"""Maximum characters of one name."""
_MAX_TYPE = 500
_MAX_COMMENT = 2_000
SAMPLE = "e.g. "
"""What stands before a column's texts in sample rows, behind its comment."""
_SAMPLED, _SAMPLE_LENGTH = 6, 32
"""Texts of a column that are kept, and the characters of the longest."""

_TYPED = re.compile(
    r"(\w+)(?:\s*:\s*|\s+)((?:BIG|SMALL|TINY)?INT|INTEGER|(?:N?VAR)?CHAR|TEXT|REAL|FLOAT|DOUBLE|DECIMAL|NUMERIC|DATE|"
    r"DATETIME|TIME|TIMESTAMP|BOOL|BOOLEAN|BLOB|JSON|UUID|SERIAL)(\s*\([\d\s,]*\))?((?:\s.*)?)",
    re.DOTALL,
)
"""`id INTEGER PRIMARY KEY` and `id: INTEGER` where only a name is expected; types in capitals, so that a column called
`Order Date` stays one."""


def read_structure(given: Any, dialect: Dialect) -> Schema:
    """The structure that was sent. Raises InputError."""
    if isinstance(given, dict) and isinstance(given.get("tables"), str):
        given = given["tables"]
    tables = _from_text(given, dialect) if isinstance(given, str) else _tables(given)
    kept = tuple(t for t in tables if not (dialect == "sqlite" and t.name.lower().startswith("sqlite_")))
    if not kept:
        raise InputError("the schema has no tables")
    located = tuple(replace(t, namespace=_namespace(t.namespace, dialect)) for t in kept)
    _refuse_twins("table", ((t.namespace, t.name) for t in located))
    for table in located:
        _refuse_twins("column", ((None, c.name) for c in table.columns), f" of the table {table.name!r:.80}")
    return _with_known_keys(Schema(dialect, located))


def structure_database(path: Path, dialect: Dialect) -> ScratchDatabase:
    """The tables that a `.sql` or `.json` file creates, for SQL that is not executed. Raises DatabaseError."""
    try:
        schema = read_structure(path.read_text(encoding="utf-8-sig"), dialect)
    except (OSError, ValueError) as error:
        raise DatabaseError(f"{path.name}: {error}") from None
    return scratch_database(schema, path.stem, "process")


def written_for(database: Database, dialect: Dialect) -> ScratchDatabase:
    """The tables of a database, for SQL in a dialect that has no engine here; its rows are not looked at."""
    return scratch_database(replace(database.schema(), dialect=dialect), database.name, "process")


def _from_text(text: str, dialect: Dialect) -> tuple[Table, ...]:
    text = text.strip()
    if text[:1] in ("{", "["):
        try:
            return _tables(json.loads(text))
        except (ValueError, RecursionError):
            raise InputError("the schema is a text that begins like JSON and is not") from None
    if re.search(r"\bcreate\s+(?:\w+\s+){0,3}table\b", text, re.IGNORECASE):
        tables = read_ddl(text, dialect)
        for table in tables:
            for name in (table.name, *(c.name for c in table.columns)):
                _name(name, "a table or column")
        return tables
    if text in demo_ids():
        return tuple(definition.table for definition in demo_named(text).tables)
    raise InputError(
        "the schema is a text that is neither JSON nor CREATE TABLE statements nor the name of a demo database; send "
        '{"tables": …}'
    )


def _tables(given: Any) -> tuple[Table, ...]:
    if isinstance(given, dict) and "tables" in given:
        given = given["tables"]
    elif isinstance(given, dict) and "columns" in given:
        given = [given]
    if isinstance(given, dict):
        named = list(given.items())
    elif isinstance(given, list):
        named = [(None, table) for table in given]
    else:
        raise InputError("the schema's tables must be a list of tables, or an object with the tables by name")
    tables: list[Table] = []
    columns = 0
    for name, table in named:
        if len(tables) == MAX_TABLES:
            raise InputError(f"the schema has more than {MAX_TABLES:,} tables")
        tables.append(_table(name, table))
        columns += len(tables[-1].columns)
        if columns > MAX_COLUMNS:
            raise InputError(f"the schema has more than {MAX_COLUMNS:,} columns")
    return tuple(tables)


def _table(key: Any, given: Any) -> Table:
    described = given if isinstance(given, dict) and (key is None or "columns" in given or "fields" in given) else {}
    name = _name(_first(described, "name", "table_name", "table") if key is None else key, "a table")
    listed = _first(described, "columns", "fields") if described else given
    columns = tuple(_columns(name, listed)) if listed is not None or not described else ()
    if not columns:
        raise InputError(f"the table {name!r} has no columns")
    samples = _first(described, "sample_rows", "sample_data", "samples")
    columns = tuple((_with_sample(c, n, samples), key) for n, (c, key) in enumerate(columns))
    names = {c.name.casefold(): c.name for c, _ in columns}
    primary_key = [_text_of(n) for n in _listed(_first(described, "primary_key", "primary_keys"))]
    declared = [names[n.casefold()] for n in primary_key if n.casefold() in names]
    keyed = tuple(dict.fromkeys([*(c.name for c, _ in columns if c.primary_key), *declared]))
    rows = described.get("row_count")  # protobuf values arrive as floats
    if not isinstance(rows, int | float) or isinstance(rows, bool) or rows < 0 or rows != rows // 1:
        rows = None
    return Table(
        name=name,
        columns=tuple(
            replace(c, primary_key=c.name in keyed, nullable=c.nullable and c.name not in keyed) for c, _ in columns
        ),
        namespace=_text(_first(described, "schema", "namespace")) or None,
        primary_key=keyed,
        foreign_keys=(*(k for _, k in columns if k is not None), *_table_keys(described)),
        row_count=None if rows is None else int(rows),
        comment=_comment(described),
    )


def _columns(table: str, given: Any) -> Iterator[tuple[Column, ForeignKey | None]]:
    if isinstance(given, dict):
        for name, described in given.items():
            yield _column(described if isinstance(described, dict) else {"type": described}, name)
    elif isinstance(given, list):
        for item in given:
            if isinstance(item, str):
                typed = _TYPED.fullmatch(item.strip())
                name, kind, size, rest = typed.groups(default="") if typed else (item, "", "", "")
                keyed, filled = "PRIMARY KEY" in rest.upper(), "NOT NULL" in rest.upper()
                yield _column({"name": name, "type": kind + size, "primary_key": keyed, "not_null": filled}, None)
            elif isinstance(item, list) and item:
                yield _column({"name": item[0], "type": item[1] if len(item) > 1 else ""}, None)
            elif isinstance(item, dict):
                yield _column(item, None)
            else:
                raise InputError(f"a column of the table {table!r} is neither a name nor an object with a name")
    else:
        raise InputError(f"the columns of the table {table!r} must be a list, or an object with the columns by name")


def _column(given: dict[str, Any], key: Any) -> tuple[Column, ForeignKey | None]:
    name = _name(_first(given, "name", "column_name", "column") if key is None else key, "a column")
    nullable = _first(given, "nullable", "is_nullable")
    default = _first(given, "default", "default_value")
    column = Column(
        name=name,
        type=_text(_first(given, "type", "data_type", "dtype"))[:_MAX_TYPE],
        nullable=(nullable is None or _yes(nullable)) and not _yes(given.get("not_null")),
        primary_key=_yes(_first(given, "primary_key", "is_primary_key", "pk")),
        default=None if default is None else _text(default)[:_MAX_TYPE],
        comment=_comment(given),
    )
    target = _target(_first(given, "foreign_key", "references", "fk"))
    return column, ForeignKey((name,), *target) if target else None


def _with_sample(column: Column, number: int, rows: Any) -> Column:
    """The column with what some rows hold in it as text, so that a condition is spelled as the data are. `rows`: lists,
    or objects by column."""
    texts: dict[str, None] = {}
    for row in rows[:100] if isinstance(rows, list) else ():
        by_place = row[number] if isinstance(row, list) and number < len(row) else None
        value = row.get(column.name) if isinstance(row, dict) else by_place
        if isinstance(value, str) and value.strip() and len(value) <= _SAMPLE_LENGTH:
            texts[value.replace("'", "''")] = None
    if not texts:
        return column
    told = SAMPLE + ", ".join(f"'{text}'" for text in list(texts)[:_SAMPLED])
    return replace(column, comment=f"{column.comment}; {told}" if column.comment else told)


def without_samples(schema: Schema) -> Schema:
    """The structure without what sample rows hold, for a model that may see no value."""

    def bare(column: Column) -> Column:
        own = (column.comment or "").partition(f"{SAMPLE}'")[0].removesuffix("; ")
        return replace(column, comment=own or None)

    return replace(schema, tables=tuple(replace(t, columns=tuple(map(bare, t.columns))) for t in schema.tables))


def _table_keys(given: dict[str, Any]) -> Iterator[ForeignKey]:
    """`foreign_keys` of a table: objects, texts such as `city_id -> cities.id`, or targets by column."""
    declared = given.get("foreign_keys")
    items = [{"column": c, "references": t} for c, t in declared.items()] if isinstance(declared, dict) else declared
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            owner, arrow, target = item.partition("->")
            item = {"column": owner.strip(), "references": target} if arrow else {}
        if not isinstance(item, dict):
            continue
        columns = tuple(_text_of(c) for c in _listed(_first(item, "columns", "column", "from", "constrained_columns")))
        reference = _target(_first(item, "references", "foreign_key", "ref")) or _target(item)
        if columns and reference:
            yield ForeignKey(columns, *reference)


def _target(given: Any) -> tuple[str, tuple[str, ...]] | None:
    """The table and columns that a foreign key refers to (no columns: its primary key); None if it only says that there
    is a key, or if it cannot be read."""
    if isinstance(given, list) and given:
        return _target(given[0])
    if isinstance(given, str):
        text = given.rpartition("->")[2].strip()
        table, _, column = text[:-1].partition("(") if text.endswith(")") else text.rpartition(".")
        return (_bare(table), (_bare(column),)) if table else (_bare(column), ())
    if isinstance(given, dict):
        table = _first(
            given, "table", "ref_table", "referenced_table", "references_table", "referred_table", "to_table"
        )
        columns = _first(
            given, "ref_columns", "ref_column", "referenced_column", "references_column", "referred_columns", "to"
        )
        columns = _listed(columns or _first(given, "columns", "column"))
        if table:
            return _bare(_text(table)), tuple(_bare(_text(c)) for c in columns)
    return None


def _with_known_keys(schema: Schema) -> Schema:
    """The schema with only those keys whose targets exist, spelt as in the schema. Keys without a target would
    mislead."""

    def known(owner: Table, key: ForeignKey) -> ForeignKey | None:
        target = schema.table(key.ref_table) or schema.table(key.ref_table.rpartition(".")[2])
        columns = tuple(c.name for n in key.columns if (c := owner.column(n)))
        wanted = key.ref_columns or (target.primary_key if target else ())
        there = tuple(c.name for n in wanted if target and (c := target.column(n)))
        if target is None or not 0 < len(columns) == len(key.columns) == len(there) == len(wanted):
            return None
        return ForeignKey(columns, target.name, there)

    keys = [dict.fromkeys(known(table, key) for key in table.foreign_keys) for table in schema.tables]
    tables = zip(schema.tables, keys, strict=True)
    return replace(schema, tables=tuple(replace(t, foreign_keys=tuple(filter(None, of))) for t, of in tables))


def _refuse_twins(what: str, names: Iterable[tuple[str | None, str]], of: str = "") -> None:
    """Refuse names that differ only by case, because a query cannot tell them apart."""
    seen = set()
    for namespace, name in names:
        folded = (namespace, name.casefold())
        if folded in seen:
            raise InputError(f"the {what} {name!r}{of} is there twice")
        seen.add(folded)


def _namespace(given: str | None, dialect: Dialect) -> str | None:
    bare = ENGINES[dialect].bare_namespace
    if given is None or bare is None or given.casefold() == bare:
        return None
    if given.casefold() == "information_schema" or given.casefold().startswith("pg_"):
        raise InputError(f"the namespace {given[:40]!r} is the engine's own catalogue, not data")
    return _name(given, "a table's namespace")


def _name(given: Any, what: str) -> str:
    name = _text(given)
    if not name.strip():
        raise InputError(f"{what} has no name")
    if len(name) > MAX_NAME:
        raise InputError(f"the name {name[:40]!r}… of {what} has more than {MAX_NAME} characters")
    if any(ord(c) < 32 or 0xD800 <= ord(c) <= 0xDFFF for c in name):
        raise InputError(f"the name {name!r} of {what} holds a control character or half a character")
    return name


def _comment(given: dict[str, Any]) -> str | None:
    return _text(_first(given, "comment", "description"))[:_MAX_COMMENT] or None


def _first(given: dict[str, Any], *names: str) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else "" if given is None else str(given)[: 2 * _MAX_COMMENT]


def _text_of(given: Any) -> str:
    return _text(_first(given, "name", "column") if isinstance(given, dict) else given).strip()


def _bare(name: str) -> str:
    """A name without the quotes that it may have been written in."""
    name = name.strip()
    return name[1:-1] if len(name) > 2 and name[0] in '"`[' and name[-1] in '"`]' else name


def _yes(given: Any) -> bool:
    return given.strip().lower() in ("yes", "true", "1", "y") if isinstance(given, str) else bool(given)
