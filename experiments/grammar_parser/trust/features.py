"""Features of a reading for the calibrator: numbers with names that a person can read, from derivation, plan and rows.

In: a `View`, the scores of the readings beside it, and its doubts. Out: named numbers. How a question is put (its first
word, its length) is left out: it would tell question sets apart, and make terse questions look doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Among,
    Column,
    Either,
    Related,
    Scalar,
    Star,
    aggregates,
    own,
)
from experiments.grammar_parser.trust.registry import Judgement
from experiments.grammar_parser.trust.view import View

_CLOSE = 0.5
"""Readings whose score is at most this much lower are close."""


def features(view: View, scores: Sequence[float] = (), judgement: Judgement | None = None) -> dict[str, float]:
    """The features of one reading; `scores` are those of all readings, the best first."""
    observed: dict[str, float] = {
        **_derivation(view), **_rivals(scores), **_form(view), **_shown(view), **_joins(view),
        **(view.rows.observed if view.rows is not None else {}),
    }  # fmt: skip
    for raised, _ in judgement.raised if judgement is not None else ():
        name = f"doubt {raised.name}"
        observed[name] = min(observed.get(name, 0.0) + 1.0, 3.0)
    return {name: float(value) for name, value in observed.items()}


def _derivation(view: View) -> dict[str, float]:
    lattice, missed = view.context.lattice, view.state.missed
    links = [_link(item, view) for _, item in view.items if item.kind in _NAMES]
    content = sum(lattice.content)
    used = {table for table, _ in view.columns} | set(view.needed)
    return {
        "missed words": min(len(missed), 5),
        "missed share": len(missed) / max(1, content),
        "missed names": sum(lattice.tokens[i].capital or lattice.tokens[i].kind != "word" for i in missed),
        "weakest link": 1 - min(links, default=0.5),
        "mean link": 1 - (sum(links) / len(links) if links else 0.5),
        "linked words": min(len(links), 8),
        "tables named, not used": sum(t not in used for t in view.state.tables),
        "waiting operators": len(view.state.waiting),
        **{f"assumed {name}": 1.0 for name in view.completed.assumed},
    }


_NAMES = ("table", "column", "value", "measure", "adjective")
"""Kinds of items that link words to the schema or its values."""


def _link(item: Item, view: View) -> float:
    """How well the words of an item name what the plan uses."""
    used = [s for c, s in item.columns if c.key in view.columns]
    used += [h.score for h in item.values if (h.table, h.column) in view.columns]
    return min(1.0, max(used, default=item.score))


def _rivals(scores: Sequence[float]) -> dict[str, float]:
    gaps = [scores[0] - s for s in scores[1:]]
    return {
        "gap to next": min(gaps[0], 3.0) if gaps else 3.0,
        "close rivals": min(sum(g <= _CLOSE for g in gaps), 6),
        "very close rivals": min(sum(g <= _CLOSE / 4 for g in gaps), 4),
    }


def _form(view: View) -> dict[str, float]:
    p = view.plan
    kinds = {type(n) for n in view.nodes}
    figures = [e for e in p.show if aggregates(e)]
    ranked = [o.by for o in p.order]
    return {
        "conditions": min(len(p.where), 4),
        "having": bool(p.having),
        "having on a count": any(a.function == "count" for c in p.having for a in _aggregates(c)),
        "negation": any(getattr(n, "negated", False) for n in view.nodes),
        "alternatives": Either in kinds,
        "subquery": bool({Scalar, Among} & kinds),
        "absence": sum(isinstance(n, Related) for n in view.nodes),
        "combined": p.combine is not None,
        "aggregates": len(figures),
        "distinct": p.distinct,
        "group": len(p.group),
        "group hidden": any(e not in p.show for e in p.group),
        "ordered": bool(p.order),
        "several orders": len(p.order) > 1,
        "limited": p.limit is not None,
        "rows limited": min(p.limit or 0, 10),
        "ranked by an aggregate": any(aggregates(e) for e in ranked),
        "ranked by a count": any(a.function == "count" for e in ranked for a in _aggregates(e)),
        "ranked within groups": bool(p.per),
        "listing only": not (p.where or p.order or p.group or figures or p.having),
    }


def _aggregates(node: object) -> list[Aggregate]:
    return [n for n in own(node) if isinstance(n, Aggregate)]


def _shown(view: View) -> dict[str, float]:
    shown = view.shown
    return {
        "columns shown": min(len(view.plan.show), 6),
        "whole rows shown": any(isinstance(e, Star) for e in view.plan.show),
        "one plain column": len(view.plan.show) == 1 and len(shown) == 1 and not view.plan.group,
        "keys shown": sum(c.role == "id" for c in shown),
        "names shown": sum(c.role == "name" for c in shown),
        "dates shown": sum(c.role in ("date", "year") for c in shown),
        "numbers shown": sum(c.role == "number" for c in shown),
        "foreign keys shown": sum(c.foreign for c in shown),
        "tables shown": len({c.table for c in shown}),
        "same name elsewhere": sum(_elsewhere(view, e) for e in view.plan.show if isinstance(e, Column)),
    }


def _elsewhere(view: View, column: Column) -> bool:
    word = view.word(column)
    holders = view.vocabulary.holders.get(word.words[-1], ()) if word.words else ()
    return sum(h.words == word.words and hasattr(h, "column") for h in holders) > 1


def _joins(view: View) -> dict[str, float]:
    joins = view.joins
    if joins is None:
        return {}
    plain = {c.table for c in view.shown}
    summed = {e.of.table for e in view.aggregates if e.function in ("sum", "avg") and isinstance(e.of, Column)}
    listing = not (view.plan.group or view.plan.distinct or view.plan.limit)
    return {
        "joins": min(len(joins.steps), 4),
        "joins by chance": min(joins.by_chance, 3),
        "inferred joins": min(joins.inferred, 3),
        "unnamed tables": len(set(joins.tables) - set(view.plan.tables)),
        "idle tables": len(set(view.plan.tables) - set(view.needed)),
        "fan-out": bool(joins.fan_outs()),
        "sum over a join that repeats": any(joins.multiplies(t) for t in summed),
        "repeats from a join": listing and any(joins.multiplies(t) for t in plain),
    }
