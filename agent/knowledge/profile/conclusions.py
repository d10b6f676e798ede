"""Derives patterns in the data and pitfalls for queries from a profile's facts.

In: the schema, the rows read, the facts. Out: `Pattern`s and `Pitfall`s. Each rule is one small function over one table
or column; a rule applies only where the rows support it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations

from agent.knowledge.profile.facts import ColumnFacts, KeyFacts, Pattern, Pitfall, TableFacts
from agent.knowledge.profile.row_sample import Rows
from agent.knowledge.schema_context import quoted_if_needed
from eval.schema import Schema, Table

_START = re.compile(r"start|begin|from|open|hire|created|order|valid_from|admit|check_?in|departure", re.I)
_END = re.compile(r"end|finish|to|close|leave|updated|ship|valid_to|discharge|check_?out|arrival|required", re.I)
_TEMPORAL = re.compile(r"date|time|year", re.I)
_LEVEL_COLUMNS = 8
_LEVEL_CELL = 60
"""Maximum characters of a value that can name a hierarchy level."""
_LEAST_ROWS = 12
_NUMERIC_TEXT = ("whole number", "decimal number", "number with thousands separators", "amount with a currency sign",
                 "per cent sign", "number with a unit")  # fmt: skip


def trees(schema: Schema) -> Iterator[Pattern]:
    """Tables whose rows refer to rows of the same table."""
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table.casefold() == table.name.casefold() and len(key.columns) == 1:
                text = f"rows refer to rows of the same table by {key.columns[0]}: a tree, walked with WITH RECURSIVE"
                yield Pattern("hierarchy", table.name, key.columns, text)


def patterns(table: Table, read: Rows) -> Iterator[Pattern]:
    """Columns that depend on another column of the table, and periods with a start and an end."""
    if len(read.cells) >= _LEAST_ROWS:
        yield from _levels(table, read)
        yield from _periods(table, read)


def _levels(table: Table, read: Rows) -> Iterator[Pattern]:
    """Text columns whose values each belong to one value of another column, as cities belong to countries."""
    keyed = {c.casefold() for k in table.foreign_keys for c in k.columns} | {c.casefold() for c in table.primary_key}
    chosen: list[tuple[int, str, set[str]]] = []
    for place, column in enumerate(read.columns):
        values = {v for r in read.cells if isinstance(v := r[place], str)}
        if any(len(v) > _LEVEL_CELL for v in values):
            continue  # prose
        if column.name.casefold() not in keyed and 2 <= len(values) <= len(read.cells) // 2:
            chosen.append((place, column.name, values))
    for (a, inner, inner_values), (b, outer, outer_values) in permutations(chosen[:_LEVEL_COLUMNS], 2):
        if len(inner_values) < len(outer_values) * 1.5:
            continue
        pairs = {(r[a], r[b]) for r in read.cells if isinstance(r[a], str) and r[b] is not None}
        if len(pairs) == len({p[0] for p in pairs}) >= 3:
            yield Pattern("levels", table.name, (inner, outer), f"each {inner} has one {outer}: {outer} > {inner}")


def _periods(table: Table, read: Rows) -> Iterator[Pattern]:
    """Pairs of date columns in which one date is never later than the other."""
    dated = [(i, c.name) for i, c in enumerate(read.columns) if _TEMPORAL.search(c.name) or _TEMPORAL.search(c.type)]
    for (a, first), (b, last) in permutations(dated[:6], 2):
        if not (_START.search(first) and _END.search(last)):
            continue
        both = [(r[a], r[b]) for r in read.cells if r[a] is not None and type(r[a]) is type(r[b])]
        if len(both) >= _LEAST_ROWS:
            ordered = sum(x <= y for x, y in both)  # type: ignore[operator]
            if ordered / len(both) >= 0.98 and any(x != y for x, y in both):
                odd = len(both) - ordered
                note = f", but for {odd:,} rows" if odd else ""
                yield Pattern("period", table.name, (first, last), f"{first} is never after {last}{note}")


def pitfalls(
    schema: Schema, tables: Sequence[TableFacts], columns: Sequence[ColumnFacts], keys: Sequence[KeyFacts]
) -> Iterator[Pitfall]:
    """Mistakes that a query on this database can make, the costliest first."""
    for facts in columns:
        yield from _of_column(facts)
    for key in keys:
        if key.orphans and key.checked:
            lost = f"{key.orphans:,} of {key.checked:,} keys find no row in {key.ref_table}"
            yield Pitfall(key.table, ", ".join(key.columns), f"{lost}: an inner join loses those rows")
    yield from _fan_outs(keys)
    yield from _shared_names(schema)
    for table in tables:
        if table.rows == 0:
            yield Pitfall(table.name, "", "has no rows: joining it leaves nothing")
    for listed in schema.tables:
        odd = [c.name for c in listed.columns if not c.name.isascii() or not re.match(r"[A-Za-z_]\w*\Z", c.name)]
        if odd:
            example = quoted_if_needed(odd[0], schema.dialect)
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            yield Pitfall(listed.name, "", f"names that must be quoted: {example}{more}")


def _of_column(c: ColumnFacts) -> Iterator[Pitfall]:
    dated = bool(c.formats) and c.formats[0].name.startswith("date")
    if c.kind == "text" and c.formats:
        form = c.formats[0]
        holding = f"text holding {'an' if form.name[0] in 'aeio' else 'a'} {form.name} ({form.example})"
        if form.share >= 0.9 and dated and "YYYY-MM-DD" not in form.name:
            yield Pitfall(c.table, c.column, f"{holding}: it does not sort as a date")
        elif form.share >= 0.9 and form.name in _NUMERIC_TEXT and not c.key:
            yield Pitfall(c.table, c.column, f"{holding}: cast before comparing")
        elif len(c.formats) > 1 and dated and c.formats[1].name.startswith("date"):
            yield Pitfall(c.table, c.column, f"dates written in several ways: {form.name}, {c.formats[1].name}")
    if c.null_likes:
        mark = "'" if c.kind == "text" else ""
        listed = ", ".join(f"{mark}{v.value}{mark} ({v.rows:,})" for v in c.null_likes[:3])
        yield Pitfall(c.table, c.column, f"values that seem to mean missing: {listed}")
    folded = Counter(v.value.strip().casefold() for v in c.values)
    twice = [f for f, n in folded.items() if n > 1]
    if twice:
        both = ", ".join(f"'{v.value}'" for v in c.values if v.value.strip().casefold() == twice[0])
        yield Pitfall(c.table, c.column, f"the same value written differently: {both}")
    elif any(s != s.strip() for s in c.samples if s.strip()):
        yield Pitfall(c.table, c.column, "values with spaces around them: trim before comparing")
    if c.kind == "empty" and c.rows:
        yield Pitfall(c.table, c.column, "has no value in any row that was read")
    elif c.nulls > 0 and c.kind != "empty" and not c.key and (c.kind in ("number", "date") or dated):
        first = "averages leave them out, " if c.kind == "number" else ""
        yield Pitfall(c.table, c.column, f"{c.nulls:,} NULLs: {first}comparisons are never true")


def _fan_outs(keys: Sequence[KeyFacts]) -> Iterator[Pitfall]:
    """Fan-out: tables that several other tables reference with many rows, and tables with two foreign keys to one
    table."""
    behind: dict[str, list[str]] = defaultdict(list)
    twice: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        if key.table != key.ref_table:
            twice[key.table, key.ref_table].append("+".join(key.columns))
            if key.cardinality == "n:1" and key.table not in behind[key.ref_table]:
                behind[key.ref_table].append(key.table)
    for (table, ref), columns in twice.items():
        if len(columns) > 1:
            text = f"refers to {ref} in {len(columns)} ways ({', '.join(columns[:4])}): choose the intended one"
            yield Pitfall(table, "", text)
    for ref, children in behind.items():
        if len(children) > 1:
            names = ", ".join(children[:4]) + (" …" if len(children) > 4 else "")
            text = f"joining two of its many-row tables ({names}) multiplies rows: aggregate each first"
            yield Pitfall(ref, "", text)


def _shared_names(schema: Schema) -> Iterator[Pitfall]:
    """Non-key column names that occur in several tables, grouped by those tables."""
    owners: dict[str, list[str]] = defaultdict(list)
    written: dict[str, str] = {}
    for table in schema.tables:
        keyed = {c.casefold() for k in table.foreign_keys for c in k.columns}
        for column in table.columns:
            if column.name.casefold() not in keyed and not column.primary_key:
                owners[column.name.casefold()].append(table.name)
                written.setdefault(column.name.casefold(), column.name)
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, tables in owners.items():
        if len(tables) > 1:
            together[tuple(tables)].append(written[name])
    for owning, names in sorted(together.items(), key=lambda o: (-len(o[0]), o[1]))[:8]:
        listed = ", ".join(owning[:5]) + (" …" if len(owning) > 5 else "")
        shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        are = f"are columns of {len(owning)} tables" if len(names) > 1 else f"is a column of {len(owning)} tables"
        yield Pitfall("", shown, f"{are} ({listed}): qualify {'them' if len(names) > 1 else 'it'}")
