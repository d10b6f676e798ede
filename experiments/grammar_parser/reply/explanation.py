"""The reading in plain words: "order, only order date from 2024-01-01 to 2024-12-31, total order amount".

In: a plan. Out: one line for the user: which rows, under which conditions, what is shown of them, per what, in which
order and how many, and the notes on what was assumed.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.knowledge.vocabulary import Vocabulary
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    All,
    Among,
    Column,
    Compare,
    Condition,
    Either,
    Expression,
    Like,
    Missing,
    OneOf,
    Order,
    Related,
    Select,
    Within,
    aggregates,
)
from experiments.grammar_parser.reply.speech import Speech, last_day, value

OPERATORS = {"=": "is", "<>": "is not", ">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}
_COMBINED = {"union": "and also", "intersect": "that are also among", "except": "that are not among"}


def explain(plan: Select, vocabulary: Vocabulary, notes: Sequence[str] = ()) -> str:
    """The meaning of the plan, in words."""
    return _Explained(Speech(vocabulary)).plan(plan) + "".join(f"; {note}" for note in notes)


class _Explained:
    def __init__(self, speech: Speech) -> None:
        self._speech = speech

    def plan(self, p: Select) -> str:
        parts = [self._rows(p), *(f"only {self.condition(c)}" for c in p.where), self._shown(p)]
        parts.extend(f"only where {self.condition(c)}" for c in p.having)
        if p.order:
            parts.append(" then ".join(self._order(o) for o in p.order))
        if p.limit is not None:
            first = f"the first {p.limit}" if p.limit > 1 else "the first one"
            per = " and ".join(dict.fromkeys(self._speech.expression(e) for e in p.per))
            parts.append((f"{first} after {p.offset}" if p.offset else first) + (f" of each {per}" if per else ""))
        if p.keep_empty:
            parts.append("those without any, too")
        if p.combine is not None:
            parts.append(f"{_COMBINED[p.combine.how]}: {self.plan(p.combine.other)}")
        return ", ".join(parts)

    def _rows(self, p: Select) -> str:
        return " with ".join(self._speech.table(t) for t in p.tables[:2]) if p.tables else "rows"

    def _shown(self, p: Select) -> str:
        what = ", ".join(self._figure(e) for e in p.show)
        grouped = [e for e in p.group if e in p.show] or list(p.group)
        if grouped and any(aggregates(e) for e in p.show):
            what += " per " + " and ".join(dict.fromkeys(self._speech.expression(e) for e in grouped))
        return f"different {what}" if p.distinct else what

    def _figure(self, e: Expression) -> str:
        said = self._speech.expression(e)
        if isinstance(e, Aggregate) and e.where:
            said += " where " + " and ".join(self.condition(c) for c in e.where)
        return said

    def _order(self, o: Order) -> str:
        dated = isinstance(o.by, Column) and self._speech.vocabulary.columns[o.by.key].role == "date"
        first = ("latest" if dated else "highest") if o.descending else ("earliest" if dated else "lowest")
        return f"by {self._speech.expression(o.by)}, {first} first"

    def condition(self, c: Condition) -> str:
        s = self._speech
        match c:
            case Compare():
                return f"{s.expression(c.left)} {OPERATORS[c.operator]} {self._figure(c.right)}"
            case OneOf():
                return f"{s.expression(c.left)} is {'not ' * c.negated}{' or '.join(value(v) for v in c.values)}"
            case Like():
                return f"{s.expression(c.left)} {'not ' * c.negated}like {c.pattern}"
            case Missing():
                return f"{s.expression(c.left)} is {'filled in' if c.negated else 'empty'}"
            case Within():
                ends = f"from {value(c.low)} to {value(last_day(c))}"
                return f"{s.expression(c.left)} {'not ' * c.negated}{ends}"
            case Related():
                inner = "".join(f" where {self.condition(x)}" for x in c.where)
                return f"{'without' if c.negated else 'with'} {s.table(c.to)}{inner}"
            case Among():
                return f"{s.expression(c.left)} {'not ' * c.negated}among those of: {self.plan(c.of)}"
            case Either():
                return " or ".join(self.condition(x) for x in c.of)
            case All():
                return " and ".join(self.condition(x) for x in c.of)
