"""Row versions: tables that keep the history of their things (slowly changing dimensions, type 2).

In: a draft and its question. Out: the draft's query, in which each thing counts once: questions about such a table
alone use the current versions, and where other tables are joined, the thing's own key replaces the key of its version.
Source: Kimball and Ross (2013), The Data Warehouse Toolkit, chapter 5.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.flags import says
from agent.parser.interpretation import Clause, ColumnKey, Condition, Expression, Membership, Query
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from eval.language.lexicon import word_set

_VALID = word_set("valid effective version row record")
_FROM = word_set("from start begin since")
_TO = word_set("to until till end thru through expiry expiration")
_ASKED = word_set("version versions history historical record records row rows change changes changed ever past former")
_KEYS = word_set("id key code number no nk bk")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
"""The parts of a column's name, small words included."""


@dataclass(frozen=True, slots=True)
class _History:
    """A table of versions."""

    table: str
    key: ColumnKey
    """What a thing is known by, in all its versions."""
    version: ColumnKey | None
    """The key of one version."""
    flag: ColumnKey | None
    """The column that says whether a version holds now."""
    marks: frozenset[ColumnKey]
    """The columns that say when a version holds."""
    current: Clause


def of_current_versions(draft: Draft, q: LinkedQuestion) -> Query:
    """The draft's query for things instead of their versions, unless the question asks for these."""
    query = draft.query
    if _ASKED & {t.lower for t in q.tokens}:
        return query
    tables = _tables(query)
    for history in filter(None, (_history(q, table) for table in sorted(tables))):
        if history.marks & _columns(query):
            if history.flag not in _columns(query) and not _VALID & {t.lower for t in q.tokens}:
                draft.doubt("version_dated")
            continue
        things = q.vocabulary.tables[history.table].plural
        current = tables == {history.table} or _repeated_by_key(q, history, tables)
        known = _known_by_key(_only_current(query, history) if current else query, history, current)
        if known != query:
            draft.notes.append(f"only the current version of the {things}" if current else f"each of the {things} once")
        query = known
    return query


def _only_current(query: Query, history: _History) -> Query:
    def restricted(inner: Query | None) -> Query | None:
        own = inner is not None and _tables(inner) == {history.table}
        return replace(inner, where=[*inner.where, history.current]) if inner is not None and own else inner

    def within(part: Condition | Membership) -> Condition | Membership:
        return replace(part, against=restricted(part.against)) if isinstance(part, Condition) else part

    where = [tuple(within(part) for part in clause) for clause in query.where]
    whole, intersect = restricted(query.whole), restricted(query.intersect)
    if any(e.share for e in query.select):
        return replace(query, where=where, base=[*query.base, history.current], whole=whole, intersect=intersect)
    return replace(query, where=[*where, history.current], whole=whole, intersect=intersect)


def _known_by_key(query: Query, history: _History, current: bool) -> Query:
    """The query with the thing's key where its version's stands."""

    def of_thing(e: Expression) -> Expression:
        if e.function == "count" and e.table == history.table and not (e.column or e.share or current):
            return replace(e, table=None, column=history.key, distinct=True)
        return replace(e, column=history.key) if e.column is not None and e.column == history.version else e

    def known(part: Condition | Membership) -> Condition | Membership:
        return replace(part, key=history.key) if isinstance(part, Membership) and part.of == history.table else part

    return replace(
        query,
        select=[of_thing(e) for e in query.select],
        group=[of_thing(e) for e in query.group],
        order=[(of_thing(e), descending) for e, descending in query.order],
        having=[replace(c, left=of_thing(c.left)) for c in query.having],
        where=[tuple(known(part) for part in clause) for clause in query.where],
    )


def _history(q: LinkedQuestion, table: str) -> _History | None:
    """How a table keeps versions; None for others. A price list, whose rows are the things, has no key besides."""
    columns, owner = q.vocabulary.by_table[table], set(q.vocabulary.tables[table].words)
    start = next((c for c in columns if _dated(c, _FROM)), None)
    end = next((c for c in columns if _dated(c, _TO)), None)
    keys = [
        c for c in columns if not (c.primary or c.foreign) and _KEYS & set(c.words) and set(c.words) <= _KEYS | owner
    ]
    alone = {i.columns[0] for i in q.vocabulary.tables[table].table.indexes if i.unique and len(i.columns) == 1}
    keys = [c for c in keys if c.name not in alone]
    if start is None or end is None or not keys:
        return None
    flag = next((c for c in columns if "current" in c.words and says(q.values, c, wanted=True)), None)
    holds = says(q.values, flag, wanted=True) if flag is not None else None
    if holds is None and end.column.nullable:
        holds = Condition(Expression(column=end.key), "null")
    if holds is None:
        return None
    version = q.vocabulary.key_column(table)
    return _History(
        table,
        key=keys[0].key,
        version=version.key if version is not None else None,
        flag=flag.key if flag is not None else None,
        marks=frozenset(c.key for c in (start, end, flag) if c is not None),
        current=(holds,),
    )


def _dated(column: ColumnWord, side: Set[str]) -> bool:
    if column.role != "date":
        return False
    parts = {part.lower() for part in _PARTS.findall(column.name)}
    return bool(_VALID & parts and side & parts)


def _repeated_by_key(q: LinkedQuestion, history: _History, tables: Set[str]) -> bool:
    """Whether other tables refer to a thing and not to its version, so that each version would repeat their rows."""
    between = [e for other in tables - {history.table} for e in q.graph.between(other, history.table)]
    return any(e.right == history.table and e.right_columns == (history.key[1],) for e in between)


def _tables(query: Query) -> set[str]:
    """The tables that a query joins."""
    used = [*query.expressions(), *query.group, *(part for clause in (*query.where, *query.base) for part in clause)]
    return {*query.tables, *(t for part in used for t in part.tables)}


def _columns(query: Query) -> set[ColumnKey]:
    """The columns that a query shows, compares or orders by."""
    used = [*query.expressions(), *query.group, *(c.left for c in query.conditions())]
    return {e.column for e in used if e.column is not None}
