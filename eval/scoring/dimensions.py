"""The dimensions of a score, one small pure function each, and their weights by preset (docs/scoring.md).

In: a `Case`, and what was observed of it. Out: the dimension's value, 0..1, and why it is not 1. Correctness, the
seventh, has a file of its own.

Completeness and semantic accuracy are `1` less what each sign against them costs (`charged`), at least 0: a tenth of
the log-odds that a contradiction was found to cost, at most three tenths. A contradiction that labelled answers showed
to be harmless costs nothing, and habits never cost anything here. No cost is set by taste, except for `GRAVE`:
contradictions so rare among real answers that the fit can't know them, yet beyond doubt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from eval.scoring.correctness import coefficients
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.types import DIMENSIONS, PROVED, Case, kind_of, marked
from eval.sql.traversal import every

THRESHOLD = 0.70
"""The gate's default; a veto keeps the final score below it whatever the relevance."""
RELEVANCE_WEIGHT = 0.15


def _preset(*weights: float) -> Mapping[str, float]:
    """The weights in the order of `DIMENSIONS`."""
    return MappingProxyType(dict(zip(DIMENSIONS, weights, strict=True)))


PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "default": _preset(0.35, 0.20, 0.15, 0.10, 0.10, 0.05, 0.05),
        "strict": _preset(0.40, 0.25, 0.10, 0.10, 0.10, 0.025, 0.025),
        "performance": _preset(0.30, 0.15, 0.25, 0.10, 0.05, 0.05, 0.10),
        "quality": _preset(0.30, 0.20, 0.10, 0.10, 0.10, 0.15, 0.05),
    }
)


def weights(preset: str) -> Mapping[str, float]:
    """The weights of a preset, which sum to 1. Raises ValueError for an unknown one."""
    try:
        return PRESETS[preset]
    except KeyError:
        raise ValueError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}") from None


def safety(case: Case) -> tuple[float, str]:
    """1 for what the guard let through, 0 for what it refused.

    A text that is no statement at all (empty, unparsable) could do no harm but was not shown to be safe either: 0.5,
    which keeps the retry on the parser's message rather than on safety.
    """
    if case.verdict.allowed:
        return 1.0, ""
    if case.parsed.tree is None:
        return 0.5, "There is no single statement to judge."
    return 0.0, case.verdict.reason or "The guard refused the statement."


FREE_MS = 50.0
MS_PER_ROW = 0.002


def efficiency(case: Case) -> tuple[float, str]:
    """What the query costs for what it returns: `1 - scans - time - waste`, at least 0.

    A cartesian join or a query that did not run gives 0.2.

    - scans, at most 0.3: 0.1 for each full scan of a table of 10,000 rows or more in the engine's plan, where the query
      has a condition that an index could serve (`eval.examination`);
    - time, at most 0.5: 0.25 for each tenfold by which the statement took longer than `FREE_MS` plus `MS_PER_ROW` for
      each row of the tables it reads (a full scan of SQLite reads some 10 million rows a second, one core);
    - waste, at most 0.2: `SELECT *` over a join 0.1, DISTINCT over a GROUP BY of the same query 0.1.
    """
    if case.multiplied:
        return 0.2, "A cartesian join multiplies the rows."
    if case.result is None or not case.ran:
        return 0.2, "The query did not run."
    scanned = sum(t.row_count or 0 for t in case.tables_read)
    allowed = FREE_MS + MS_PER_ROW * scanned
    late = math.log10(case.result.execution_time_ms / allowed) if case.result.execution_time_ms > allowed else 0.0
    time_cost = min(0.5, 0.25 * late)
    scan_cost = min(0.3, 0.1 * len(case.full_scans))
    waste = 0.1 * (case.facts.projects_star and case.facts.joins > 0) + 0.1 * (
        case.facts.distinct and bool(case.facts.group_by)
    )
    notes = []
    if time_cost:
        notes.append(f"it took {case.result.execution_time_ms:.0f} ms for tables of {scanned} rows")
    if scan_cost:
        names = ", ".join(dict.fromkeys(scan.table for scan in case.full_scans))
        notes.append(f"it reads all rows of {names}")
    if waste:
        notes.append("it computes more than it needs")
    value = max(0.0, 1.0 - time_cost - scan_cost - waste)
    return value, f"Less than ideal: {', '.join(notes)}." if notes else ""


_INCOMPLETE, _OTHERWISE = marked("incomplete"), marked("otherwise")
"""Observations that say that something is missing; that the query means something else."""


