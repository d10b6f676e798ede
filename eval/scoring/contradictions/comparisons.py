"""Comparisons: `older than 45` against `age < 45`, `above the average` against `< (SELECT AVG(...))`.

In: a question read against its query. Out: sentences. A comparison is looked at only where the question says its number
once, or the average, with a word for the direction beside it, and where nothing is denied.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.numbers import NUMBER_WORDS
from eval.scoring.evidence.question_reading import Reading, Sentences
from eval.scoring.evidence.ranking import numbers_rows
from eval.sql.traversal import every

_MORE = (
    r"(?:more|greater|higher|larger|older|bigger|longer|heavier|later|taller|better|newer|richer|costlier|faster|hotter"
    r"|wider|stronger)"
)
_LESS = r"(?:less|fewer|smaller|lower|younger|shorter|lighter|earlier|worse|cheaper|poorer|slower|colder|weaker)"
_THAN = r"(?: [^\W\d_]+){0,3} than"
_BEFORE = re.compile(
    rf"(?P<least>\b(?:no|not) {_LESS}{_THAN}\b)|(?P<most>\b(?:no|not) {_MORE}{_THAN}\b)"
    rf"|(?P<more>\b(?:{_MORE}{_THAN}|over|above|exceed(?:s|ing|ed)?|after|since|at least|minimum of|beyond)\b)"
    rf"|(?P<less>\b(?:{_LESS}{_THAN}|under|below|before|at most|up to|until|prior to|maximum of)\b)"
)
_AFTER = re.compile(
    rf"^(?: [^\W\d_]+){{0,2}},? (?:or|and) (?:(?P<more>{_MORE}|above|over|after|up|on|onwards?|later)"
    rf"|(?P<less>{_LESS}|below|under|before|young|earlier))\b(?! than\b)(?! (?:the )?(?:year )?\d)"
)
_DENIED = re.compile(r"\b(?:not|never|nor|neither|without|except|excluding|[^\W\d_]+n't|don t|no one|none)\b")
_AGE = re.compile(r"\b(?:old|older|young|younger|age|aged|elder|senior)\b")
_DATED = re.compile(r"year|date|birth|born|dob", re.IGNORECASE)
_REACH = 45
"""Characters before a number in which the word for its direction stands."""
_BESIDE = 12
"""Characters between such a word and its number."""
_FLIPPED: dict[type[exp.Expr], bool] = {exp.GT: True, exp.GTE: True, exp.LT: False, exp.LTE: False}
_YEAR = re.compile(r"((?:1[89]|20)\d\d)-01-01")
_AVERAGE = re.compile(r"\b(?:average|avg|mean)\b")


def comparison_flipped(r: Reading) -> Sentences:
    """A comparison in the direction opposite to the one that the question gives for its number."""
    for node in every(r.tree, exp.GT, exp.GTE, exp.LT, exp.LTE):
        if _under_denial(node):
            continue
        grows = _FLIPPED[type(node)]
        column, bound = node.this, node.expression
        if _bound(column) is not None and _bound(bound) is None:
            column, bound, grows = bound, column, not grows
        asked = _asked(column, bound, r)
        # the same bound in the other direction as well tells two sides apart
        others = (o for o in every(r.tree, exp.GT, exp.GTE, exp.LT, exp.LTE) if o is not node)
        if asked is not None and asked != grows and not any(bound in (o.this, o.expression) for o in others):
            words = "more" if asked else "less"
            yield f"The question asks for {words} than the query's bound; the query compares the other way round."
            return


def _under_denial(node: exp.Expr) -> bool:
    """In a part of the query that is taken away, in a join, or in the condition of a value that is computed."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Not | exp.Case | exp.If | exp.Join):
            return True
        if isinstance(parent, exp.Except) and parent.expression is node:
            return True
        node, parent = parent, parent.parent
    return False


def _bound(side: exp.Expr) -> str | None:
    """The number that a side is, as a question writes it; `average` for a subquery that computes one."""
    plain = side.unnest()
    if isinstance(plain, exp.Literal):
        year = _YEAR.match(plain.name)
        if year is not None:
            return year[1]
        return plain.name if not plain.is_string or plain.name.isdecimal() else None
    select = plain.this if isinstance(plain, exp.Subquery) else plain
    if isinstance(select, exp.Select) and len(select.expressions) == 1:
        return "average" if isinstance(select.expressions[0].unalias(), exp.Avg) else None
    return None


def _asked(column: exp.Expr, bound: exp.Expr, r: Reading) -> bool | None:
    """Whether the question asks for more than the bound; None where it does not tell."""
    number = _bound(bound)
    if number is None or not every(column, exp.Column, exp.Count):
        return None
    names = [c.name for c in every(column, exp.Column)]
    if _AGE.search(r.question) and any(_DATED.search(n) for n in names):
        return None
    places = (_AVERAGE if number == "average" else _written(number)).finditer(r.question)
    found = {_direction(r.question[: place.start()], r.question[place.end() :]) for place in places}
    return found.pop() if len(found) == 1 else None


def _written(number: str) -> re.Pattern[str]:
    value = float(number)
    forms = {re.escape(number), re.escape(f"{value:g}"), re.escape(f"{value:,.0f}")} if value < 1e15 else {number}
    forms |= {word for word, n in NUMBER_WORDS.items() if n == value}
    return re.compile(rf"(?<![\w.,-])(?:{'|'.join(sorted(forms, key=len, reverse=True))})(?![\w]|[.,]\d)")


def _direction(before: str, after: str) -> bool | None:
    """Whether the words beside a number ask for more; None where they do not tell."""
    clause = re.split(r"[.;?!\d]", before[-_REACH:])[-1]
    found = list(_BEFORE.finditer(clause))
    later = None if found and len(clause) - found[-1].end() < _BESIDE else _AFTER.match(after)
    if later is not None:
        return None if _DENIED.search(clause) else later["more"] is not None
    if not found or _DENIED.search(clause[: found[-1].start()]):
        return None
    return found[-1]["more"] is not None or found[-1]["least"] is not None


def rank_from_behind(r: Reading) -> Sentences:
    """`The top 3 of each region`, and the query keeps what a ranking numbers from 3 on."""
    ranks = {w.parent.alias for w in every(r.tree, exp.Window) if isinstance(w.parent, exp.Alias) and numbers_rows(w)}
    for node in every(r.tree, exp.GT, exp.GTE):
        if isinstance(node.this, exp.Column) and node.this.name in ranks and _bound(node.expression) is not None:
            yield "The query keeps the rows behind the ranks asked for."
            return
