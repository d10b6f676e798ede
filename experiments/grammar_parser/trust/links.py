"""Doubts about links: which table, column, value or join is meant, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from agent.knowledge.vocabulary import ColumnWord
from eval.language.inflection import root
from eval.language.lexicon import word_set
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    Compare,
    DatePart,
    Elapsed,
    OneOf,
    Order,
    Within,
    walk,
)
from experiments.grammar_parser.trust.registry import DOUBTFUL, OPEN, Choice, Finding, doubt
from experiments.grammar_parser.trust.view import View

_FIRM = 0.9
"""The score of a link from which a name is certain."""


@doubt("similar_word", DOUBTFUL)
def _similar(view: View) -> Iterator[Finding]:
    """A word that names nothing, taken for one of a similar meaning; a misspelling is no other word."""
    for item in view.said("table", "column"):
        heard, verb = view.heard(item), any(x.kind == "verb" for x in view.context.lattice.at[item.start])
        column = next((c for c, _ in item.columns if c.key in view.columns), None)
        known = column or view.vocabulary.tables.get(item.table if item.tables else "")
        if item.argument != "guess" or known is None or verb:
            continue
        if all(SequenceMatcher(None, heard.casefold().rstrip("s"), w).ratio() < 0.8 for w in known.words):
            yield Finding(f"“{heard}” is taken as {known.name}; ask with the name that you mean if not", word=heard)


@doubt("column_unused", DOUBTFUL)
def _without_effect(view: View) -> Iterator[Finding]:
    """A word that was taken for a column or a value of which the plan holds nothing."""
    used = {*view.needed, *view.plan.tables}
    for step, item in view.items:
        held = {c.key for c, _ in item.columns} | {(h.table, h.column) for h in item.values}
        shown = any(c.table in used and c.role in ("id", "name") for c, _ in item.columns)
        if item.kind in ("column", "value") and "column" in step.production and not (held & view.columns or shown):
            heard = view.heard(item)
            yield Finding(f"“{heard}” is in no part of the answer; ask with the name that you mean", word=heard)


@doubt("value_fuzzy", DOUBTFUL)
def _fuzzy(view: View) -> Iterator[Finding]:
    held = {str(v) for n in view.nodes if isinstance(n, OneOf) for v in n.values}
    for item in view.said("value"):
        hit = next((h for h in item.values if h.value in held), None)
        if hit is not None and hit.score < 0.85:
            heard = view.heard(item)
            yield Finding(f"“{heard}” is taken as the stored value “{hit.value}” of {hit.column}; write the value in "
                          "quotes if not", word=heard)  # fmt: skip


@doubt("literal_unknown", DOUBTFUL)
def _unknown(view: View) -> Iterator[Finding]:
    for step in (s for s, _ in view.items if s.production == "text not stored"):
        yield Finding(f"no row of this column holds “{view.heard(step)}”", word=view.heard(step))


def _rival(name: str, *roles: str) -> None:
    """Register the doubt that another column of such a role may be meant, if it gives other rows."""

    @doubt(name, DOUBTFUL, rests_on_choices=True)
    def check(view: View) -> Iterator[Finding]:
        mine = {n for n in view.nodes if isinstance(n, Column)}
        for rival in view.rivals[:3]:
            theirs = {n for n in walk(rival) if isinstance(n, Column)}
            gone, come = [view.word(c) for c in mine - theirs], [view.word(c) for c in theirs - mine]
            if (
                len(gone) == len(come) == 1
                and gone[0].role in roles
                and come[0].role in roles
                and _open(view, gone[0], come[0])
            ):
                apart = gone[0].table != come[0].table
                used, instead = (f"{c.table}.{c.name}" if apart else c.name for c in (gone[0], come[0]))
                yield Finding(f"{used} is used; {instead} would be another choice", (Choice(rival, instead),))
                return


def _open(view: View, used: ColumnWord, rival: ColumnWord) -> bool:
    """Whether the words leave open which of two columns is meant: they tell them not apart, and the used one is not the
    date of its own table (`order_date` of orders), nor are both names that rows are shown by."""
    said = {root(t.lower) for t in view.context.lattice.tokens}
    apart = {root(w) for w in used.words} - {root(w) for w in rival.words}
    natural = used.role == "date" and {*used.words} - {"date", "time"} <= {*used.owner}
    named = {c.key for c in view.vocabulary.name_columns(used.table)} >= {used.key, rival.key}
    return not (apart & said or natural or named)


_rival("date_ambiguous", "date", "year")
_rival("measure_ambiguous", "number")
_rival("column_context", "id", "name", "flag", "text")


# -- joins ---------------------------------------------------------------------------------------------------------


@doubt("join_by_chance", DOUBTFUL)
def _by_chance(view: View) -> Iterator[Finding]:
    for table, edge in view.joins.steps if view.joins is not None else ():
        if edge.chance:
            yield Finding(
                f"{edge.other(table)} and {table} are joined by {edge.left_columns[0]}, which nothing declares"
            )


@doubt("route_open", DOUBTFUL)
def _two_routes(view: View) -> Iterator[Finding]:
    """`carers of clients in York`, whom both visits and care plans link, and neither is named."""
    named, graph = sorted({*view.needed, *view.plan.tables}), view.context.graph
    for one, other in ((a, b) for a in named for b in named if a < b and not graph.between(a, b)):
        links = set(graph.referring(one)) & set(graph.referring(other))
        if len(links) > 1 and not links & set(named):
            paths = " and ".join(view.vocabulary.tables[t].plural for t in sorted(links)[:3])
            yield Finding(f"several tables link what you name ({paths}); name the one that is meant")


@doubt("idle_table", DOUBTFUL)
def _joins_for_nothing(view: View) -> Iterator[Finding]:
    """`members of the club`, where a club is taken for a team: its table only drops the members without one."""
    joins = view.context.graph.plan(list(view.needed), frozenset(view.needed)) if view.needed else None
    idle = set(view.plan.tables) - {*view.needed, *(joins.tables if joins is not None else ())}
    for item in view.said("table"):
        if item.table in idle and item.score < _FIRM:
            heard = view.heard(item)
            yield Finding(
                f"only rows with {item.table} are kept, for “{heard}”; leave that word out if not meant", word=heard
            )


# -- what is shown -------------------------------------------------------------------------------------------------

_YES_OR_NO = word_set("is are was were do does did has have can")
_OF_TIME = word_set("when date time day year month week hour deadline birthday period timestamp moment")


@doubt("only_named_value_shown", OPEN)
def _shows_what_was_named(view: View) -> Iterator[Finding]:
    """`what did Ada do` read as the name of those called Ada."""
    p = view.plan
    fixed = {c.left for c in p.where if isinstance(c, OneOf) and len(c.values) == 1 and not c.negated}
    if p.show and p.combine is None and view.context.lattice.words[0] not in _YES_OR_NO and fixed >= set(p.show):
        yield Finding("the answer would only repeat what the question names")


@doubt("only_dates_shown", OPEN)
def _shows_only_dates(view: View) -> Iterator[Finding]:
    """`invoices issued in May` read as the dates of issue, `number of bookings` as the number of different days."""
    p, lemmas = view.plan, {t.lemma for t in view.context.lattice.tokens}
    inner = [e.of if isinstance(e, Aggregate) and e.function == "count" else e for e in p.show]
    dates = [view.word(e) for e in inner if isinstance(e, Column) and view.word(e).role == "date"]
    asked = bool(lemmas & _OF_TIME) or any(d.words[-1] in lemmas for d in dates)
    if dates and not asked and len(dates) == len(p.show) and p.group in ((), p.show):
        yield Finding("only dates would be shown")


@doubt("date_as_text", OPEN)
def _text_dates(view: View) -> Iterator[Finding]:
    """The order of dates that are stored as text in a form that is not known."""
    for column in dict.fromkeys(_dates_compared(view)):
        known = view.context.values.values(*column.key)[:20]
        if known and not view.word(column).form and not all(_iso(v.strip()) for v in known):
            yield Finding(f"{column.name} holds dates as text whose order is not that of time")


def _dates_compared(view: View) -> Iterator[Column]:
    for node in view.nodes:
        parts: tuple[object, ...] = ()
        match node:
            case Order():
                parts = (node.by,)
            case DatePart():
                parts = (node.of,)
            case Elapsed():
                parts = (node.start, node.end)
            case Aggregate(function="min" | "max"):
                parts = (node.of,)
            case Compare() | Within():
                parts = (node.left,)
        yield from (e for e in parts if isinstance(e, Column) and view.word(e).role == "date")


def _iso(text: str) -> bool:
    date = text[:10]
    if len(text) == 8 and text.isdecimal():
        return True
    return date[:4].isdecimal() and (len(date) == 4 or (date[4] == "-" and date[5:7].isdecimal()))
