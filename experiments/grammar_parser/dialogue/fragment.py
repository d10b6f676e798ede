"""A follow-up as the grammar reads it: going on from the rows of the plan before, it leaves pieces of a plan.

In: the linked question, the plan before, a way to make a context. Out: a `Fragment`: the state that the words lead to
from a state that knows only the earlier rows, so that columns, values and periods are looked for near these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.language.lexicon import word_set
from eval.language.tokens import Token
from experiments.grammar_parser.dialogue.links import Links
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.search import derivations
from experiments.grammar_parser.grammar.state import Entity, State, Waiting, initial
from experiments.grammar_parser.plan.algebra import Column, Expression, OneOf, Select, tables_of, walk

Maker = Callable[[Sequence[Token]], Context]
"""Makes the context of tokens, for one schema."""
_OWNERS = word_set("their its his her")


@dataclass(frozen=True)
class Fragment:
    """The pieces of one follow-up."""

    links: Links
    context: Context
    state: State
    head: str
    """The table whose rows the plan before is about."""

    @property
    def new_tables(self) -> tuple[str, ...]:
        return self.state.tables

    def waits(self, kind: str) -> Waiting | None:
        return self.state.waits(kind)

    @property
    def direction(self) -> str:
        """`asc` or `desc`, where the words only turn an order."""
        found = [x for items in self.context.lattice.at for x in items if x.kind == "dir"]
        found += [
            x for items in self.context.lattice.at for x in items if x.kind == "order" and x.argument in ("asc", "desc")
        ]
        if found:
            return "asc" if found[0].argument in ("asc", "alpha", "old") else "desc"
        return "desc" if {"reverse", "reversed"} & set(self.links.words) else ""

    @property
    def misses_owner(self) -> bool:
        """`their emails`: words that say whose, read without any column."""
        owned = bool(_OWNERS & set(self.links.words))
        return owned and not self.state.show and not self.state.order and not self.state.group

    @property
    def half_said(self) -> bool:
        """`the most expensive`, read as `expensive` with a `most` that found nothing."""
        return bool(self.state.order) and self.state.waits("sup") is not None

    @property
    def superlative(self) -> tuple[str, int | None] | None:
        """`asc` or `desc` and the number of rows, of a superlative that nothing was found for."""
        waiting = self.state.waits("sup") or self.state.waits("ranked")
        if waiting is not None:
            return waiting.argument, int(waiting.number) if waiting.number else None
        said = [x for items in self.context.lattice.at for x in items if x.kind == "sup"]
        return (said[0].argument, None) if said and not self.state.productions()[2:] else None

    @property
    def figure_first(self) -> bool:
        """`for each of those, what is the average age?`: the sentence asks for the figure."""
        words = self.links.words
        return "each" in self.links.kinds or ("each" in words[:2] and any(w in words for w in ("what", "how")))

    @property
    def number(self) -> int | None:
        """The only number of the words."""
        numbers = [t.number for t in self.links.body if isinstance(t.number, int)]
        return numbers[0] if len(numbers) == 1 else None

    def names(self, table: str) -> tuple[Expression, ...]:
        named = self.context.vocabulary.name_columns(table)
        key = self.key(table)
        return tuple(Column(*n.key) for n in named) or ((key,) if key else ())

    def key(self, table: str) -> Column | None:
        key = self.context.vocabulary.key_column(table)
        return Column(*key.key) if key is not None else None


def subject(plan: Select) -> str:
    """The table whose rows a plan is about."""
    named = [t for e in plan.show for t in tables_of(e)]
    return next(iter((*plan.tables, *named)), "")


def fragments(linked: Links, before: Select, make: Maker) -> list[Fragment]:
    """The likeliest readings of the words as a follow-up, those that leave out fewest words first."""
    tokens = linked.body
    waiting: tuple[Waiting, ...] = ()
    if tokens and tokens[0].lower == "by" and not (len(tokens) > 1 and tokens[1].lower in ("each", "different")):
        waiting = (Waiting("group", "by", 0, 1),)
        tokens = tokens[1:]
    if not tokens:
        return []
    context = make(tokens)
    head = subject(before)
    start = _start(before, head, linked, context, waiting)
    if _only_ranks(context):
        return [Fragment(linked, context, start, head)]
    found = [Fragment(linked, context, s, head) for s in derivations(context, start=start)[:8]]
    return sorted(found, key=lambda f: (len(f.state.missed), f.misses_owner or f.half_said))


_RANKS = ("sup", "dir", "order", "number")
_PLACES = word_set("first last second third fourth fifth next reverse reversed order one ones top bottom")


def _only_ranks(context: Context) -> bool:
    """`top 3`, `the second one`, `highest first`: words that only order or cut the rows."""
    lattice = context.lattice
    dated = {i for items in lattice.at for x in items if x.kind == "period" for i in range(x.start, x.end)}
    if any(x.kind in ("cmp", "post") for items in lattice.at for x in items):
        return False
    covered = {i for items in lattice.at for x in items if x.kind in _RANKS for i in range(x.start, x.end)} - dated
    rest = [i for i, content in enumerate(lattice.content) if content and i not in covered]
    rest = [i for i in rest if lattice.words[i] not in _PLACES]
    return bool(covered or set(lattice.words) & _PLACES) and not rest and "order" not in lattice.words[:1]


def _start(before: Select, head: str, linked: Links, context: Context, waiting: tuple[Waiting, ...]) -> State:
    last = next((n.left for n in walk(before.where) if isinstance(n, OneOf) and isinstance(n.left, Column)), None)
    showing = (linked.asks or "add" in linked.kinds) and not linked.tied
    start = initial().but(
        "earlier rows", 0, 0, 0.0, head=head, focus=head, tables=before.tables or (head,), waiting=waiting
    )
    changes: dict[str, object] = {}
    if last is not None and not showing and not waiting:
        changes["last"] = context.vocabulary.columns.get(last.key)
    if linked.tied and not waiting:
        changes["phase"] = "restrict"
    return start.but("earlier rows", 0, 0, 0.0, **changes)


def entities(state: State) -> tuple[str, ...]:
    return tuple(e.table for e in state.show if isinstance(e, Entity))
