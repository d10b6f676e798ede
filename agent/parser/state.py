"""The state of one reading: the question's items with their meanings, and the clauses read so far.

In: tokens and items of a question, its schema's vocabulary and join graph, the value index. The clause rules receive
this state with the position of an item and add to it; `reader` calls them in order. The state knows no rule.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.disambiguation import Disambiguator
from agent.parser.interpretation import Clause, ColumnKey, Condition, Expression, Function, Membership
from agent.parser.joins import JoinGraph
from agent.parser.mentions import Item
from eval.language.tokens import Token


class ReadingState(Disambiguator):
    """The parts of a question that have been read so far."""

    def __init__(
        self,
        tokens: Sequence[Token],
        items: Sequence[Item],
        vocabulary: Vocabulary,
        graph: JoinGraph,
        values: ValueIndex,
        today: dt.date,
        avoid: frozenset[object] = frozenset(),
    ) -> None:
        super().__init__(tokens, items, vocabulary, graph, values, today, avoid)
        self.at = 0
        self.in_head = True
        self.consumed: set[int] = set()
        self.functions: list[Function] = []
        self.counting = ""
        self.distinct = False
        self.grouping = False
        self.negated = False
        self.excepting = False
        self.either = False
        self.both = False
        self.or_next = False
        self.share = False
        self.groups: list[tuple[str, object]] = []
        self.head_entity: str | None = None
        self.last_column: tuple[int, ColumnWord] | None = None
        self.last_clause: list[Condition] | None = None
        self.value_column: tuple[int, ColumnWord] | None = None
        self.star = False
        self.waiting_direction = ""
        self.ranked_by = False
        self.last_functions: list[Function] = []
        self.verb_measure: Expression | None = None
        self.sink: list[Clause] = self.query.where
        self.denied_column: ColumnKey | None = None
        self.empty_too = False
        self.figure_ranked = False

    @property
    def main_entity(self) -> str:
        """The table whose rows the question is about; empty while unknown."""
        shown = [e.tables[0] for e in self.query.select if e.tables]
        return self.entities[0] if self.entities else (shown[0] if shown else "")

    def use(self, i: int) -> None:
        """Mark an item as explained."""
        self.consumed.add(i)
        self.draft.used.update(range(self.items[i].start, self.items[i].end))

    def entity(self, table: str) -> None:
        """Remember a table that the question names; inside `without …` it only names the absent rows."""
        if table not in self.entities and self.sink is self.query.where:
            self.entities.append(table)

    def absent(self, table: str) -> None:
        """`without orders`: the conditions that follow restrict the absent rows."""
        where: list[Clause] = []
        self.query.where.append((Membership(self.main_entity, table, where, True),))  # type: ignore[arg-type]
        self.sink = where
        self.negated = False

    def many(self, table: str) -> bool:
        """Whether the entity may have several rows of this table."""
        return self.many_of(self.main_entity, table)

    def many_of(self, one: str, other: str) -> bool:
        """Whether a row of one table may have several of the other."""
        plan = self.graph.plan([one, other])
        return plan is not None and plan.multiplies(one)
