"""The interpretation in plain words: "orders, only region North, total amount per month, highest first".

In: a `Query`. Out: one line for the user, and near names to offer for words that were not understood.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.date_arithmetic import DAYS_OF_WEEK
from agent.parser.interpretation import CALLED, Clause, ColumnKey, Condition, Expression, Membership, Query

_OPERATORS = {
    "=": "is", "<>": "is not", ">": "more than", ">=": "at least", "<": "less than", "<=": "at most",
    "like": "like", "not like": "not like", "null": "is empty", "not null": "is not empty",
}  # fmt: skip


def explain(query: Query, vocabulary: Vocabulary, notes: Sequence[str]) -> str:
    """The meaning of the query, in words."""
    speak = _Speaker(vocabulary)
    tables = [speak.table(t) for t in query.tables]
    parts = [" with ".join(tables[:2]) if tables else "rows"]
    parts.extend(f"only {speak.clause(clause)}" for clause in query.where)
    shown = [speak.expression(e) for e in query.select]
    what = ", ".join(shown)
    if query.distinct:
        what = f"different {what}"
    plain = [e for e in query.select if not e.function]
    grouped = [c for c in query.group if c in plain] or query.group
    if query.aggregates() and grouped:
        what += " per " + " and ".join(dict.fromkeys(speak.expression(e) for e in grouped))
    parts.append(what)
    parts.extend(f"only where {speak.condition(c)}" for c in query.having)
    if query.order:
        orders = []
        for e, descending in query.order:
            first = "highest first" if descending else "lowest first"
            orders.append(f"by {speak.expression(e) if e.column or e.table else 'number of rows'}, {first}")
        parts.append(" then ".join(orders))
    if query.limit is not None:
        parts.append(f"the first {query.limit}" if query.limit > 1 else "the first one")
    if query.shape is not None and query.shape.kind in _SHAPES:
        parts.append(_SHAPES[query.shape.kind].format(*(query.shape.years or (x.name for x in query.shape.periods))))
        parts = [part for part in parts if part]
    if query.whole is not None:
        parts.append(f"in percent of all {speak.table(query.whole.tables[0])} rows")
    if query.intersect is not None:
        both = [speak.clause(c) for c in query.intersect.where]
        parts.append("that are also among those with " + " and ".join(both))
    return ", ".join(parts) + "".join(f"; {note}" for note in notes)


_SHAPES = {
    "share": "each figure in percent of their sum",
    "growth": "with the growth over the period before, in percent",
    "change": "only the change from {} to {}, in percent",
    "periods": "for {} and {}",
    "difference": "only the difference between {} and {}",
    "compare": "one row for each of the two",
    "median": "as the median instead of the average",
    "average": "and the average of these figures",
    "count": "and how many there are",
    "top": "only the first of these",
    "days": "",
    "took": "",
}


class _Speaker:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def table(self, name: str) -> str:
        return " ".join(self._vocabulary.tables[name].words)

    def column(self, key: ColumnKey) -> str:
        word = self._vocabulary.columns[key]
        owner = self.table(key[0])
        name = " ".join(word.words)
        return name if set(owner.split()) & set(word.words) else f"{owner} {name}"

    def expression(self, e: Expression) -> str:
        if e.function == "count":
            if e.share:
                return "the share, in percent"
            if e.column is not None:
                return f"number of {'different ' if e.distinct else ''}{self.column(e.column)} values"
            return f"number of {self.table(e.table)} rows" if e.table else "number of rows"
        if e.column is None:
            return f"all columns of {self.table(e.table or '')}"
        name = self.column(e.column)
        if e.since is not None:
            time = f"{e.unit}s from {self.column(e.since)} to {name}"
            return f"{CALLED[e.function]} {time}" if e.function else time
        if e.part:
            return f"{e.part} of {name}"
        if e.via:
            return f"{name} of the row that {' '.join(self._vocabulary.columns[e.column[0], e.via].words)} names"
        if e.factor is not None:
            name += f" times {self.column(e.factor)}"
        if e.less is not None:
            name += f", less {self.column(e.less)}"
        return f"{CALLED[e.function]} {name}" if e.function else name

    def clause(self, clause: Clause) -> str:
        return " or ".join(self.membership(p) if isinstance(p, Membership) else self.condition(p) for p in clause)

    def membership(self, m: Membership) -> str:
        inner = "".join(f" where {self.clause(c)}" for c in m.where)
        return f"{'without' if m.negated else 'with'} {self.table(m.table)}{inner}"

    def condition(self, c: Condition) -> str:
        left = self.expression(c.left)
        if c.left.part == "weekday":
            c = replace(c, values=tuple(DAYS_OF_WEEK[int(str(day))] for day in c.values))
        if c.against is not None:
            inner = self.expression(c.against.select[0])
            where = "".join(f" where {self.clause(x)}" for x in c.against.where)
            return f"{left} {_OPERATORS[c.operator]} the {inner}{where}"
        if c.operator in ("between", "not between"):
            low, high = c.values
            if c.half_open and isinstance(high, dt.date):
                high = dt.date.fromordinal(high.toordinal() - 1)
            return f"{left} {'not ' if c.operator == 'not between' else ''}from {low} to {high}"
        values = " ".join(self.expression(v) if isinstance(v, Expression) else str(v) for v in c.values)
        return f"{left} {_OPERATORS[c.operator]} {values}".strip()
