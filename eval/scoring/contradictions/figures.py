"""Figures and rows: an average, a total or an extreme asked and another one computed, or none; rows cut by a LIMIT that
nobody asked for; a reversed order; a condition asked and none made.

In: a question read against its query. Out: sentences.
"""

from __future__ import annotations

import re
from functools import cache

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.lexicon import measures
from eval.language.words import name_words, question_words
from eval.scoring.contradictions.said import spelled
from eval.scoring.evidence.question_reading import Reading, Sentences
from eval.scoring.evidence.ranking import ordered_from
from eval.scoring.intent import superlatives
from eval.sql.traversal import every

_TYPICAL = re.compile(
    r"\b(?:averages?|avg|means?|typical\w*|usual\w*|on average|per|rate\w*|rating\w*|scor\w+|median\w*|normal\w*"
    r"|varian\w*|deviat\w*|expected|better|worse|best|worst)\b"
)


def aggregate_differs(r: Reading) -> Sentences:
    """An average asked and none computed, a total asked and an average or an extreme returned; or the other way."""
    intent, facts = r.intent, r.case.facts
    returned = set(facts.output_aggregates or facts.aggregates)
    yield from _two_aggregates(r)
    columns = {w for _, c in r.case.references.columns for w in name_words(c)}
    if intent.average and returned & {"sum", "max", "min"} and not every(r.tree, exp.Avg, exp.Div):
        if not columns & {"averag", "average", "avg", "mean"}:
            yield _aggregate(returned & {"sum", "max", "min"}, "the average")
    elif intent.total and returned & {"avg", "max", "min"} and not every(r.tree, exp.Sum, exp.Count, exp.Add, exp.Mul):
        if not (intent.average or intent.superlative or intent.maximum or intent.minimum or "how much" in r.question):
            yield _aggregate(returned & {"avg", "max", "min"}, "the total")
    elif "avg" in returned and _another_figure(r) and not _TYPICAL.search(r.question):
        yield _aggregate({"avg"}, "another figure")
    elif returned & {"min", "max"} and not (facts.subqueries or facts.window_functions):
        yield from _wrong_extreme(r, returned)


def _another_figure(r: Reading) -> bool:
    """Whether the question names a figure that is no average. `Tips by day` names none; `the windiest month` ranks
    groups, by whatever figure."""
    intent = r.intent
    if intent.total or intent.maximum or intent.minimum:
        return True
    return intent.superlative and not (r.case.facts.group_by or r.case.facts.order_by)


def _two_aggregates(r: Reading) -> Sentences:
    """What is returned is aggregated in one way and ordered by another; or something equals a total or an average."""
    order = r.select.args.get("order") if r.select is not None else None
    shown = {(type(a), a.this) for e in r.output for a in every(e, exp.Avg, exp.Sum, exp.Max, exp.Min)}
    for ordered in every(order, exp.Avg, exp.Sum, exp.Max, exp.Min) if order is not None else ():
        others = [kind for kind, cell in shown if cell == ordered.this and kind is not type(ordered)]
        if others and (type(ordered), ordered.this) not in shown:
            name = others[0].__name__.upper()
            yield f"The query returns {name} of what it orders by {ordered.sql_name()}."
            return
    for equal in every(r.tree, exp.EQ):
        inner = equal.expression.unnest() if isinstance(equal.expression, exp.Subquery) else None
        figure = inner.expressions[0] if isinstance(inner, exp.Select) and len(inner.expressions) == 1 else None
        if isinstance(figure, exp.Avg | exp.Sum) and not (r.intent.average or r.intent.total):
            yield _aggregate({figure.sql_name()}, "no such figure")
            return


_EXTREME = re.compile(
    r"\b(?:[^\W\d_]{2,}est|most|least|top|bottom|first|last|max\w*|min\w*|peak|record|recent|extreme\w*|when|range|span"
    r"|between|from|ever|until|since|more|less|only|all|never|always)\b"
)


def _wrong_extreme(r: Reading, returned: set[str]) -> Sentences:
    intent = r.intent
    if not _EXTREME.search(r.question):
        yield _aggregate(returned & {"min", "max"}, "no extreme")
    elif r.case.facts.order_by:
        return
    elif (intent.maximum or "highest" in r.question) and not (intent.minimum or intent.least or "max" in returned):
        yield _aggregate({"min"}, "the highest")
    elif (intent.minimum or "lowest" in r.question) and not (intent.maximum or intent.most or "min" in returned):
        yield _aggregate({"max"}, "the lowest")


def _aggregate(found: set[str], asked: str) -> str:
    name = min(found).upper()
    return f"The question asks for {asked}; the query computes {name}."


FURTHER_SENTENCE = re.compile(r"[.?!]\s+\S")


def figure_missing(r: Reading) -> Sentences:
    """A number, an average or a total of each group asked, and groups returned with no figure."""
    intent, facts = r.intent, r.case.facts
    asked = intent.average or intent.total or intent.count
    grouped = facts.group_by and not (facts.having or facts.limit or facts.subqueries or facts.order_by)
    figures = facts.output_aggregates or facts.window_functions or "group_concat" in facts.aggregates
    if FURTHER_SENTENCE.search(r.question):
        return
    if asked and grouped and not figures and not any(every(e, exp.Binary) for e in r.output):
        yield "The question asks for a figure of each group; the query returns none."


_ONE_OF_THEM = re.compile(
    r"\b(?:max\w*|min\w*|highest|lowest|largest|smallest|biggest|greatest|single|peak|individual|average|avg|mean|typical\w*"
    r"|usual\w*|median|best|worst|top|most|least|record|last|first|latest)\b"
)
_SUMMED = re.compile(r"\b(?:total|sum|altogether|overall|generat\w*|spent|spend\w*|earn\w*|made|makes?)\b")


