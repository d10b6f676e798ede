"""Familiarity: how far evidence may be trusted on this question, this query and this schema, 0..1.

In: a `Reading`. Out: `familiarity`, by which habits count, and `clarity`, by which comparisons of the question's words
with the query count. Each is a product of ramps over measured sizes. A ramp is 1 up to what is usual where the habits
were learned (Spider's training questions: the last tenth begins near the ramp's start) and 0 from its end on. So a
habit of one benchmark says nothing about a long business question or a query of many steps.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.scoring.evidence.question_reading import Reading
from eval.scoring.evidence_kinds import kind_of, marked, sign
from eval.sql.traversal import every

_WORDS = (20, 40)
"""Words of the question."""
_CLAUSES = (8, 16)
"""SELECTs, joins, conditions and sort keys of the query."""
_CALLS = (1, 6)
"""Functions, operators, windows and CTEs of the query, plain aggregates aside."""
_COLUMNS = (60, 200)
"""Columns of the schema."""
_UNFINISHED = 0.6
"""Factor for a question without a full stop or question mark: typed keywords rather than a sentence."""
_SUPPOSED = re.compile(
    r"\b(?:if|suppos(?:e|es|ing)|assum(?:e|es|ing)|given that|provided that|under the premise|hypothetical\w*)\b",
    re.IGNORECASE,
)
"""What a question supposes is not in the data, so the query need not look for it."""
_CLEAR_WORDS = (25, 50)
_CLEAR_CLAUSES = (12, 30)
_PLAIN = (exp.AggFunc, exp.Connector, exp.Predicate)
_WORDED, _VALUED = marked("worded"), marked("valued")


def familiarity(reading: Reading) -> float:
    """How much question, query and schema resemble those that habits were learned from."""
    case = reading.case
    calls = every(reading.tree, exp.Func, exp.Window, exp.CTE, exp.Binary)
    value = _ramp(len(case.question.split()), _WORDS)
    value *= _ramp(_clauses(reading), _CLAUSES) * _ramp(sum(not isinstance(c, _PLAIN) for c in calls), _CALLS)
    value *= _ramp(sum(len(t.columns) for t in case.schema.tables), _COLUMNS)
    return value if case.question.rstrip().endswith((".", "?")) else value * _UNFINISHED


def clarity(reading: Reading) -> float:
    """How far the words of the question can be compared with the query: not in a paragraph, not in a report's SQL, not
    where the question supposes something."""
    if supposes(reading.case.question):
        return 0.0
    return _ramp(len(reading.case.question.split()), _CLEAR_WORDS) * _ramp(_clauses(reading), _CLEAR_CLAUSES)


def supposes(question: str) -> bool:
    """Whether the question supposes something: `if prices rose by 20%`."""
    return _SUPPOSED.search(question) is not None


def reach(name: str, familiar: float, clear: float, *, supposed: bool = False) -> float:
    """By how much an observation counts, 0..1; `supposed`: the question supposes something.

    Habits, confirmations and an independent reading that differs count by familiarity; a contradiction that rests on
    the question's words counts by clarity; agreement, and a conflict with data or types, counts everywhere.
    """
    kind = kind_of(name)
    if kind == "contradiction":
        return 0.0 if supposed and name in _VALUED else clear if name in _WORDED else 1.0
    return 1.0 if kind == "agreement" and sign(name) > 0 else familiar


def _ramp(value: float, ends: tuple[float, float]) -> float:
    start, end = ends
    return min(1.0, max(0.0, (end - value) / (end - start)))


def _clauses(reading: Reading) -> int:
    return len(every(reading.tree, exp.Select, exp.Join, exp.Predicate, exp.Ordered))
