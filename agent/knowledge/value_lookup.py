"""Looks in the engine itself for what the value index does not hold: values of large columns, and figures of columns.

In: the columns, the database they are in, a few phrases. Out: the stored values that are these phrases, but for
capitals and plural; what is known of a column besides its values. One statement a table, built as a tree and passed by
the guard, with a deadline; what was found or not found is remembered for as long as the index lives, which is until the
data change.
"""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.effort import spend
from agent.knowledge.grouping import grouped
from agent.knowledge.own_queries import run
from agent.knowledge.value_forms import fold, singular
from agent.knowledge.value_reading import SCANNED_ROWS, VALUE_LENGTH, as_text, dated_name
from eval.databases.base import Database
from eval.databases.types import Limits, Value
from eval.language.inflection import plural
from eval.schema import NUMERIC, Column, Dialect, Schema, Table
from eval.sql.sources import quoted_column, table_source

SECONDS = 3.0
"""Time limit for the look-up of one question's phrases."""
PHRASES = 12
"""Maximum phrases of one look-up."""
_ROWS = 24
"""Maximum values that one statement gives."""
_REMEMBERED = 2_000
_PATIENCE = 3
"""A database that was too slow so many times is not asked again."""

_STEPS_A_STATEMENT = 400
"""The work of asking one table in the engine."""

FACTS_SECONDS = 0.5
"""Time limit for the figures of one table's columns."""
_COLUMNS = 80
"""Maximum columns of one table whose figures are read."""
_RANGED = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|year", re.I)
Place = tuple[str, str]
"""Table and column."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Figures of one column. What was not read is None."""

    distinct: int | None = None
    """Known distinct values; all of them where `complete`."""
    complete: bool = False
    """Whether the index holds every value of the column."""
    least: Value = None
    greatest: Value = None
    """Smallest and largest number or date, as the engine gives them."""
    nulls: float | None = None
    """Share of the rows without a value, 0..1."""
    sampled: bool = False
    """Whether least, greatest and nulls are those of the first rows only."""


class ValueLookup:
    """The columns of one database that are too large for the index. Safe to use from several threads."""

    def __init__(self, places: Collection[Place], dates: Collection[Place] = ()) -> None:
        """`dates`: those of the places whose values are dates, which are not looked up."""
        self.places = frozenset(places)
        self._asked = grouped(sorted(self.places - set(dates)))
        self._database: weakref.ref[Database] | None = None
        self._schema: Schema | None = None
        self._known: dict[str, tuple[tuple[Place, str], ...]] = {}
        self._late = 0

    def attach(self, database: Database, schema: Schema) -> None:
        """The open database to ask; the index outlives it."""
        if self._database is None or self._database() is not database:
            self._database, self._schema, self._late = weakref.ref(database), schema, 0

    def facts(self, table: str) -> dict[str, ColumnFigures]:
        """The facts of a table's columns by name, in one pass, of a large table over its first rows; empty without a
        database, and where it fails or takes too long."""
        database = self._database() if self._database is not None else None
        found = self._schema.table(table) if self._schema is not None else None
        if database is None or found is None:
            return {}
        columns = [(c, bool(_RANGED.search(c.type)) or dated_name(c.name)) for c in found.columns[:_COLUMNS]]
        large = found.row_count is None or found.row_count > SCANNED_ROWS
        source: exp.Expression = table_source(found)
        if large:
            names = [quoted_column(c.name) for c, _ in columns]
            source = exp.select(*names).from_(source).limit(SCANNED_ROWS).subquery("scanned")
        cells: list[exp.Expression] = [exp.Count(this=exp.Star())]
        for column, ranged in columns:  # the ends of numbers, dates, and texts whose name says that they are dates
            value = quoted_column(column.name)
            cells.append(exp.Count(this=value))
            if ranged:
                plain = database.dialect == "sqlite" or NUMERIC.search(column.type)
                shown = value if plain else as_text(column, database.dialect)
                cells += [exp.Min(this=shown.copy()), exp.Max(this=shown.copy())]
        named = [exp.alias_(cell, f"f{k}") for k, cell in enumerate(cells)]
        result = run(database, exp.select(*named).from_(source), Limits(seconds=FACTS_SECONDS, rows=1))
        if not result.ok or not result.rows:
            return {}
        row = iter(result.rows[0])
        rows = int(str(next(row)))
        facts = {}
        for column, ranged in columns:
            nulls = 1 - int(str(next(row))) / rows if rows else None
            least, greatest = (next(row), next(row)) if ranged else (None, None)
            facts[column.name] = ColumnFigures(least=least, greatest=greatest, nulls=nulls, sampled=large)
        return facts

    def find(self, phrases: Sequence[str], seconds: float = SECONDS) -> tuple[tuple[Place, str], ...]:
        """Each place of a phrase, with the value as stored. Never raises: a database that is closed, fails or is too
        slow gives nothing."""
        asked = {key: p for p in phrases[:PHRASES] if (key := fold(p)) and len(p) <= VALUE_LENGTH}
        unknown = {key: phrase for key, phrase in asked.items() if key not in self._known}
        if unknown and self.places:
            spend(_STEPS_A_STATEMENT * len(self._asked))
            self._ask(unknown, seconds)
        return tuple(dict.fromkeys(found for key in asked for found in self._known.get(key, ())))

    def _ask(self, phrases: dict[str, str], seconds: float) -> None:
        database = self._database() if self._database is not None else None
        if database is None or self._schema is None or self._late >= _PATIENCE:
            return
        deadline = time.monotonic() + seconds
        found: dict[str, list[tuple[Place, str]]] = {key: [] for key in phrases}
        forms = {singular(key): key for key in phrases}
        for name, columns in self._asked.items():
            table, left = self._schema.table(name), deadline - time.monotonic()
            if table is None or left <= 0:
                continue
            tree = _statement(table, columns, list(phrases.values()), self._schema.dialect)
            result = run(database, tree, Limits(seconds=left, rows=_ROWS, cell_bytes=4 * VALUE_LENGTH))
            self._late += result.status == "timeout"
            cells = ((column, value) for row in result.rows for column, value in zip(columns, row, strict=False))
            for column, value in cells:
                if isinstance(value, str) and (key := forms.get(singular(fold(value)))) is not None:
                    found[key].append(((name, column), value))
        if time.monotonic() >= deadline:
            self._late += 1
        if len(self._known) > _REMEMBERED:
            self._known = {}
        self._known.update({key: tuple(values) for key, values in found.items()})


