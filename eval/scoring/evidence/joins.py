"""Joins: conditions that follow the keys, rows that multiply, groups that merge what differs."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from eval.language.words import akin, name_words
from eval.schema import Table
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, is_key_name
from eval.sql.traversal import every, from_items

_TELLING = 3
"""Letters that a word needs to say what a column is about."""


def observe(reading: Reading) -> Observations:
    facts = reading.case.facts
    if reading.case.multiplied:
        yield Observation("cartesian", 1, "Two sources are combined without a condition between them.")
    if facts.outer_joins and not reading.intent.negation:
        yield Observation("outer_join", 1)
    if off_keys := _off_keys(reading):
        yield Observation("join_off_keys", 1, f"The join of {off_keys[0]} and {off_keys[1]} follows no key.")
    if idle := only_joined(reading):
        yield Observation("table_only_joined", float(min(len(idle), 2)))
    if facts.group_by and reading.select is not None:
        yield from _groups(reading)
    if facts.joins and not facts.group_by and "count" in facts.output_aggregates and not facts.count_distinct:
        yield Observation("count_over_join", 1)


def _off_keys(r: Reading) -> tuple[str, str] | None:
    """The first pair of columns equated between two tables of one FROM that no key of either names. A subquery that
    looks for a row outside its own tables (`NOT EXISTS`) may well compare what no key ties."""
    together = [{s.name.casefold() for s in from_items(one) if isinstance(s, exp.Table)} for one in r.selects]
    for (first, left), (second, right) in r.case.facts.join_columns:
        if not any({first.casefold(), second.casefold()} <= names for names in together):
            continue
        one, two = r.case.schema.table(first), r.case.schema.table(second)
        if one is None or two is None or one is two:
            continue
        if not (one.foreign_keys or two.foreign_keys):
            continue  # neither declares what it refers to, so nothing is known against this join
        follows = _meant(one, left) & _meant(two, right)
        if not (follows or _named_after(one, left, two, right) or _named_after(two, right, one, left)):
            return f"{one.name}.{left}", f"{two.name}.{right}"
    return None


def only_joined(r: Reading) -> list[str]:
    """The names, as the query has them, of tables of which the outermost query uses join columns and nothing else, and
    that end a chain of joins."""
    if r.select is None or not r.select.args.get("joins"):
        return []
    inside = {id(c) for j in r.select.args["joins"] for c in every(j, exp.Column)}
    used = {c.table.casefold() for c in every(r.select, exp.Column) if id(c) not in inside}
    where = r.select.args.get("where")
    equalities = every(where, exp.EQ) if where is not None else ()
    if "" in used or any(isinstance(e.left, exp.Column) and isinstance(e.right, exp.Column) for e in equalities):
        return []
    joined = ({c.table.casefold() for c in every(join, exp.Column)} for join in r.select.args["joins"])
    places = Counter(name for names in joined for name in names)
    return [name for name, count in places.items() if count == 1 and name not in used]


def _meant(table: Table, column: str) -> set[tuple[str, str]]:
    """The column itself and what it refers to, as (table, column): what two columns share they hold both."""
    column = column.casefold()
    return {(table.name.casefold(), column)} | {
        (key.ref_table.casefold(), to.casefold())
        for key in table.foreign_keys
        for own, to in zip(key.columns, key.ref_columns, strict=False)
        if own.casefold() == column
    }


def _named_after(table: Table, column: str, other: Table, key: str) -> bool:
    """Whether a column that no declared key starts from is called like the primary key, or the table, that it meets."""
    if [c.casefold() for c in other.primary_key] != [key.casefold()] or len(_meant(table, column)) > 1:
        return False
    names = {w for name in (other.name, key) for w in name_words(name) if w not in ("id", "code", "key", "name", "no")}
    return any(akin(word, name) for word in name_words(column) for name in names if len(name) >= _TELLING)


def _groups(r: Reading) -> Observations:
    assert r.select is not None
    group = r.select.args.get("group")
    keys = group.expressions if group is not None else ()
    grouped = {e.name.casefold() for e in (key.unnest() for key in keys) if isinstance(e, exp.Column)}
    loose = [c for c in r.output_columns if c.casefold() not in grouped]
    keyed = any(is_key_name(c) for c in grouped)
    if loose and not keyed:
        yield Observation("ungrouped_output", 1, f"{loose[0]} is returned but is neither grouped by nor aggregated.")
    elif not loose and r.case.facts.joins and not keyed:
        yield Observation("grouped_by_value", 1)