def measure_not_summed(r: Reading) -> Sentences:
    """`Revenue by year`, `customers who spent more than 1000`, and of each group an extreme or an average is taken."""
    facts = r.case.facts
    if not facts.group_by or facts.window_functions or facts.subqueries:
        return
    named = set(question_words(r.question)) & _measure_words()
    if not (named or _SUMMED.search(r.question)):
        return
    ranks = r.intent.superlative and facts.limit is not None and not _ONE_OF_THEM_STRICT.search(r.question)
    if _ONE_OF_THEM.search(r.question) and not ranks:
        return
    kinds = (exp.Max, exp.Min) if not named else (exp.Max, exp.Min, exp.Avg)
    found = next((a for a in every(r.tree, *kinds) if isinstance(a.this, exp.Column)), None)
    if found is not None and (not every(r.tree, exp.Sum, exp.Count) or r.case.facts.having):
        yield _aggregate({found.sql_name()}, "a total")


_ONE_OF_THEM_STRICT = re.compile(
    r"\b(?:max\w*|min\w*|highest|lowest|largest|smallest|biggest|single|individual|average|avg|mean|typical\w*|median)\b"
)


@cache
def _measure_words() -> frozenset[str]:
    """Business quantities that add up, in one word: `revenue`, `sale`."""
    return frozenset(light_stem(name) for name, m in measures().items() if m.prices and " " not in name)


_SOME_EXTREME = re.compile(
    r"\b(?:[^\W\d_]{2,}est|most|least|top|bottom|best|worst|first|last|max\w*|min\w*|one|single|an?|favou?rite|more"
    r"|less|fewer|leading|rank\w*|peak|record|recent|next|latter|few|some|any|sample|example|preview|main|biggest"
    r"|extreme\w*|predominant\w*|lead\w*|better|[^\W\d_]{3,}er)\b"
)
_CAP = 100
"""Rows from which a LIMIT only protects the reader."""


def limit_unasked(r: Reading) -> Sentences:
    """A LIMIT that cuts rows, where the question names neither its number, nor an extreme, nor what is graded (`small
    countries`)."""
    facts, limit = r.case.facts, r.case.facts.limit
    one_row = facts.output_aggregates and not facts.group_by
    if limit is None or limit >= _CAP or len(r.rows) != limit or one_row:
        return
    if limit in r.intent.numbers or r.intent.top is not None or spelled(limit, r):
        return
    ordered = bool(facts.order_by)
    if ordered and (r.intent.superlative or r.intent.singular or r.adjectives):
        return
    if limit == 1 and _SOME_EXTREME.search(r.question) and (ordered or r.intent.singular):
        return
    yield f"The query keeps {limit} rows; the question asks for no such cut."


def order_wrong(r: Reading) -> Sentences:
    """Names in falling order, where the question asks for an order and for no falling one; or an order `from old to
    young` the other way round."""
    order = r.select.args.get("order") if r.select is not None and r.case.facts.limit is None else None
    if order is None:
        return
    key, falling = order.expressions[0].this, bool(order.expressions[0].args.get("desc"))
    asked = ordered_from(r, key)
    if asked is None and r.intent.order and r.intent.descending is None and not _SOME_EXTREME.search(r.question):
        asked = False if _holds_text(key, r) else None
    if asked is not None and asked != falling:
        yield "The rows are in the reverse of the order asked for."


_TEXT = re.compile("char|text|string|clob", re.IGNORECASE)


def _holds_text(key: exp.Expr, r: Reading) -> bool:
    if not isinstance(key, exp.Column):
        return False
    found = [c for t in r.case.tables_read for c in t.columns if c.name.casefold() == key.name.casefold()]
    return bool(found) and all(_TEXT.search(c.type) for c in found) and "date" not in key.name.casefold()


_EXPLAINED = re.compile(r"[.?!;:]\s+\S|\bif\b|\bassum|\bsuppos")


def superlative_unmet(r: Reading) -> Sentences:
    """An extreme asked for, and nothing in the query ranks, orders or bounds a group."""
    intent, facts = r.intent, r.case.facts
    if not intent.superlative or r.superlative_form is not None or _EXPLAINED.search(r.question):
        return
    if facts.order_by or facts.having or facts.limit is not None or facts.window_functions:
        return
    if r.constants and not (intent.singular and len(r.rows) > 1):
        return  # a value may be the extreme one
    said = {w.casefold() for w in superlatives(r.case.question)}
    parts = (w for _, c in r.case.references.columns for w in re.findall(r"[^\W\d_]+", c.replace("_", " ")))
    columns = frozenset(w.casefold() for w in parts)
    if said & {"first", "last", "top"} or columns & (said | {"max", "min", "maximum", "minimum", "highest", "lowest"}):
        return
    yield f"The question asks for the {min(said)}; nothing in the query looks for it."


def unconditioned(r: Reading) -> Sentences:
    """The query takes every row, where the question leaves some out or asks for a part of a text."""
    facts, intent = r.case.facts, r.intent
    narrowed = r.constants or facts.having or facts.set_operations or facts.joins > facts.outer_joins
    if narrowed or _EXPLAINED.search(r.question):
        return
    if any(s.args.get("where") for s in r.selects) or every(r.tree, exp.Case, exp.Filter):
        return
    if intent.excludes and not every(r.tree, exp.Sub, exp.Is, exp.Coalesce):
        yield "The question leaves some rows out; the query takes every row."
    elif intent.contains and (intent.quoted or _LETTER.search(r.case.question)):
        yield "The question asks for a part of a text; the query takes every row."


_LETTER = re.compile(r"\b(?:starts?|begins?|ends?|beginning|starting|ending) with (?:the )?(?:letter )?['\"]?[A-Z]\b")
