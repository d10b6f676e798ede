"""The question that a plan answers, in complete plain English.

In: a plan. Out: `What is the total amount of orders in 2024 for each country?`: for choices to click, for follow-ups
shown as the full question, and for similar questions. Read again, it gives a plan with the same rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.vocabulary import Vocabulary
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    All,
    Among,
    Arithmetic,
    Column,
    Compare,
    Condition,
    Constant,
    DatePart,
    Either,
    Expression,
    Like,
    Missing,
    OneOf,
    Order,
    Related,
    Scalar,
    Select,
    Star,
    Within,
    aggregates,
    tables_of,
)
from experiments.grammar_parser.reply.speech import CALLED, Speech, called_period, compared, last_day, value

_PLACES = ("", "second", "third", "fourth", "fifth")
_MORE = {"=": "equal to", "<>": "other than", ">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}
_DATED = {">": "after", ">=": "since", "<": "before", "<=": "until"}


def asked(plan: Select, vocabulary: Vocabulary) -> str:
    """The plan as a question."""
    return _Asked(Speech(vocabulary, {**CALLED, "min": "minimum", "max": "maximum"})).question(plan)


class _Asked:
    def __init__(self, speech: Speech) -> None:
        self._speech, self._vocabulary = speech, speech.vocabulary

    # -- the sentence ----------------------------------------------------------------------------------------------

    def question(self, p: Select) -> str:
        figures = [e for e in p.show if aggregates(e)]
        plain = [e for e in p.show if not aggregates(e)]
        subject = self._subject(p, plain)
        rows = self._speech.rows(subject) if subject else "rows"
        if figures and not (p.limit is not None and p.order):
            return self._figures(p, figures, rows, subject)
        return self._listing(p, plain, figures, rows, subject)

    def _subject(self, p: Select, plain: Sequence[Expression]) -> str:
        """The table whose rows are meant: the one whose names alone are shown, else the one named first."""
        tables = {t for e in plain for t in tables_of(e)}
        if (
            len(tables) == 1
            and not any(aggregates(e) for e in p.show if not p.order)
            and self._are_names(plain, *tables)
        ):
            return tables.pop()
        return next(iter((*p.tables, *tables_of(p.show))), "")

    def _are_names(self, plain: Sequence[Expression], table: str) -> bool:
        return tuple(plain) == tuple(Column(*n.key) for n in self._vocabulary.name_columns(table))

    def _figures(self, p: Select, figures: list[Expression], rows: str, subject: str) -> str:
        tail, first = self._conditions(p, subject), figures[0]
        of = "" if any(rows in self._figure(e, subject) for e in figures) else f" of {rows}"
        named = " and ".join(self._figure(e, subject) for e in figures)
        order = self._order(p, subject)
        if len(figures) == 1 and not p.group and (change := compared(first)) is not None:
            percent = " in percent" if change.percent else ""
            said = self._figure(change.figure, subject)
            return f"How did the {said} of {rows}{tail} change from {change.first} to {change.second}{percent}?"
        if p.group and p.show[0] not in figures:  # the group comes first
            return f"{named[:1].upper()}{named[1:]}{of}{tail} by {self._groups(p, subject)}{order}"
        tail += (f" for each {self._groups(p, subject)}" if p.group else "") + order
        if len(figures) == 1 and isinstance(first, Aggregate) and first.function == "count" and first.of is None:
            return f"How many {self._speech.rows(first.table) if first.table else rows} are there{tail}?"
        if len(figures) == 1 and (share := self._share(first, subject)):
            return share
        return f"What is the {named}{of}{tail}?"

    def _share(self, e: Expression, subject: str) -> str:
        """`what percentage of orders have status shipped`."""
        part = e.left.right if isinstance(e, Arithmetic) and isinstance(e.left, Arithmetic) else None
        if not isinstance(part, Aggregate) or not part.where:
            return ""
        rows = self._speech.rows(part.table) if part.of is None else f"the {self._speech.expression(part.of, subject)}"
        return f"What percentage of {rows} is{self._said(part.where, subject)}?"

    def _listing(self, p: Select, plain: list[Expression], figures: list[Expression], rows: str, subject: str) -> str:
        shown, conditions = self._shown(p, plain, rows, subject), self._conditions(p, subject)
        if p.limit is None or not p.order:
            first = f"first {p.limit} " if p.limit is not None else ""
            different = "different " if p.distinct and shown != rows else ""
            return f"List the {first}{different}{shown}{conditions}{self._order(p, subject)}"
        by = p.order[0]
        figure, per = self._figure(by.by, subject), f" for each {self._group_names(p.per, subject)}" if p.per else ""
        if p.limit == 1 and not figures:
            place = f"{_PLACES[p.offset]} " if p.offset < len(_PLACES) and p.offset else ""
            one = self._speech.table(subject) if shown == rows and subject else shown
            return f"Which {one}{conditions} has the {place}{self._extreme(by)} {figure}{per}?"
        beside = "".join(f" and the {self._figure(e, subject)}" for e in figures)
        rising = "" if by.descending else " in ascending order"
        return f"List the top {p.limit} {shown}{beside}{conditions} by {figure}{rising}{per}"

    def _extreme(self, o: Order) -> str:
        dated = isinstance(o.by, Column) and self._vocabulary.columns[o.by.key].role == "date"
        return ("latest" if dated else "highest") if o.descending else ("earliest" if dated else "lowest")

    # -- what is shown ---------------------------------------------------------------------------------------------

    def _shown(self, p: Select, plain: Sequence[Expression], rows: str, subject: str) -> str:
        """The columns shown; the rows alone where they are shown by their names."""
        whole = any(isinstance(e, Star) and e.table == subject for e in plain)
        if not plain or whole or (subject and self._are_names(plain, subject)):
            return rows + self._idle(p, subject)
        columns = [self._speech.expression(e, subject) for e in plain]
        owned = {t for e in plain for t in tables_of(e)}
        said = f"{', '.join(columns[:-1])} and {columns[-1]}" if len(columns) > 1 else columns[0]
        return f"{said} of {rows}{self._idle(p, subject)}" if subject in owned or not owned else said

    def _idle(self, p: Select, subject: str) -> str:
        """The tables that only keep rows that belong to one of theirs."""
        used = tables_of((p.show, p.where, p.group, p.having, p.order, p.per))
        idle = [t for t in p.tables if t not in used and t != subject and not self._vocabulary.tables[t].bridge]
        return "".join(f" with {self._speech.rows(t)}" for t in idle[:1])

    def _figure(self, e: Expression, subject: str) -> str:
        return self._speech.expression(e, subject)

    def _groups(self, p: Select, subject: str) -> str:
        return self._group_names([g for g in p.group if g in p.show] or list(p.group), subject)

    def _group_names(self, groups: Sequence[Expression], subject: str) -> str:
        """`customer`, where it is grouped by the name or the key of customers; otherwise columns and parts of dates."""
        said = []
        for e in groups:
            if isinstance(e, DatePart):
                said.append({"month_of_year": "month"}.get(e.unit, e.unit))
                continue
            names = {n.key for t in tables_of(e) for n in self._vocabulary.name_columns(t)}
            key = self._vocabulary.key_column(e.table) if isinstance(e, Column) else None
            whole = isinstance(e, Column) and (e.key in names or (key is not None and e.key == key.key))
            own = "" if isinstance(e, Column) and self._vocabulary.columns[e.key].role in ("id", "name") else subject
            said.append(
                self._speech.table(e.table) if whole and isinstance(e, Column) else self._speech.expression(e, own)
            )
        return " and ".join(dict.fromkeys(said))

    # -- conditions ------------------------------------------------------------------------------------------------

    def _conditions(self, p: Select, subject: str) -> str:
        return self._said((*p.where, *p.having), subject)

    def _said(self, conditions: Sequence[Condition], subject: str) -> str:
        """The conditions, periods and related rows last, so that they are not taken for the value of a column."""
        last = sorted(conditions, key=lambda c: isinstance(c, Within) and bool(called_period(c)))
        return "".join(f" {'and ' * bool(k)}{self._condition(c, subject)}" for k, c in enumerate(last))

    def _condition(self, c: Condition, subject: str) -> str:
        s = self._speech
        match c:
            case OneOf():
                values = " or ".join(_quoted(v) for v in c.values)
                return f"whose {s.expression(c.left, subject)} is {'not ' * c.negated}{values}"
            case Compare(right=Constant(value=v)) if isinstance(v, dt.date):
                return f"with {s.expression(c.left, subject)} {_DATED[c.operator]} {value(v)}"
            case Compare(left=Aggregate(of=None, function="count", table=t), right=Constant(value=v)) if t:
                return f"with {_MORE[c.operator]} {value(v)} {s.rows(t)}"
            case Compare(right=Scalar()):
                assert isinstance(c.right, Scalar)
                inner = c.right.of
                figure = f"{s.expression(inner.show[0], subject)}{self._said(inner.where, subject)}"
                return f"with {s.expression(c.left, subject)} {_MORE[c.operator]} the {figure}"
            case Compare():
                return f"with {s.expression(c.left, subject)} {_MORE[c.operator]} {s.expression(c.right, subject)}"
            case Like():
                text = c.pattern.strip("%")
                how = (
                    "contains"
                    if c.pattern.startswith("%") and c.pattern.endswith("%")
                    else ("ends with" if c.pattern.startswith("%") else "starts with")
                )
                return f"whose {s.expression(c.left, subject)} {'not ' * c.negated}{how} '{text}'"
            case Missing():
                return f"{'with' if c.negated else 'without'} {s.expression(c.left, subject)}"
            case Within():
                return self._within(c, subject)
            case Related():
                return f"{'without' if c.negated else 'with'} {s.rows(c.to)}{self._said(c.where, c.to)}"
            case Among():
                return self._among(c, subject)
            case Either():
                return " or ".join(self._condition(x, subject) for x in c.of)
            case All():
                return " and ".join(self._condition(x, subject) for x in c.of)

    def _within(self, c: Within, subject: str) -> str:
        left = self._speech.expression(c.left, subject)
        if left.endswith("ed") and not c.negated and called_period(c):  # `products added in 2024`
            return f"{left} in {called_period(c)}"
        if period := called_period(c):
            on = "on" if len(period) == 10 else "in"
            return f"{'not ' * c.negated}with {left} {on} {period}"
        return f"with {left} {'not ' * c.negated}between {value(c.low)} and {value(last_day(c))}"

    def _among(self, c: Among, subject: str) -> str:
        """Rows among those of a subquery: its conditions, or the first rows of its order."""
        inner = c.of
        table = next(iter(inner.tables), subject)
        if inner.order and inner.limit:
            first = "highest" if inner.order[0].descending else "lowest"
            figure = self._speech.expression(inner.order[0].by, table)
            return f"of the {self._speech.table(table)} with the {first} {figure}"
        return f"{'not ' * c.negated}{self._conditions(inner, table).strip()}"

    def _order(self, p: Select, subject: str) -> str:
        if not p.order:
            return ""
        o = p.order[0]
        by = self._figure(o.by, subject)
        return f" sorted by {by} in {'descending' if o.descending else 'ascending'} order"


def _quoted(v: object) -> str:
    """A value as it stands in a question: in quotes unless it is a number or plain words."""
    text = value(v)
    plain = text.replace(" ", "").replace("-", "").isalnum()
    return text if plain else f'"{text}"'
