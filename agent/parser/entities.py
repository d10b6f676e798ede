"""Things that are a column of one table: `bookings(member, class_type, …)` holds members, though no table of them.

In: a schema in which a table stands alone (a CSV file, a sheet), and the stored values. Out: the schema with a table
for each kind of thing (`members`), to which every rule for tables applies, and a function that puts a statement back
in terms of the one table: a join with `members` falls away, and `members` alone are the distinct values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import exp

from agent.knowledge.value_words import fold
from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import NAME_WORDS, ColumnWord, Vocabulary, vocabulary
from agent.parser.sql_parts import identifier, table_named
from agent.parser.stored_states import ANSWERS, is_state
from agent.parser.units import UNITS
from agent.parser.word_lists import word_list
from eval.language.inflection import plural_phrase
from eval.language.lexicon import open_lexicon, word_set
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql.traversal import every

_ATTRIBUTES = word_list("attributes")
"""Columns that say how a row is, and not which thing it is about."""
_NUMBERS = word_set("reference ref code number no key serial barcode sku id identifier index")
"""Columns that number the rows, whatever these are."""
_MARKS = word_set("yes no y n true false t f on off x 0 1 active inactive unknown none na")
"""Stored values of a column that says whether something is so."""
_YES_AND_NO = frozenset(("yes", "no"))
_MOST_OF_ROWS = 0.5
"""The largest share of a table's rows that a column of repeated things may have as distinct values."""


@dataclass(frozen=True)
class Entities:
    """The tables that were added: by name, the table and column whose distinct values they are."""

    schema: Schema
    values: ValueIndex
    sources: dict[str, tuple[Table, Column]]
    keys: dict[str, Column]
    """The columns that refer to the added tables: by the name that they have in `schema`, the column that exists."""
    renamed: dict[str, Table]
    """Tables whose rows have a better name in `schema` (`tickets` for `tickets_export_2024`)."""

    def written(self, tree: exp.Expression, holds_null: Callable[[Table, Column], bool]) -> exp.Expression:
        """The statement in terms of the tables that exist. It may be changed in place. Rows that name no thing are left
        out where a column holds NULL."""
        if not (self.sources or self.renamed or self.keys):
            return _readable_alone(tree)
        for origin in list(tree.find_all(exp.Table)):
            if (real := self.renamed.get(origin.name)) is not None:
                # As the database names it; where columns are qualified by the other name, that is its alias
                qualifies = any(column.table == origin.name for column in tree.find_all(exp.Column))
                if qualifies and not origin.alias:
                    origin.set("alias", exp.TableAlias(this=exp.to_identifier(origin.name)))
                written = table_named(real)
                origin.set("this", written.this)
                origin.set("db", written.args.get("db"))
        for reference in tree.find_all(exp.Column):
            if (existing := self.keys.get(reference.name)) is not None:
                reference.set("this", identifier(existing.name))
        selects = list(tree.find_all(exp.Select))
        for select in selects:
            added = {s.alias_or_name for s in _sources(select) if s.name in self.sources}
            things = bool(added) and all(isinstance(e, exp.Column) and e.table in added for e in select.expressions)
            for source in _sources(select):
                if source.name in self.sources and not source.args.get("db"):
                    table, column = self.sources[source.name]
                    told = _told(select, source.alias_or_name)
                    self._put_back(select, source, table)
                    if told and holds_null(table, column):
                        stored = table.stored_name or table.name
                        owner = next(t for t in _sources(select) if t.name == stored).alias_or_name
                        named = exp.column(identifier(column.name), owner)
                        select.where(exp.Not(this=exp.Is(this=named, expression=exp.Null())), copy=False)
            if things and select.parent is None:
                _each_once(select)
        return _readable_alone(tree)

    def _put_back(self, select: exp.Select, source: exp.Table, table: Table) -> None:
        """Replace one added table of a SELECT by the table whose column it is."""
        stored = table.stored_name or table.name
        other = next((t for t in _sources(select) if t.name == stored), None)
        if other is None:
            self._distinct_values(select, source, table)
            return
        for column in list(select.find_all(exp.Column)):
            if column.table == source.alias_or_name:
                column.set("table", exp.to_identifier(other.alias_or_name))
                if isinstance(column.this, exp.Star):
                    column.set("this", identifier(self.sources[source.name][1].name))
        joins = [j for j in select.args["joins"] if j.this is not source and j.this is not other]
        if other.parent is not select.args["from_"]:
            select.set("from_", exp.From(this=other))
        select.set("joins", joins)

    def _distinct_values(self, select: exp.Select, source: exp.Table, table: Table) -> None:
        """`FROM members` alone: the distinct values of the column."""
        column = exp.column(identifier(self.sources[source.name][1].name), source.alias or None)
        counts = list(select.find_all(exp.Count))
        computed = any(e.find(exp.AggFunc) for e in select.expressions)
        for star in [s for s in select.find_all(exp.Star) if s.parent_select is select]:
            star.replace(exp.Distinct(expressions=[column.copy()]) if star.parent in counts else column.copy())
        if not computed:
            select.distinct(copy=False)
        real = table_named(table)
        real.set("alias", exp.TableAlias(this=exp.to_identifier(source.alias_or_name)))
        source.replace(real)


