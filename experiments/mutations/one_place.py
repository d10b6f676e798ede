"""Gold changed in one place that the question speaks of: ten kinds of plain mistakes that a judge has to refuse.

In: a gold query's tree, its schema, and a look-up of the values that a column stores. Out: changed copies with the name
of the change. A mutant may mean the same as gold, so callers compare the rows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from eval.schema import Schema
from eval.sql.traversal import output_select

Stored = Callable[[str, str], tuple[str, ...]]
"""(table, column) → some texts that the column stores."""
_DATE = re.compile(r"(1[89]|20)\d\d(?=-|$)")
_FLIPPED: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
_AGGREGATES: tuple[type[exp.Func], ...] = (exp.Avg, exp.Sum, exp.Max, exp.Min)


@dataclass(frozen=True, slots=True)
class _Place:
    schema: Schema
    stored: Stored
    dice: random.Random

    def one(self, nodes: Iterator[exp.Expr]) -> exp.Expr | None:
        found = list(nodes)
        return self.dice.choice(found) if found else None

    def owner(self, tree: exp.Expr, column: exp.Column) -> str | None:
        """The table of the query that has the column; None where several may be meant."""
        tables = [t for t in tree.find_all(exp.Table) if not column.table or t.alias_or_name == column.table]
        names = {t.name for t in tables if (known := self.schema.table(t.name)) and known.column(column.name)}
        return names.pop() if len(names) == 1 else None


def one_place_mutants(
    tree: exp.Expr, schema: Schema, stored: Stored, dice: random.Random
) -> Iterator[tuple[str, exp.Expr]]:
    """One mutant of each kind that applies, as (kind, tree); the given tree is not changed."""
    place = _Place(schema, stored, dice)
    for kind, change in CHANGES.items():
        changed = tree.copy()
        if change(changed, place) and changed != tree:
            yield kind, changed


def _limit_added(tree: exp.Expr, place: _Place) -> bool:
    if not isinstance(tree, exp.Select) or tree.args.get("limit"):
        return False
    tree.limit(place.dice.choice((1, 2, 3, 5, 10)), copy=False)
    return True


def _filter_added(tree: exp.Expr, place: _Place) -> bool:
    select = output_select(tree)
    source = select.args.get("from_") if select is not None else None
    table = place.schema.table(source.this.name) if source is not None else None
    if select is None or source is None or table is None:
        return False
    columns = list(table.columns)
    place.dice.shuffle(columns)
    for column in columns:
        values = place.stored(table.name, column.name)
        if len(values) > 1:
            cell = exp.column(exp.to_identifier(column.name, quoted=True), table=source.this.alias_or_name)
            select.where(exp.EQ(this=cell, expression=exp.Literal.string(place.dice.choice(values))), copy=False)
            return True
    return False


def _condition_dropped(tree: exp.Expr, place: _Place) -> bool:
    both = place.one(a for a in tree.find_all(exp.And) if a.find_ancestor(exp.Join) is None)
    if both is not None:
        both.replace(place.dice.choice((both.this, both.expression)))
        return True
    where = place.one(tree.find_all(exp.Where))
    return where is not None and where.pop() is not None


def _column_dropped(tree: exp.Expr, place: _Place) -> bool:
    if not isinstance(tree, exp.Select) or len(tree.expressions) < 2:
        return False
    tree.expressions.pop(place.dice.randrange(len(tree.expressions)))
    return True


def _year_shifted(tree: exp.Expr, place: _Place) -> bool:
    """Every constant of that year, so that a range stays a range."""
    dated = [n for n in tree.find_all(exp.Literal) if _DATE.match(n.name)]
    if not dated:
        return False
    step = place.dice.choice((-1, 1))
    for node in dated:
        written = str(int(node.name[:4]) + step) + node.name[4:]
        node.replace(exp.Literal.string(written) if node.is_string else exp.Literal.number(written))
    return True


def _number_changed(tree: exp.Expr, place: _Place) -> bool:
    apart = (exp.Limit, exp.Offset, exp.Interval, exp.DataType)
    node = place.one(
        n
        for n in tree.find_all(exp.Literal)
        if not n.is_string and not _DATE.fullmatch(n.name) and isinstance(n.parent, exp.Predicate | exp.In)
        and n.find_ancestor(*apart) is None and n.parent.find(exp.Column, exp.Count) is not None
    )  # fmt: skip
    if node is None:
        return False
    number = float(node.name)
    changed = number * 2 + 3 if place.dice.random() < 0.5 else number + max(2, round(number / 10))
    node.replace(exp.Literal.number(f"{changed:g}" if changed < 1e6 else f"{changed:.0f}"))
    return True


def _value_changed(tree: exp.Expr, place: _Place) -> bool:
    compared = [e for e in tree.find_all(exp.EQ) if isinstance(e.this, exp.Column)]
    place.dice.shuffle(compared)
    for node in compared:
        literal, table = node.expression, place.owner(tree, node.this)
        if isinstance(literal, exp.Literal) and literal.is_string and table is not None:
            others = [v for v in place.stored(table, node.this.name) if v.casefold() != literal.name.casefold()]
            if others:
                literal.replace(exp.Literal.string(place.dice.choice(others)))
                return True
    return False


def _aggregate_swapped(tree: exp.Expr, place: _Place) -> bool:
    node = place.one(a for a in tree.find_all(*_AGGREGATES) if isinstance(a.this, exp.Column))
    if node is None:
        return False
    node.replace(place.dice.choice([a for a in _AGGREGATES if not isinstance(node, a)])(this=node.this))
    return True


def _comparison_flipped(tree: exp.Expr, place: _Place) -> bool:
    node = place.one(n for n in tree.find_all(*_FLIPPED) if n.find(exp.Column, exp.Count) is not None)
    if node is None:
        return False
    node.replace(_FLIPPED[type(node)](this=node.this, expression=node.expression))
    return True


def _order_flipped(tree: exp.Expr, place: _Place) -> bool:
    node = place.one(tree.find_all(exp.Ordered))
    if node is None:
        return False
    node.set("desc", not node.args.get("desc"))
    return True


CHANGES: dict[str, Callable[[exp.Expr, _Place], bool]] = {
    "LIMIT added": _limit_added,
    "filter added": _filter_added,
    "condition dropped": _condition_dropped,
    "listed column dropped": _column_dropped,
    "year shifted": _year_shifted,
    "number changed": _number_changed,
    "another stored value": _value_changed,
    "aggregate swapped": _aggregate_swapped,
    "comparison flipped": _comparison_flipped,
    "order flipped": _order_flipped,
}
"""By kind; each changes the tree in place and says whether it did."""
