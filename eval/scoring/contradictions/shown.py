"""What is shown: rows cut by a LIMIT that nobody asked for, things asked for that are not returned, a reversed order.

In: a question read against its query. Out: sentences.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.scoring.contradictions.said import spelled
from eval.scoring.evidence.question_reading import Reading, Sentences
from eval.scoring.evidence.ranking import ordered_from
from eval.scoring.intent import superlatives
from eval.sql.traversal import every

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
