"""Features of a reading: what its derivation did, in which words' neighbourhood, and what its plan looks like.

In: a completed state with its context. Out: named numbers, most of them 1. Words enter only as function words and
signals, never as names or values of a database, so that weights travel.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from agent.knowledge.vocabulary import ColumnWord
from experiments.grammar_parser.grammar.context import SAYS_KEY, Context
from experiments.grammar_parser.grammar.draft import Completed
from experiments.grammar_parser.grammar.state import Entity, State, Step
from experiments.grammar_parser.lexicon.loader import function_words
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Among,
    Column,
    Compare,
    Constant,
    DatePart,
    Either,
    OneOf,
    Related,
    Scalar,
    Select,
    Star,
    Within,
    aggregates,
    tables_of,
    walk,
)

_EDGE = "^"
_TELLING = frozenset(
    ("agg", "sup", "cmp", "neg", "group", "order", "distinct", "common", "percent", "count", "both", "or", "except",
     "dir", "like", "vs")
)  # fmt: skip
_CUES = frozenset(("per", "grouped", "each", "different"))
_OPENINGS = (
    "how many", "what is", "what are", "which", "who", "show", "list", "find", "give", "count", "for each", "when",
    "where", "return", "name",
)  # fmt: skip
_SHOWN = ("column shown", "column also shown", "group by column", "first kinds")
_NAMED = ("column named", "column shown", "column also shown", "aggregate named")
_FITTED = ("column", "rows", "related", "value", "aggregate", "group by")

Add = Callable[..., None]


def features(completed: Completed, context: Context) -> dict[str, float]:
    """The features of one reading."""
    found: dict[str, float] = {}

    def add(name: str, value: float = 1.0) -> None:
        found[name] = found.get(name, 0.0) + value

    plan = completed.plan
    _derivation(add, completed.state, plan, context)
    for assumed in completed.assumed:
        add(f"c {assumed}")
    _numbers(add, plan, context)
    _types(add, plan, context)
    _order_of_columns(add, completed.state, plan, context)
    _joins(add, plan, context)
    _shown(add, completed.state, plan, context)
    _clauses(add, plan, context)
    _conditions(add, plan, context)
    return found


# -- the derivation --------------------------------------------------------------------------------------------------


def _derivation(add: Add, state: State, plan: Select, context: Context) -> None:
    """Productions alone, in pairs and beside function words, and what was passed over."""
    used = {n.key for n in walk(plan) if isinstance(n, Column)}
    before, gain = _EDGE, 0.0
    for step in state.productions():
        _passed(add, step, context)
        if step.production == "function word":
            continue
        gain += step.score
        _beside(add, step, before, context)
        before = step.production
        named = step.what.key if isinstance(step.what, (ColumnWord, Column)) else None
        if step.production in _NAMED and named is not None and named not in used:
            add("named column unused")
    add(f"p {before} > $")
    add("link", gain)
    add("missed", float(len(state.missed)))


def _passed(add: Add, step: Step, context: Context) -> None:
    """Signals and values that were passed over as words."""
    if step.production not in ("function word", "word passed"):
        return
    for item in context.lattice.at[step.start]:
        if item.kind in _TELLING and (item.end == step.start + 1 or step.production == "function word"):
            add(f"passed {item.kind}")
        elif item.kind == "value" and not item.argument and item.score > 0.9 and context.lattice.content[step.start]:
            add("passed value")


def _beside(add: Add, step: Step, before: str, context: Context) -> None:
    words, known, name = context.lattice.words, function_words(), step.production
    if name.startswith(_FITTED):
        fit = step.score - 0.6 * (step.end - step.start)
        grade = next((g for least, g in ((0.97, "exact"), (0.7, "good"), (0.4, "weak")) if fit > least), "poor")
        add(f"{name.split()[0]} {grade}")
    add(f"p {name}")
    add(f"p {before} > {name}")
    near = words[step.start - 1] if step.start else _EDGE
    if near in known or not step.start:
        add(f"w {near} > {name}")
    after = words[step.end] if step.end < len(words) else "$"
    if after in known:
        add(f"a {name} < {after}")
    key = name in _SHOWN and isinstance(step.what, ColumnWord) and step.what.role == "id"
    if key and not SAYS_KEY & set(words[step.start : step.end]):
        add("key stands for rows")


# -- what the words and the plan have in common ----------------------------------------------------------------------


def _numbers(add: Add, plan: Select, context: Context) -> None:
    """Numbers of the question that the plan does not hold."""
    held: set[object] = {n.limit for n in walk(plan) if isinstance(n, Select)}
    for n in walk(plan):
        if isinstance(n, Constant):
            held.add(n.value)
        elif isinstance(n, OneOf):
            held.update(n.values)
        elif isinstance(n, Within):
            held.update((n.low, n.high))
    held |= {year for d in held if isinstance(d, dt.date) for year in (d.year, d.year - 1)}
    texts = {str(v) for v in held}
    for token in context.lattice.tokens:
        if token.number not in (None, 1) and token.number not in held and str(token.number) not in texts:
            add("number unused")


def _types(add: Add, plan: Select, context: Context) -> None:
    """Texts that are compared or added up as numbers, figures of keys."""
    for n in walk(plan):
        bound = n.right.value if isinstance(n, Compare) and isinstance(n.right, Constant) else None
        bound = n.low if isinstance(n, Within) else bound
        if isinstance(n, (Compare, Within)) and isinstance(bound, (int, float)):
            about, number = n.left, True
        elif isinstance(n, Aggregate) and n.function in ("avg", "sum") and n.of is not None:
            about, number = n.of, False
        else:
            continue
        if not isinstance(about, Column):
            continue
        column = context.vocabulary.columns[about.key]
        if not column.numeric:
            add("type clash")
        elif not number and (column.primary or column.foreign or column.role in ("id", "date", "year")):
            add("figure of keys")


def _order_of_columns(add: Add, state: State, plan: Select, context: Context) -> None:
    """Whether a figure or its group stands first, as the question says them."""
    figure = next((k for k, e in enumerate(plan.show) if aggregates(e)), -1)
    if not plan.group or len(plan.show) < 2 or figure < 0:
        return
    words, steps = context.lattice.words, state.productions()

    def said(*names: str) -> int:
        return min((x.start for x in steps if x.production.startswith(names)), default=99)

    group = said("group", "by groups")
    number = said("number of", "aggregate", "count said", "agg said", "amount")
    column = said("column shown", "rows shown", "column also")
    cue = words[group] if group < len(words) else "none"
    cue = cue if cue in function_words() or cue in _CUES else "other"
    first = "figure" if figure == 0 else "group"
    order = "figure" if number < min(group, column) else "group"
    add(f"first {first} said {order} by {cue}")
    add(f"first {first} said {order}")
    add(f"first {first} {_opening(words)} {cue}")


def _opening(words: list[str]) -> str:
    text = " ".join(words[:2])
    return next((o for o in _OPENINGS if text.startswith(o)), "other")


def _joins(add: Add, plan: Select, context: Context) -> None:
    """Tables joined, tables that the question names and does not, tables joined for nothing."""
    clauses = (plan.where, plan.group, plan.order, plan.having)
    needed = list(dict.fromkeys([*tables_of(plan.show), *plan.tables, *tables_of(clauses)]))
    joins = context.graph.plan(needed, frozenset(needed)) if len(needed) > 1 else None
    if len(needed) > 1 and joins is None:
        add("unreachable")
    elif joins is not None:
        add("joins", float(len(joins.steps)))
        for table in joins.tables:
            if table not in context.named and table not in context.valued:
                add("table not named bridge" if context.vocabulary.tables[table].bridge else "table not named")
        if joins.fan_outs():
            add("fan out")
        if context.declared:
            add("inferred", float(joins.inferred))
        add("by chance", float(joins.by_chance))
    used = set(joins.tables) if joins is not None else set(needed)
    related = {n.to for n in plan.where if isinstance(n, Related)}
    for table, score in context.named.items():
        if score >= 0.9 and table not in used | related:
            add("named table unused", score)
    parts = (plan.show, *clauses)
    about = related | {n.table for n in walk(parts) if isinstance(n, (Column, Aggregate, Star))}
    for table in plan.tables:
        if table not in about:
            add("joined only head" if table == plan.tables[0] else "joined only")


# -- the plan ----------------------------------------------------------------------------------------------------------


def _shown(add: Add, state: State, plan: Select, context: Context) -> None:
    kinds = [_kind(e, context) for e in plan.show]
    start = _opening(context.lattice.words)
    for kind in kinds:
        add(f"show {kind}")
        add(f"{start} shows {kind}")
    add(f"show {'+'.join(kinds[:4])}")
    add(f"arity {min(len(kinds), 5)}")
    add(f"{start} arity {min(len(kinds), 4)}")
    if plan.distinct:
        add("distinct")
        add(f"distinct {'+'.join(kinds[:3])}")
    names = [e.name.lower() for e in plan.show if isinstance(e, Column)]
    if len(set(names)) < len(names):
        add("two columns of one name")
    if any(isinstance(e, Entity) for e in state.show):
        add("rows by name")
    fixed = {c.left for c in plan.where if isinstance(c, OneOf) and len(c.values) == 1}
    for e in plan.show:
        if e in fixed:
            add("shows a fixed value")
        elif any(isinstance(c, (Compare, Within)) and c.left == e for c in plan.where):
            add("shows what is compared")


def _clauses(add: Add, plan: Select, context: Context) -> None:
    if plan.group:
        add("group")
        add(f"group {'+'.join([_kind(e, context) for e in plan.group][:3])}")
        if not any(aggregates(e) for e in (*plan.show, *(o.by for o in plan.order), *plan.having)):
            add("group without aggregate")
    for o in plan.order:
        add(f"order {_kind(o.by, context)} {'limit' if plan.limit else ''} {'grouped' if plan.group else ''}")
        if o.by in plan.show:
            add("order by what is shown")
    if plan.limit and not plan.order:
        add("limit alone")
    if plan.per:
        add("per")
    for h in plan.having:
        add("having")
        if isinstance(h, Compare):
            add(f"having {_kind(h.left, context)}")
    if plan.combine is not None:
        add(f"combine {plan.combine.how}")


def _conditions(add: Add, plan: Select, context: Context) -> None:
    conditions = list(plan.where)
    add("conditions", float(len(conditions)))
    for c in conditions:
        add(f"where {type(c).__name__}")
        match c:
            case Either():
                add("either", float(len(c.of)))
                conditions.extend(c.of)
            case OneOf():
                add(f"one of {min(len(c.values), 3)}{' not' if c.negated else ''}")
                if isinstance(c.left, Column):
                    column = context.vocabulary.columns[c.left.key]
                    add(f"equals {column.role}")
                    if column.table not in context.named:
                        add("value of table not named")
            case Compare():
                add(f"compares {_kind(c.left, context)} {'scalar' if isinstance(c.right, Scalar) else ''}")
            case Within():
                add(f"within {_kind(c.left, context)}")
            case Among():
                add("among")


def _kind(e: object, context: Context) -> str:
    match e:
        case Column():
            word = context.vocabulary.columns[e.key]
            role: str = word.role
            if word in context.vocabulary.name_columns(e.table):
                role = "names"
            return role + (" key" if word.primary or word.foreign else "")
        case Aggregate(of=None):
            return "count rows"
        case Aggregate():
            inner = _kind(e.of, context)
            return f"{e.function}{' distinct' if e.distinct else ''} {inner}"
        case DatePart():
            return f"part {e.unit}"
        case Star():
            return "star"
    return type(e).__name__
