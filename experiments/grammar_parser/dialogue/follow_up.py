"""The door: whether a question leans on the one before it, and what it asks with it.

In: the question, the plan before it (or the earlier turns), a way to make contexts. Out: the edited plan with its full
question; None where the question stands alone or cannot be completed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.knowledge.values import EMPTY, ValueIndex
from agent.knowledge.vocabulary import vocabulary
from agent.parser.joins import join_graph
from eval.language.tokens import Token, tokenize
from eval.schema import Schema
from experiments.grammar_parser.dialogue.edits import edited
from experiments.grammar_parser.dialogue.fragment import Fragment, Maker, fragments
from experiments.grammar_parser.dialogue.links import Links, links
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.search import derivations
from experiments.grammar_parser.grammar.state import State
from experiments.grammar_parser.link.lattice import lattice
from experiments.grammar_parser.plan.algebra import Aggregate, Select
from experiments.grammar_parser.rank.weights import weights as known_weights
from experiments.grammar_parser.reading import candidates
from experiments.grammar_parser.reply.question import asked

MAX_LENGTH = 300
"""Characters; a longer question is not a follow-up, whatever its words."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a follow-up asks."""

    plan: Select
    question: str
    """The plan as a full question."""


class Turn(Protocol):
    """One earlier turn of a conversation: the standalone question, and the statement that answered it."""

    @property
    def question(self) -> str: ...

    @property
    def sql(self) -> str: ...


def follow_up(question: str, before: Select | None, make: Maker) -> FollowUp | None:
    """The plan that a follow-up makes of the plan before it. Pure; never raises for any text."""
    if before is None or len(question) > MAX_LENGTH:
        return None
    linked = links(tokenize(question))
    if not linked.body or _stands_alone(linked, before, make):
        return None
    for fragment in fragments(linked, before, make):
        plan = edited(before, fragment)
        if plan is not None and plan.show and not _lost(fragment):
            return FollowUp(plan, asked(plan, fragment.context.vocabulary))
    return None


def _stands_alone(linked: Links, before: Select, make: Maker) -> bool:
    """Whether a question names its own subject: it points back with nothing, and asks for rows or a measure."""
    if linked.refers or linked.kinds - {"join"} or linked.tied:
        return False
    context = make(linked.body)
    named = {t for _, _, t, score in context.mentioned if score >= _FIRM}
    if linked.kinds:  # `and how many products are out of stock?`
        return linked.asks and bool(named - set(before.tables)) and len(linked.body) > 3
    best = min(derivations(context)[:4], key=lambda s: len(s.missed), default=None)
    lone = linked.words[0] == "which" and len(linked.body) > 1 and not _names(context, 1)  # `which is in Aberdeen?`
    if best is None or lone or (best.waits("sup") is not None and not best.order):  # `which airline has the most?`
        return best is None
    return bool(named) or _asks_for_itself(best, linked, context)


def _names(context: Context, at: int) -> bool:
    """Whether words that begin here, or behind one more, name a table or a column."""
    here = (x for items in context.lattice.at[at : at + 2] for x in items)
    return any(x.kind in ("table", "column", "value", "adjective") for x in here)


def _lost(f: Fragment) -> bool:
    """Whether most of the words said nothing, or ask for a share of what nobody named."""
    content = sum(f.context.lattice.content)
    missed = [i for i in f.state.missed if f.context.lattice.tokens[i].number is None]
    guessed = any(x.argument == "guess" for items in f.context.lattice.at for x in items)
    return f.waits("share") is not None or 2 * len(missed) > content or (guessed and not f.links.points_back)


_FIRM = 0.8
"""The score from which words name a table."""


def _asks_for_itself(state: State, linked: Links, context: Context) -> bool:
    """`total revenue in 2025`, `what is the price of tea?`: a measure, a figure with its group or period, or a
    column of rows that a value names."""
    if any(x.kind == "measure" for items in context.lattice.at for x in items):
        return True
    told = bool(state.where or state.group or state.order) and len(linked.body) > 3
    figures = any(isinstance(e, Aggregate) and e.of is not None for e in state.show)
    return told and bool(state.show) and (figures or linked.asks)


def restate(question: str, earlier: Sequence[Turn], schema: Schema, values: ValueIndex = EMPTY) -> str | None:
    """The question in its standalone form; None when it needs no earlier turn, or when it cannot be completed.

    Only the last turn of `earlier` is used, so pass standalone questions.
    """
    if not earlier or not schema.tables or len(earlier[-1].question) > 4 * MAX_LENGTH:
        return None
    read, _ = candidates(earlier[-1].question, schema, values)
    found = follow_up(question, read[0].plan if read else None, maker(schema, values))
    return found.question if found is not None else None


def maker(schema: Schema, values: ValueIndex, today: dt.date | None = None) -> Maker:
    """Makes the contexts of one schema."""
    words, day = vocabulary(schema, values.date_forms), today or dt.date.today()

    def make(tokens: Sequence[Token]) -> Context:
        return Context(lattice(tokens, words, values, day), words, join_graph(words), values, day, known_weights())

    return make
