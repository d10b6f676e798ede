"""Two figures side by side: `deposits vs refunds by month`, `total payments and total refunds in 2025`.

In: a question's text and the vocabulary; then the trees of the two questions that it stands for. Out: one question for
each figure; and one statement that shows both, for the same periods where there are any.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.vocabulary import TableWord, Vocabulary
from agent.parser.wording.computations import amount_of

_UNIT = r"(?:day|week|month|quarter|year)"
_TWO = re.compile(
    r"^(?:(?:compare|show(?: me)?|what (?:is|are|was|were)) )?(?:the |our )?"
    r"(?P<how>how many|number of|count of|total|sum of|amount of)? ?(?:the )?(?P<a>[a-z]+(?: [a-z]+)?) "
    r"(?P<join>vs\.?|versus|compared (?:to|with)|against|and) (?:the )?(?P<how2>number of|count of|total|amount of)? ?"
    r"(?P<b>[a-z]+(?: [a-z]+)?)"
    r"(?: (?:did|do|have) we (?:have|get|make|had|got)| were there| are there| (?:amount|total)s?)?"
    rf"(?P<rest>(?: (?:(?:by|per|each|for each|every) {_UNIT}|(?:in|for|during|since) .+|"
    rf"(?:this|last) {_UNIT})){{0,2}})$",
    re.IGNORECASE,
)
_COUNTED = ("how many", "number of", "count of")


@dataclass(frozen=True, slots=True)
class Two:
    """The questions for two figures, and the names of these."""

    questions: tuple[str, str]
    names: tuple[str, str]
    doubt: str = ""


def two_figures(text: str, vocabulary: Vocabulary) -> Two | None:
    """The two questions that the text stands for, if it names the rows of two tables."""
    match = _TWO.match(" ".join(text.strip().rstrip("?!. ").split()))
    if match is None or (match["join"].lower() == "and" and not match["how"]):
        return None
    tables = [_rows(match[k], vocabulary) for k in ("a", "b")]
    left, right = tables
    if left is None or right is None or left.name == right.name:
        return None
    how = (match["how"] or "").lower()
    amounts = [amount_of(vocabulary, t) for t in (left, right)]
    summed = how not in _COUNTED and all(amounts)
    if (how not in ("", "total", *_COUNTED) and not summed) or (
        how in _COUNTED and (match["how2"] or how).lower() not in _COUNTED
    ):
        return None
    rest = re.sub(r" (?:each|every) ", " per ", match["rest"])
    questions = [
        f"total {amount} of {match[k]}{rest}" if summed else f"number of {match[k]}{rest}"
        for k, amount in zip(("a", "b"), amounts, strict=True)
    ]
    doubt = ""
    if not how or (how == "total" and any(amounts) and not summed):
        doubt = "their amounts are added up" if summed else "their rows are counted"
        doubt += f"; ask for the {'number' if summed else 'total amount'} if that is meant"
    names = [match[k].lower().replace(" ", "_") for k in ("a", "b")]
    return Two((questions[0], questions[1]), (names[0], names[1]), doubt)


def _rows(words: str, vocabulary: Vocabulary) -> TableWord | None:
    """The table that the last word names in the plural."""
    table = vocabulary.table_named(words.split()[-1])
    return table if table is not None and words.lower().endswith("s") else None


def beside(left: exp.Expression, right: exp.Expression, names: tuple[str, str]) -> exp.Select | None:
    """One statement with both figures; None where the two are not one figure each, for the same periods if any."""
    if not isinstance(left, exp.Select) or not isinstance(right, exp.Select):
        return None
    width = len(left.expressions)
    if width != len(right.expressions) or any(t.args.get("limit") for t in (left, right)):
        return None
    if width == 1 and not left.args.get("group") and not right.args.get("group"):
        figures = [exp.alias_(t.subquery(copy=False), n) for t, n in zip((left, right), names, strict=True)]
        return exp.Select().select(*figures, copy=False)
    if width != 2 or left.expressions[0].alias_or_name != right.expressions[0].alias_or_name:
        return None
    time = left.expressions[0].alias_or_name
    parts = []
    for tree, place in ((left, 0), (right, 1)):
        figure = tree.expressions[1].unalias()
        both = [figure.copy() if k == place else exp.Literal.number(0) for k in (0, 1)]
        tree.set("expressions", [tree.expressions[0], *(exp.alias_(e, n) for e, n in zip(both, names, strict=True))])
        tree.set("order", None)
        parts.append(tree)
    rows = exp.union(parts[0], parts[1], distinct=False, copy=False).subquery("both_figures", copy=False)
    shown = [exp.alias_(exp.Sum(this=exp.column(n)), n) for n in names]
    outer = exp.Select().select(exp.column(time), *shown, copy=False).from_(rows, copy=False)
    return outer.group_by(exp.column(time), copy=False).order_by(exp.column(time), copy=False)