def _told(select: exp.Select, name: str) -> bool:
    """Whether a source is returned, a group, or only joined: its rows have a value there. A condition on it says so
    itself, and a share is of all rows."""
    parts = [*select.expressions, *(select.args.get(part) for part in ("group", "where", "having", "order"))]
    columns = [c for part in parts if part is not None for c in part.find_all(exp.Column) if c.table == name]
    shown = any(c.find_ancestor(exp.Where, exp.Having, exp.Case) is None for c in columns)
    return len(_sources(select)) == 1 or shown or not columns


def _readable_alone(tree: exp.Expression) -> exp.Expression:
    """The statement; one that reads one table has no alias for it."""
    selects = every(tree, exp.Select)
    if len(selects) == 1 and len(_sources(selects[0])) == 1:
        for column in every(selects[0], exp.Column):
            column.set("table", None)
        _sources(selects[0])[0].set("alias", None)
    return tree


def _sources(select: exp.Select) -> list[exp.Table]:
    """The tables that a SELECT reads itself."""
    origin = select.args.get("from_")
    tables = [origin.this if origin else None, *(j.this for j in select.args.get("joins") or ())]
    return [t for t in tables if isinstance(t, exp.Table)]


def _each_once(select: exp.Select) -> None:
    """Things are listed once each, however many rows of the one table name them."""
    order = select.args.get("order")
    if select.args.get("group") or select.args.get("distinct"):
        return
    by = [o for o in order.expressions if o.this not in select.expressions] if order else []
    if not by:
        select.distinct(copy=False)
    elif select.args.get("limit"):
        for ordered in by:
            extreme = exp.Max if ordered.args.get("desc") else exp.Min
            ordered.set("this", extreme(this=ordered.this))
        select.group_by(*(e.copy() for e in select.expressions), copy=False)


