"""Doubts about words: those that nothing consumed, and those that left no mark in the plan.

A derivation says which production consumed each word. What none consumed is not understood; a signal that was consumed
(`average`, `not`, `more than`) must have left its mark in the plan, a number and a quoted text must stand in it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

from eval.language.lexicon import word_set
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Arithmetic,
    Combine,
    Compare,
    Constant,
    DatePart,
    Either,
    Like,
    Missing,
    OneOf,
    OverGroups,
    Related,
    Select,
    Within,
    tables_of,
)
from experiments.grammar_parser.trust.registry import DOUBTFUL, OPEN, Finding, doubt
from experiments.grammar_parser.trust.view import View


def unread(view: View) -> dict[int, str]:
    """The words with a meaning of their own that nothing used, by their place."""
    places = {*view.state.missed, *(w.start for w in view.state.waiting if w.kind == "verb")}
    return {i: view.context.lattice.tokens[i].text for i in sorted(places)}


_BEFORE_NOUNS = word_set(
    "a an the of in for by with their its each per all any no many every average total and without than on at from"
)


@doubt("word_missed", DOUBTFUL)
def _missed(view: View) -> Iterator[Finding]:
    for word in dict.fromkeys(unread(view).values()):
        yield Finding(f"“{word}” is left out; ask with the data's own word for it", word=word)


@doubt("noun_missed", OPEN)
def _noun_missed(view: View) -> Iterator[Finding]:
    """A thing, a name or a figure that nothing consumed: the question is about something else."""
    lattice = view.context.lattice
    for i, word in unread(view).items():
        named = lattice.tokens[i].capital or lattice.tokens[i].kind != "word"
        noun = i > 0 and lattice.words[i - 1] in _BEFORE_NOUNS and not word.lower().endswith(("ed", "ing"))
        if named or noun:
            yield Finding(f"I do not know “{word}” here", word=word)


@doubt("figure_dropped", OPEN)
def _figure(view: View) -> Iterator[Finding]:
    """A number or a quoted text of the question that the plan does not hold."""
    held = _constants(view)
    numbers = [float(v) for v in held if isinstance(v, (int, float)) and not isinstance(v, bool)]
    texts = " ".join(str(v).casefold() for v in held)
    dated = [range(s.start, s.end) for s, _ in view.items if "period" in s.production]
    for i, token in enumerate(view.context.lattice.tokens):
        n = token.number
        if (n is None and token.kind != "quoted") or not view.context.lattice.content[i] or any(i in d for d in dated):
            continue
        # as said, in percent, in the next smaller unit, or a bound that was moved by one
        scaled = (n, n / 100, n * 60, n * 1000, n + 1, n - 1) if n is not None else ()
        if token.lower not in texts and not any(abs(a - b) < 1e-9 for a in scaled for b in numbers):
            yield Finding(f"“{token.text}” is in no part of the answer", word=token.text)


def _constants(view: View) -> set[object]:
    found: set[object] = set()
    for node in view.nodes:
        match node:
            case Constant():
                found.add(node.value)
            case OneOf():
                found.update(node.values)
            case Within():
                found.update((node.low, node.high))
            case Like():
                found.add(node.pattern)
            case Select():
                found.update((node.limit or 0, node.offset))
    return found | {v.year for v in found if isinstance(v, dt.date)}


# -- signals and their marks in the plan ----------------------------------------------------------------------------

_Mark = Callable[[View, Item], bool]
_NO = ("n", "no", "0", "f", "false")


def _has(*kinds: type) -> _Mark:
    return lambda view, _: any(isinstance(n, kinds) for n in view.nodes)


def _denied(view: View, _: Item) -> bool:
    for n in view.nodes:
        if getattr(n, "negated", False) or isinstance(n, Missing) or getattr(n, "how", "") == "except":
            return True
        if (isinstance(n, OneOf) and str(n.values[0]).lower() in _NO) or getattr(n, "operator", "") in (
            "<>",
            "<=",
            ">=",
        ):
            return True
    return False


def _ranked(view: View, item: Item) -> bool:
    sorts = view.context.lattice.words[item.end : item.end + 1] == ["first"]  # `worst first`
    first = any(isinstance(n, Select) and n.order and (n.limit is not None or sorts) for n in view.nodes)
    return first or any(a.function in ("max", "min") for a in view.aggregates)


def _ordered(view: View, _: Item) -> bool:
    return any(isinstance(n, Select) and bool(n.order) for n in view.nodes)


def _computed(view: View, item: Item) -> bool:
    functions = {a.function for a in view.aggregates}
    total = item.argument == "sum" and ("count" in functions or any("total" in c[1].lower() for c in view.columns))
    return item.argument in functions or total or (item.argument in ("max", "min") and _ranked(view, item))


def _either(view: View, item: Item) -> bool:
    bound = any(isinstance(n, Compare) and n.operator in (">=", "<=") for n in view.nodes)
    return (
        bound
        or _has(Either, Combine)(view, item)
        or any(isinstance(n, OneOf) and len(n.values) > 1 for n in view.nodes)
    )


def _counted(view: View, _: Item) -> bool:
    return any(a.function in ("count", "sum") for a in view.aggregates)


_MARKS: dict[str, tuple[str, float, _Mark]] = {
    "agg": ("aggregate_open", OPEN, _computed),
    "count": ("aggregate_open", OPEN, _counted),
    "cmp": ("comparison_open", OPEN, lambda v, i: i.argument == "<>" or _has(Compare, Within, OneOf)(v, i)),
    **dict.fromkeys(("neg", "except"), ("negation_open", OPEN, _denied)),
    **dict.fromkeys(("sup", "sup_count", "common", "selling", "busy"), ("superlative_open", OPEN, _ranked)),
    **dict.fromkeys(("order", "dir"), ("order_open", OPEN, _ordered)),
    **dict.fromkeys(("percent", "running", "growth"), ("share_open", OPEN, _has(OverGroups, Arithmetic))),
    "like": ("pattern_open", OPEN, _has(Like)),
    "or": ("or_open", DOUBTFUL, _either),
    "unit": ("group_open", OPEN, _has(DatePart, Within, Select)),
    "group": ("group_open", DOUBTFUL, lambda v, _: any(isinstance(n, Select) and (n.group or n.per) for n in v.nodes)
              or "each row" in v.completed.assumed),
    "both": ("both_open", OPEN, lambda v, _: sum(isinstance(n, (Related, OneOf, Combine)) for n in v.nodes) > 1),
}  # fmt: skip


def _lost(name: str) -> Callable[[View], Iterator[Finding]]:
    def check(view: View) -> Iterator[Finding]:
        for _, item in view.items:
            mark = _MARKS.get(item.kind)
            if mark is not None and mark[0] == name and not mark[2](view, item):
                yield Finding(f"nothing was found for “{view.heard(item)}”", word=view.heard(item))

    return check


for _name, _cap in dict.fromkeys((name, cap) for name, cap, _ in _MARKS.values()):
    doubt(_name, _cap)(_lost(_name))


@doubt("group_open", OPEN)
def _by_for_nothing(view: View) -> Iterator[Finding]:
    """`customers by number of orders` read as one number: nothing is grouped or ordered by anything."""
    if any(isinstance(n, Select) and (n.group or n.order or n.per) for n in view.nodes):
        return
    words, restricted = view.context.lattice.words, set(tables_of(view.plan.where))
    for _, item in view.items:
        by, before = item.start - 1, words[item.start - 2] if item.start > 1 else ""
        done = before.endswith(("ed", "en", "wn"))  # `owned by`
        named = item.kind in ("column", "unit", "count", "agg", "measure") or (
            item.kind == "table" and item.table not in restricted and not done
        )
        if named and before and words[by] in ("by", "per"):
            heard = f"{words[by]} {view.heard(item)}"
            yield Finding(f"nothing is grouped or ordered “{heard}”", word=heard)


@doubt("second_question_open", DOUBTFUL)
def _asks_twice(view: View) -> Iterator[Finding]:
    """`which batches are fermenting, and which tank are they in`, of which only the first is answered."""
    words = view.context.lattice.words
    names = {n.key for t in view.plan.tables for n in view.vocabulary.name_columns(t)}
    others = [e for e in view.plan.show if getattr(e, "key", None) not in names]
    one = len(others) + (len(others) < len(view.plan.show)) < 2
    for i, word in enumerate(words):
        before = next((w for w in words[:i][::-1] if w not in _LINKING), "")
        if one and i > 2 and word in _ASKING and before in ("and", ";", "?"):
            yield Finding("only the first of two questions is answered; ask the second one by itself")
            return


_ASKING = word_set("which what when where who whom how")
_LINKING = word_set("in on at for by from with also to")
_RELATIVE = word_set("who that which have has had did do does")


@doubt("only_open", DOUBTFUL)
def _only(view: View) -> Iterator[Finding]:
    """`employees with billable hours only`: those without any other hours."""
    words = [w for w in view.context.lattice.words if w not in ("?", ".", "!")]
    for i, word in enumerate(words[1:], 1):
        if word == "only" and (i == len(words) - 1 or words[i - 1] in _RELATIVE) and not _has(Related)(view, None):  # type: ignore[arg-type]
            yield Finding("“only” is not read as “and nothing else”; ask for those without the others if that is meant",
                          word="only")  # fmt: skip
