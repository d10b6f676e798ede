"""Absences: NULL, what has no partner and what is zero, where the query loses or miscounts them.

Each check reads query, types and question: a count of what is NULL by condition, an open end that a comparison drops,
a difference that one missing side makes NULL, an average that leaves out what should count as 0.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.words import name_words
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_ENDS = frozenset({"to", "until", "end", "clos", "terminat", "termination", "expiry", "expir"})
_BEGINNINGS = frozenset({"from", "start", "open", "hir", "hire", "began", "begin", "join"})
FILLED = re.compile(r"\b(?:coalesce|ifnull|nvl|total)\s*\(", re.IGNORECASE)
"""A function that puts a value in the place of NULL."""
_AS_ZERO = re.compile(
    r"\b(?:count(?:s|ed)? as (?:0|zero)|as (?:0|zero)\b|show(?:s|n)? (?:0|zero)\b|with (?:0|zero)\b(?! \w+s)"
    r"|count(?:s|ed)? as (?:days|months) with (?:0|zero))"
)


def observe(reading: Reading) -> Observations:
    yield from _counts_nulls(reading)
    yield from _open_ends(reading)
    yield from _null_arithmetic(reading)
    yield from _zeros(reading)


def _counts_nulls(r: Reading) -> Observations:
    """`SELECT COUNT(x) ... WHERE x IS NULL` is always 0."""
    for select in r.selects:
        where = select.args.get("where")
        if where is None or where.find(exp.Or):
            continue
        sides = where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
        empty = {
            s.this.sql().casefold()
            for s in sides
            if isinstance(s, exp.Is) and isinstance(s.this, exp.Column) and isinstance(s.expression, exp.Null)
        }
        for call in (c for e in select.expressions for c in every(e, exp.Count)) if empty else ():
            if isinstance(call.this, exp.Column) and call.this.sql().casefold() in empty:
                name = call.this.name
                text = f"COUNT({name}) counts where {name} is known, and the condition keeps where it is not."
                yield Observation("count_of_nulls", 1, text)
                return


def _open_ends(r: Reading) -> Observations:
    """An end that is NULL while the thing lasts, compared without saying so: what still lasts is lost."""
    sides = [n.left for n in every(r.tree, exp.GT, exp.GTE)] + [n.right for n in every(r.tree, exp.LT, exp.LTE)]
    sides += [n.args["high"] for n in every(r.tree, exp.Between)]
    ends = [s for s in sides if isinstance(s, exp.Column) and _ENDS.intersection(name_words(s.name))]
    if not ends:
        return
    spared = {n.this.name.casefold() for n in every(r.tree, exp.Is) if isinstance(n.this, exp.Column)}
    spared |= {
        c.name.casefold() for n in every(r.tree, exp.Func) if FILLED.match(n.sql()) for c in every(n, exp.Column)
    }
    for side in ends:
        if side.name.casefold() in spared:
            continue
        words = name_words(side.name)
        said = {w for w in words if w in _ENDS}
        if not said or any(light_stem(w) in r.all_words for w in said - {"to"}):
            continue
        known = next((c for t in r.tables if (c := r.column(t, side.name)) is not None), None)
        begins = any(_BEGINNINGS.intersection(name_words(c)) for _, c in r.case.references.columns)
        if known is not None and known.nullable and begins:
            text = f"{side.name} is NULL for what has not ended, and the comparison leaves that out."
            yield Observation("open_end_lost", 1, text)
            return


def _outer_sides(select: exp.Select) -> set[str]:
    """The names of the sources that a LEFT JOIN of the SELECT may leave without a row."""
    return {j.this.alias_or_name.casefold() for j in select.args.get("joins") or () if j.side == "LEFT"}


def _null_arithmetic(r: Reading) -> Observations:
    """`SUM(a.x - b.y)` where b may have no row: the whole difference is NULL and falls out of the sum."""
    for select in r.selects:
        outer = _outer_sides(select)
        if not outer:
            continue
        for call in (c for e in select.expressions for c in every(e, exp.Sum, exp.Avg)):
            if not isinstance(call.this, exp.Sub | exp.Add):
                continue
            sides = call.this.left, call.this.right
            bare = [s for s in sides if isinstance(s, exp.Column) and s.table.casefold() in outer]
            if len(bare) == 1:
                text = f"{bare[0].name} is NULL where the outer join finds nothing, and so is the whole difference."
                yield Observation("null_in_arithmetic", 1, text)
                return


def _zeros(r: Reading) -> Observations:
    """What should count as 0, averaged over an outer join or dropped by an inner one."""
    if not _AS_ZERO.search(r.question) or every(r.tree, exp.SetOperation):
        return
    for select in r.selects:
        outer = _outer_sides(select)
        for call in (c for e in select.expressions for c in every(e, exp.Avg)) if outer else ():
            bare = [c for c in every(call, exp.Column) if c.table.casefold() in outer]
            if bare and not (FILLED.search(call.sql()) or every(call, exp.Case, exp.If)):
                text = f"AVG leaves out where {bare[0].name} is missing, and the question counts that as 0."
                yield Observation("zero_not_counted", 1, text)
                return
    joins = every(r.tree, exp.Join)
    inner = joins and not any(join.side for join in joins)
    spared = every(r.tree, exp.Exists, exp.Not, exp.Case, exp.Sub, exp.CTE)
    if inner and (FILLED.search(r.case.parsed.text) or not spared):
        text = "The question counts those without any as 0, and an inner join leaves them out."
        yield Observation("zero_not_counted", 1, text)