@lru_cache(maxsize=8)
def with_entities(schema: Schema, values: ValueIndex) -> Entities:
    """The schema with a table for each kind of thing that is only a column of a table that stands alone."""
    words = vocabulary(schema, values.stored_forms)
    taken = {name.casefold() for t in schema.tables for name in (t.name, *(c.name for c in t.columns))}
    sources: dict[str, tuple[Table, Column]] = {}
    keys: dict[str, Column] = {}
    renamed: dict[str, Table] = {}
    homes: dict[tuple[str, str], str] = {}
    names: dict[tuple[str, str], str] = {}
    tables: list[Table] = []
    stored = [t for t in schema.tables if t.kind == "table"]
    holders = Counter(name for t in stored for name in {c.name.casefold() for c in t.columns})
    referred = {fk.ref_table for t in schema.tables for fk in t.foreign_keys}
    for table in schema.tables:
        # A table stands alone that has nothing in common with another but its number and its name
        tied = table.kind != "table" or table.foreign_keys or table.name in referred
        if tied or not {n for c in table.columns if holders[n := c.name.casefold()] > 1} <= _USUAL:
            tables.append(table)
            continue
        columns, foreign_keys = list(table.columns), list(table.foreign_keys)
        row = _row(words, table, values)
        called = (c for c in table.columns if words.columns[table.name, c.name].words == row)
        if any(values.values(table.name, c.name) and _repeats(values, table, c) for c in called):
            row = ("row",)  # a file of countries by year: a country is the column of that name
            taken.discard(table.name.casefold())
        if any(_is_figure(c, row) or (c.role == "flag" and c.words == row) for c in words.by_table[table.name]):
            # the votes of `votes`, the results of `lab results`, the rent of `rent pcm` are the figures of that name,
            # and those who have `consent` the rows where it is so
            row = next((c.words for c in words.by_table[table.name] if _names_row(c, values, table)), ("row",))
        numbers = (c for c in words.by_table[table.name] if _NUMBERS & set(c.words))
        if any(each_its_own(c, values, table) for c in numbers):
            row = next((c.words for c in words.by_table[table.name] if c.words in _GOODS), row)
        rows = plural_phrase(row).replace(" ", "_")
        name = rows if rows not in taken and row != words.tables[table.name].words else table.name
        if name != table.name:
            renamed[name] = table
            homes |= {(table.name, column.name): name for column in columns}
        for place, column in enumerate(table.columns):
            number, called_so = f"{row[-1]}_id", words.columns[table.name, column.name]
            if number not in taken and _numbers(called_so, row, values, table):
                taken.add(number)
                names[table.name, column.name], keys[number] = number, column
                homes.setdefault((table.name, column.name), table.name)
                columns[place] = replace(column, name=number, primary_key=not table.primary_key)
                continue
            thing = _thing(words.columns[table.name, column.name], row)
            kinds = values.values(table.name, column.name)
            said = {fold(v) for v in kinds}
            if not thing or is_state(thing[-1]) or said <= _MARKS or (said >= _YES_AND_NO and len(said) <= ANSWERS):
                continue
            if not _repeats(values, table, column) or (column.values and column.values.doubt):
                continue
            things, key = plural_phrase(thing).replace(" ", "_"), "_".join((*thing, "id"))
            if (named := _named_by(column, thing, table, words, values)) is not None:
                place, column, key = table.columns.index(named), named, "_".join((*thing, "key"))
            if things in taken or key in taken - {column.name.casefold()}:
                continue
            taken |= {things, key}
            things = things.swapcase() if things == table.name else things  # two tables have two names
            sources[things], keys[key] = (table, column), column
            columns[place] = replace(column, name=key)
            foreign_keys.append(ForeignKey((key,), things, (column.name,)))
            homes[table.name, column.name] = things
            own = replace(column, primary_key=True, nullable=False)
            tables.append(Table(things, (own,), primary_key=(column.name,), row_count=len(kinds)))
        tables.append(replace(table, name=name, columns=tuple(columns), foreign_keys=tuple(foreign_keys)))
    if not homes:
        return Entities(schema, values, sources, keys, renamed)
    return Entities(replace(schema, tables=tuple(tables)), values.moved(homes, names), sources, keys, renamed)


def _named_by(
    column: Column, thing: tuple[str, ...], table: Table, words: Vocabulary, values: ValueIndex
) -> Column | None:
    """The column with the name of each thing, where `column` has its number: as many names as numbers."""
    if words.columns[table.name, column.name].words[-1] != "id":
        return None
    known = len(values.values(table.name, column.name))
    called = (("name",), ("full", "name"), (*thing, "name"))
    named = (c for c in table.columns if words.columns[table.name, c.name].words in called)
    return next((c for c in named if len(values.values(table.name, c.name)) == known), None)


def _numbers(column: ColumnWord, row: tuple[str, ...], values: ValueIndex, table: Table) -> bool:
    """Whether a column that is called as the rows are (`Booking`) numbers them (`B1203`): `bookings` are the rows."""
    if column.words not in (row, row[-1:]) or column.role not in ("text", "id") or row[-1] in _ATTRIBUTES:
        return False
    known = values.values(table.name, column.name)
    numbered = sum(any(map(str.isdigit, value)) for value in known)
    return not _repeats(values, table, column.column) and numbered > len(known) * _MOST_OF_ROWS


_GOODS = (("item",), ("article",), ("part",))
"""Columns whose things are the rows where each row has a number of its own: two items may be called alike."""


def each_its_own(column: ColumnWord, values: ValueIndex, table: Table) -> bool:
    """Whether no two rows have the same value."""
    return 0 < len(values.values(table.name, column.name)) == (table.row_count or 0)


