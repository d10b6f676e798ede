"""Vague questions: `big european cars`, `best products`: answered by the likeliest measure, which is named.

In: a reading after its pass. Out: an order and a limit, with what was assumed and what else may be meant.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Expression
from agent.parser.measures import property_of
from agent.parser.question import LinkedQuestion
from agent.parser.state import Finding, ReadingState
from eval.language.lexicon import adjectives, word_set

_MOST = 10
"""The rows that a vague word selects."""
_DESCRIBED = ("table", "value", "qualifier", "column")
_BEST = word_set("rating score stars profit revenue sales sale win wins point points")
"""Words of figures by which things are good or bad, the likeliest first."""
_HARM = word_set(
    "death case loss accident crime casualty injury victim delay error complaint damage fine refund return"
)
"""Words of figures of which the highest is the worst."""
_GOOD = {"best": True, "top": True, "worst": False, "bottom": False}


def vague(q: LinkedQuestion, r: ReadingState) -> Finding:
    """The order that a vague word of the question asks for."""
    query = r.query
    if query.order or query.group or query.within or query.aggregates() or r.functions or r.counting or r.groups:
        return Finding()
    for k, item in enumerate(q.items):
        good = _GOOD.get(item.lower)
        if good is not None and query.limit is not None and r.main_entity:
            return _by_likeliest(q, r, k, good)
        adjective, degree = adjectives().get(item.lower, (None, ""))
        if degree == "base" and adjective and item.kind == "word" and q.sort(k + 1) in _DESCRIBED:
            found = property_of(q, r, adjective, k)
            if found is not None and query.limit is None and found[0].role == "number":
                column, sign = found
                return _assumed(r, k, column, sign > 0, f"the {_MOST} with the {_end(sign > 0)} {column.name}")
    return Finding()


def _by_likeliest(q: LinkedQuestion, r: ReadingState, k: int, falling: bool) -> Finding:
    """`best products`: by a rating, a profit, or the first figure of the rows; the next two are named."""
    table = r.head_entity or r.main_entity
    figures = [c for c in q.vocabulary.by_table[table] if c.is_figure and not c.foreign]
    figures.sort(key=lambda c: not _BEST & set(c.words))
    if not figures:
        return Finding()
    falling = falling != bool(_HARM & set(figures[0].words))
    found = _assumed(r, k, figures[0], falling, f"those with the {_end(falling)} {figures[0].name}")
    others = " or ".join(c.name for c in figures[1:3])
    if others:
        r.draft.guess += f"; {others} would be another choice"
    several = q.plural(k + 1) if q.sort(k + 1) in ("table", "column") else False
    return replace(found, limit=_MOST if several and r.query.limit == 1 else r.query.limit)


def _assumed(r: ReadingState, k: int, column: ColumnWord, falling: bool, meaning: str) -> Finding:
    r.draft.doubt("wording_guessed")
    r.draft.guess = f"“{r.question.items[k].lower}” is taken as {meaning}"
    order = ((Expression(column=column.key), falling),)
    return Finding((k,), order=order, limit=_MOST, settled=("rank_open",))


def _end(falling: bool) -> str:
    return "highest" if falling else "lowest"