def _statement(table: Table, columns: Sequence[str], phrases: Sequence[str], dialect: Dialect) -> exp.Select:
    """One pass over the table: of each column the value if it is one of the phrases, else NULL."""
    indexed = {index.columns[0] for index in table.indexes} | set(table.primary_key[:1])
    conditions: list[exp.Expr] = []
    values: list[exp.Expression] = []
    for name in columns:
        column = table.column(name)
        if column is None:
            values.append(exp.null())
            continue
        condition = _is_one_of(column, phrases, dialect, column.name in indexed)
        conditions.append(condition)
        values.append(exp.Case(ifs=[exp.If(this=condition.copy(), true=as_text(column, dialect))]))
    named = [exp.alias_(value, f"v{k}") for k, value in enumerate(values)]
    return exp.select(*named).distinct().from_(table_source(table)).where(exp.or_(*conditions)).limit(_ROWS)


def _is_one_of(column: Column, phrases: Sequence[str], dialect: Dialect, indexed: bool) -> exp.Expr:
    """Whether a column holds one of the phrases. A list of spellings can use an index of the table and needs no
    function for each row; SQLite reads a table without an index in half the time where capitals do not count."""
    forms: dict[str, None] = {}
    for phrase in phrases:  # as it is written, in the singular and in the plural, without signs
        lower = phrase.lower()
        one = singular(lower)
        first, _, last = one.rpartition(" ")
        several = f"{first} {plural(last)}".strip() if last.isalpha() else lower
        others = (form for form in (lower, one, several, fold(phrase)) if form != lower)
        forms |= dict.fromkeys((phrase, *others))
    value = as_text(column, dialect) if dialect != "mysql" else quoted_column(column.name)  # where an index helps
    if dialect == "sqlite" and not indexed:
        folded = exp.Collate(this=value, expression=exp.Var(this="NOCASE"))
        texts = map(exp.Literal.string, forms)
        return exp.or_(*(exp.EQ(this=folded.copy(), expression=text) for text in texts))
    spelt: dict[str, None] = {}
    for form in forms:
        title = " ".join(word.capitalize() for word in form.split(" "))
        spelt |= dict.fromkeys((form, form.lower(), form.upper(), title, form.capitalize()))
    return exp.In(this=value, expressions=[exp.Literal.string(text) for text in spelt])