_COUNTED_BY = word_set("pcm pa pw pm ppm per month year week day hour annum") | UNITS
"""Words behind a figure's name that say of what time or in what unit it is."""


def _is_figure(column: ColumnWord, row: tuple[str, ...]) -> bool:
    """Whether a column of numbers is called as the rows are: `votes`, `rent pcm`, `defective`, `calls taken`. The
    amounts of `sales` are each of a sale."""
    if not column.numeric or column.role != "number":
        return False
    [word, *more], said, name = column.words, row[-1], column.name.casefold()
    if word == said and not more:
        whole = re.search("int", column.column.type, re.IGNORECASE) is not None
        return len(row) > 1 or (whole and name == plural_phrase((said,)))
    called = word in (said, f"{said}ive", f"{said}ed") and set(more) <= _COUNTED_BY
    return called or name.startswith(f"{plural_phrase((said,))}_")


def _names_row(column: ColumnWord, values: ValueIndex, table: Table) -> bool:
    """Whether each row has its own value in a column that is called like a thing (`Order`)."""
    [word, *more] = column.words
    is_thing = not more and bool(open_lexicon(word)) and word not in {*_ATTRIBUTES, *NAME_WORDS, *_NUMBERS}
    return is_thing and column.role in ("text", "id") and each_its_own(column, values, table)


def _shared(values: ValueIndex, table: Table, column: Column) -> bool:
    """Whether several rows have the same value."""
    known = values.values(table.name, column.name)
    return 0 < len(known) < (table.row_count or 0) and values.complete(table.name, column.name)


def _repeats(values: ValueIndex, table: Table, column: Column) -> bool:
    """Whether the values of a column stand in several rows each."""
    return len(values.values(table.name, column.name)) <= (table.row_count or 0) * _MOST_OF_ROWS


_USUAL = frozenset(("id", "name", "date"))
"""Columns that many tables have, whatever they are about."""
_FILES = word_list("file_names")
"""Words in the name of a file that do not say what its rows are."""


def _row(words: Vocabulary, table: Table, values: ValueIndex) -> tuple[str, ...]:
    """What a row is: what the first column of a matrix names, where all others hold one figure by period (`Store`,
    `Wk 1`, `Wk 2`, …) and the file's name is of the figure; the thing that its number is of (`Ticket ID`), if that is
    of one row; else what the table's name says, without `export` and the like."""
    columns = words.by_table[table.name]
    figures = {tuple(w for w in c.words if w not in _PERIODS and not w.isdecimal()) for c in columns[1:]}
    is_matrix = len(columns) > _MATRIX and all(c.numeric for c in columns[1:]) and len(figures - {()}) < 2
    if is_matrix and columns[0].role == "text" and not columns[0].numeric:
        return columns[0].words
    numbers = (c for c in columns if c.role == "id" and c.words[-1] == "id" and not _shared(values, table, c.column))
    first = next((c.words[:-1] for c in numbers), ())
    own = words.tables[table.name].words
    kept = tuple(w for w in own if w not in _FILES | _SPANS and not w.isdigit()) or own
    kept = tuple(w for i, w in enumerate(kept) if w not in kept[i + 1 :])  # `Survey (Responses) - Responses 1`
    if not any(len(w) > 1 and open_lexicon(w) for w in kept):
        kept = next((c.words for c in columns if _names_row(c, values, table)), kept)
    return first if first and not set(first) & set(kept[:-1]) and first[-1] not in NAME_WORDS else kept


_SPANS = word_list("period_names")
_PERIODS = _SPANS | word_list("periods")
_MATRIX = 3
"""Columns of one figure, each of a period, from which on a table is read as a matrix."""


def _thing(column: ColumnWord, row: tuple[str, ...]) -> tuple[str, ...]:
    """What the values of a column are: `member`, and `customer` for `customer_name`; empty if the column says how a row
    is, or what kind of row it is."""
    if column.role not in ("text", "name", "id") or column.numeric or column.primary or column.words == ("id",):
        return ()
    words = column.words
    thing = words[:-1] if len(words) > 1 and words[-1] in (*NAME_WORDS, "id") else words
    return () if thing[-1] in (*_ATTRIBUTES, *NAME_WORDS, row[-1]) else thing