def completeness(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """All rows and columns that the question asks for, nothing cut. With gold: the share of gold's rows that the result
    has."""
    if case.result is None or not case.result.ok:
        return 0.0, "There is no result."
    if case.gold is not None:
        expected, actual = len(case.gold.rows), len(case.result.rows)
        if case.gold.columns and len(case.result.columns) < len(case.gold.columns):
            return 0.5, f"{len(case.result.columns)} of {len(case.gold.columns)} columns."
        if actual >= expected:
            return 1.0, ""
        return actual / expected, f"{actual} of {expected} rows."
    return charged(_INCOMPLETE, seen)


def semantic_accuracy(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The question's intent, literals and units are the query's."""
    if case.parsed.tree is None or not case.references.tables:
        return 0.0, "The query speaks of nothing that the question asks about."
    return charged(_OTHERWISE, seen)


LONG_LINE = 200


def best_practices(case: Case) -> tuple[float, str]:
    """How readable the SQL is, as written.

    `1` less 0.2 for `SELECT *`, 0.15 for computed columns without a name where there are several columns, 0.15 for
    unqualified columns in a join, 0.15 for one long line (over `LONG_LINE` characters), 0.15 for comma joins, 0.2 for
    positions in ORDER BY or GROUP BY; at least 0.
    """
    tree = case.parsed.tree
    if tree is None:
        return 0.0, "There is no query."
    faults = []
    if case.facts.projects_star:
        faults.append((0.2, "it selects every column"))
    select = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    if select is not None:
        computed = [e for e in select.expressions if not isinstance(e, exp.Column | exp.Alias | exp.Star)]
        if computed and len(select.expressions) > 1:
            faults.append((0.15, "computed columns have no name"))
        joins = select.args.get("joins") or []
        if joins and any(not c.table for c in every(select, exp.Column)):
            faults.append((0.15, "columns of a join are not qualified"))
        if any(
            not (j.args.get("on") or j.args.get("using") or j.args.get("kind") or j.args.get("method")) for j in joins
        ):
            faults.append((0.15, "tables are joined by commas"))
    if any(len(line) > LONG_LINE for line in case.parsed.text.splitlines()):
        faults.append((0.15, "it is one long line"))
    if any(key.isdecimal() for key, _ in case.facts.order_by) or any(g.isdecimal() for g in case.facts.group_by):
        faults.append((0.2, "it refers to columns by position"))
    value = max(0.0, 1.0 - sum(cost for cost, _ in faults))
    return value, f"Could be clearer: {', '.join(text for _, text in faults)}." if faults else ""


UNKNOWN = 0.75


def plan_quality(case: Case) -> tuple[float, str]:
    """The planner's confidence and the reasoning given: `0.6 × confidence + 0.4 × reasoning`.

    Without a known confidence `UNKNOWN` stands in. Reasoning is 1 when it names a table or column of the query, else
    `UNKNOWN`. A plan that ends in no table at all is worth 0.2.
    """
    if not case.references.tables:
        return 0.2, "The plan leads to no table."
    confidence = UNKNOWN if case.plan_confidence is None else min(1.0, max(0.0, case.plan_confidence))
    reasoning = case.reasoning.casefold()
    names = (*case.references.tables, *(c for _, c in case.references.columns))
    grounded = any(name.casefold() in reasoning or name.casefold().replace("_", " ") in reasoning for name in names)
    value = 0.6 * confidence + 0.4 * (1.0 if reasoning and grounded else UNKNOWN)
    if case.plan_confidence is None:
        return value, "No confidence in the plan is known."
    return value, "" if value > 0.95 else f"The plan's confidence is {confidence:.2f}."


PER_LOG_ODDS = 0.1
MOST = 0.3
GRAVE = MappingProxyType({"nothing_linked": 0.5, "other_table_named": 0.5, "cartesian": 0.5, "all_null": 0.3})


def charged(
    names: frozenset[str], seen: Sequence[Observation], fitted: Mapping[str, float] | None = None
) -> tuple[float, str]:
    """1 less the cost of what was seen of `names`, at least 0; and the dearest of it in words."""
    weights = coefficients().weights if fitted is None else fitted
    charges = [
        (cost, o.text)
        for o in seen
        if o.name.removeprefix(PROVED) in names
        and kind_of(o.name) == "contradiction"
        and (cost := _cost(o, weights.get(o.name, 0.0))) > 0
    ]
    if not charges:
        return 1.0, ""
    return max(0.0, 1.0 - sum(cost for cost, _ in charges)), max(charges)[1]


def _cost(seen: Observation, weight: float) -> float:
    grave = GRAVE.get(seen.name, 0.0) * min(1.0, seen.value)
    return max(grave, min(MOST, PER_LOG_ODDS * max(0.0, -weight * seen.value)))
