"""What a doubt and a feature may look at: one reading with its derivation, the words, the joins and the rows.

In: a completed state and its context, the plans beside it, and a `Look` at the rows that plans return. Out: a `View`,
which computes once what several of them ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.joins import JoinPlan
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.draft import Completed
from experiments.grammar_parser.grammar.state import State, Step
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import Aggregate, Column, Select, tables_of, walk

_LIKELY = (
    ("period", "period"), ("value", "value"), ("rows", "table"), ("amount", "measure"), ("degree", "adjective"),
    ("column", "column"), ("", "column"),
)  # fmt: skip
"""Words of a production's name, with the kind of item that it consumes where several have the same words."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a plan's rows look like; no row itself."""

    observed: dict[str, float]
    digest: int | None
    """Equal for equal rows; None where not all rows were read."""


Look = Callable[[Select], Seen | None]
"""From a plan to what its rows look like; None where it was not run."""


@dataclass(frozen=True)
class View:
    """One reading."""

    completed: Completed
    context: Context
    rivals: tuple[Select, ...] = ()
    """The plans of the next readings that are nearly as likely, the likeliest first."""
    look: Look = field(default=lambda _: None, compare=False)

    @property
    def plan(self) -> Select:
        return self.completed.plan

    @property
    def state(self) -> State:
        return self.completed.state

    @property
    def vocabulary(self) -> Vocabulary:
        return self.context.vocabulary

    @cached_property
    def items(self) -> tuple[tuple[Step, Item], ...]:
        """The productions that consumed words, each with the item that it consumed."""
        found = []
        for step in self.state.productions():
            here = (
                [x for x in self.context.lattice.at[step.start] if x.end <= step.end] if step.end > step.start else []
            )
            if here and step.production not in ("function word", "word passed"):
                likely = next(kind for word, kind in _LIKELY if word in step.production)
                found.append(
                    (step, max(here, key=lambda x: (x.end, x.kind in step.production, x.kind == likely, x.score)))
                )
        return tuple(found)

    def said(self, *kinds: str) -> list[Item]:
        """The items of these kinds that the reading consumed."""
        return [item for _, item in self.items if item.kind in kinds]

    def heard(self, item: Item | Step) -> str:
        """The words of an item as they were asked."""
        return " ".join(t.text for t in self.context.lattice.tokens[item.start : item.end])

    @cached_property
    def nodes(self) -> tuple[object, ...]:
        """All parts of the plan, with those of its subqueries."""
        return tuple(walk(self.plan))

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return tuple(n for n in self.nodes if isinstance(n, Aggregate))

    @cached_property
    def columns(self) -> frozenset[tuple[str, str]]:
        return frozenset(n.key for n in self.nodes if isinstance(n, Column))

    @cached_property
    def shown(self) -> tuple[ColumnWord, ...]:
        """The plain columns that are shown."""
        return tuple(self.word(e) for e in self.plan.show if isinstance(e, Column))

    def word(self, column: Column) -> ColumnWord:
        return self.vocabulary.columns[column.key]

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The tables whose columns or rows the outer SELECT uses."""
        p = self.plan
        return tuple(dict.fromkeys(tables_of((p.show, p.order, p.having, p.group, p.where, p.per))))

    @cached_property
    def joins(self) -> JoinPlan | None:
        """How the tables of the outer SELECT are joined."""
        tables = list(dict.fromkeys((*self.needed, *self.plan.tables)))
        return self.context.graph.plan(tables, frozenset(tables)) if tables else None

    @cached_property
    def rows(self) -> Seen | None:
        """What the plan's rows look like."""
        return self.look(self.plan)

    def same_rows(self, other: Select) -> bool:
        """Whether another plan is known to return the same rows."""
        mine, theirs = self.rows, self.look(other)
        return mine is not None and theirs is not None and mine.digest is not None and mine.digest == theirs.digest
