"""Disambiguation: the column or stored value that a mention means, among all candidates for its words.

In: a linked question, and what was read so far: the tables named as entities and the expressions shown. Out: a choice
by score, nearness in the question and distance in the join graph, with its doubts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import ColumnKey, Expression
from agent.parser.question import ALMOST, LinkedQuestion
from agent.parser.units import UNITS
from eval.language.lexicon import word_set

_CLOSE = 0.3
"""Columns whose score is lower by at most this much are offered as the next best reading."""
_OWNED = 0.2
"""The nearness from which on a bare `name` is that of a table."""
_FARTHEST = 8
"""The distance of a table that no key reaches."""
_SIBLING = 0.1
"""The bonus that a column named nearby gives to the tables that contain it: columns listed together usually share a
table."""


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column, and how certain its choice is."""

    column: ColumnWord
    close: bool = False
    """Another column is nearly as good."""
    doubts: tuple[str, ...] = ()


def near_tables(q: LinkedQuestion, i: int, entities: Sequence[str], shown: Sequence[Expression]) -> dict[str, float]:
    """Tables named around item i, with the scores for their nearness."""
    near = dict.fromkeys(q.named, 0.15)
    if q.sort(i - 1) == "table":
        near[q.table_of(i - 1)] = 0.4
    if i > 1 and q.items[i - 1].lower == "'s" and q.sorts[i - 2] == "table":
        near[q.table_of(i - 2)] = 0.4
    owner = owner_after(q, i)
    if owner:
        near[owner] = max(near.get(owner, 0.0), 0.3)
    for j, table in q.rows_named:
        if j != i:
            near[table] = max(near.get(table, 0.0), 0.1)
    for table in _tables_of_siblings(q, i):
        near[table] = near.get(table, 0.0) + _SIBLING
    if entities and i and q.items[i - 1].lower.split()[-1] in ("their", "its", "his", "her"):
        whose = next((e.tables[0] for e in shown if e.tables), entities[0])
        near[whose] = max(near.get(whose, 0.0), 0.35)
    for e in shown[-3:]:
        if e.column is not None:
            near[e.column[0]] = max(near.get(e.column[0], 0.0), 0.18)
    if entities:
        near[entities[-1]] = max(near.get(entities[-1], 0.0), 0.22)
        near[entities[0]] = max(near.get(entities[0], 0.0), 0.2)
    return near


def owner_after(q: LinkedQuestion, i: int) -> str:
    """`name of the customer`: the table that the words after item i name as its owner."""
    for j in range(i + 1, min(len(q.items), i + 12)):
        if q.sorts[j] == "table":
            between = q.items[i + 1 : j]
            counted = all(x.number is not None for x in between)  # `the latest 5 orders`
            owned = counted or any(x.lower in ("of", "for", "from", "in") for x in between)
            return q.table_of(j) if owned else ""
        if q.items[j].is_keyword("relative", "cmp", "cmp_adj", "sup", "neg", "order"):
            return ""
    return ""


def _tables_of_siblings(q: LinkedQuestion, i: int) -> Iterator[str]:
    """Tables that contain the columns named next to item i."""
    for j in range(max(0, i - 4), min(len(q.items), i + 5)):
        sibling = q.items[j].mention
        if j == i or q.sorts[j] != "column" or sibling is None or sibling.columns[0][1] < 0.85:
            continue
        holders = {c.table for c, s in sibling.columns if s >= sibling.columns[0][1] - 0.02}
        if len(holders) <= 2:
            yield from holders


PAID = word_set("cost purchase previous old")
"""Words of prices that are paid rather than asked: `the dearest parts` are those with the highest price to sell."""


def choose_column(
    q: LinkedQuestion, i: int, wanted: str, entities: Sequence[str], shown: Sequence[Expression]
) -> ColumnChoice:
    """The column that a mention most likely means here; `wanted` may be `number`."""
    mention = q.mention(i)
    near = near_tables(q, i, entities, shown)
    if q.items[i].lower in ("id", "ids", "identifier", "identifiers", "'s id") and near:
        owner = max(near, key=lambda t: near[t])
        key = q.vocabulary.key_column(owner)
        if near[owner] >= 0.2 and key is not None:
            return ColumnChoice(key)
    if q.verb_cost(i):
        prices = [c for t in near for c in q.vocabulary.by_table[t] if c.words[-1] == "price" and c.numeric]
        if prices:
            return ColumnChoice(max(prices, key=lambda c: near[c.table]))
    follows = _value_after(q, i)
    if follows:
        holding = [pair for pair in mention.columns if pair[0].key in follows]
        if holding:
            return _best_column(q, holding, near, wanted, shown)
    if q.items[i].lower in ("name", "names") and near:
        owner = max(near, key=lambda t: near[t])
        pair = q.vocabulary.name_columns(owner)
        if near[owner] >= _OWNED and len(pair) > 1:  # people with a first and a last name
            return ColumnChoice(pair[0])
    return _best_column(q, mention.columns, near, wanted, shown)


def _value_after(q: LinkedQuestion, i: int) -> set[ColumnKey]:
    """The columns in which the value that follows item i is stored."""
    for j in range(i + 1, min(len(q.items), i + 5)):
        mention = q.items[j].mention
        if q.sorts[j] in ("value", "literal") and mention is not None:
            return mention.stored_in
        if q.sorts[j] in ("table", "column", "number", "sign"):
            return set()
    return set()


def _best_column(
    q: LinkedQuestion,
    candidates: Sequence[tuple[ColumnWord, float]],
    near: dict[str, float],
    wanted: str,
    shown: Sequence[Expression],
) -> ColumnChoice:
    anchors = list(dict.fromkeys([*q.named, *(e.column[0] for e in shown if e.column)]))
    said = {t.text for t in q.tokens}

    def worth(pair: tuple[ColumnWord, float]) -> float:
        column, score = pair
        total = score + near.get(column.table, 0.0) + 0.3 * bool(numbers_of(column) & said)
        if anchors and column.table not in anchors:
            total -= 0.07 * min(min(q.graph.distance(column.table, a) for a in anchors), _FARTHEST)
        if column.foreign and not column.primary:
            total -= 0.05
        if q.vocabulary.tables[column.table].table.kind == "view":
            total -= 0.15
        if q.vocabulary.tables[column.table].bridge:
            total -= 0.02
        total += 0.04 * ("total" in column.words) - 0.02 * bool(PAID & set(column.words))  # `price`, `amount`
        if wanted == "number" and not column.numeric:
            total -= 0.3
        if wanted == "number" and column.role == "id":
            total -= 0.3
        return total

    ranked = sorted(candidates, key=worth, reverse=True)
    ranked = [pair for pair in ranked if ("column", pair[0].key) not in q.avoid] or ranked
    (column, score), best = ranked[0], worth(ranked[0])
    rival = ranked[1] if len(ranked) > 1 else None
    close = rival is not None and worth(rival) > best - _CLOSE and rival[1] > score - ALMOST
    doubts = ["column_ambiguous"] if rival is not None and worth(rival) > best - 0.03 else []
    if score < 0.75 and not (column.foreign and len(column.words) == 2):  # `salesperson` for `salesperson_id`
        doubts.append("column_partial")
        close_units = rival is not None and column.is_figure and column.words[-1] == rival[0].words[-1] in UNITS
        if close_units and "column_ambiguous" in doubts:
            doubts.append("measure_ambiguous")  # `total kg` of `feed_kg` and `bedding_kg`
    alike = [c for c, _ in candidates if c.is_figure and c.table == column.table and _bare(c) == _bare(column)]
    if column.is_figure and len(alike) > 1 and sum(bool(numbers_of(c) & said) for c in alike) != 1:
        doubts.append("measure_ambiguous")  # `total visits` of `visits_2023` and `visits_2024`
    return ColumnChoice(column, close, tuple(doubts))


def numbers_of(column: ColumnWord) -> set[str]:
    """The numbers in a column's name (`visits_2024`), which tell it from others of its kind."""
    return {word for word in column.words if word.isdigit()}


def _bare(column: ColumnWord) -> list[str]:
    return [word for word in column.words if not word.isdigit()]


def choose_value(
    q: LinkedQuestion,
    hits: Sequence[ValueHit],
    near: dict[str, float],
    column: ColumnWord | None,
    shown: Sequence[Expression],
) -> tuple[ValueHit, bool]:
    """The column in which a value is meant, and whether another one holds it too."""
    anchors = [*q.named, *(e.column[0] for e in shown if e.column)]

    def worth(hit: ValueHit) -> float:
        total = hit.score
        if column is not None and (hit.table, hit.column) == column.key:
            total += 1.0
        elif column is not None and hit.column == column.name:
            total += 0.3
        total += near.get(hit.table, 0.0)
        if anchors and hit.table not in anchors:
            total -= 0.08 * min(min(q.graph.distance(hit.table, a) for a in anchors), _FARTHEST)
        word = q.vocabulary.columns.get((hit.table, hit.column))
        if word is not None:
            total += {"name": 0.06, "id": -0.05}.get(word.role, 0.0)
            total -= 0.03 if word.foreign else 0.0
        return total

    allowed = [h for h in hits if ("value", h.table, h.column) not in q.avoid] or list(hits)
    best = max(allowed, key=worth)
    return best, len({(h.table, h.column) for h in allowed}) > 1
