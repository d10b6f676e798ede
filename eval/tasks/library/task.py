"""A task: a question about one database, the gold query, and plausible but wrong queries.

In: nothing. Out: the frozen values shared by the library, the loaders of public benchmarks, the checks and the
benchmark runner.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.schema import Dialect

DIFFICULTIES = ("easy", "medium", "hard", "enterprise")
"""The library's difficulty levels, from one table with one condition to questions that only a warehouse analyst asks.
Loaded benchmarks keep their own words ("simple", "extra")."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query, with variants for engines that need different SQL."""

    sql: str
    """For every engine that has no variant; in the library, SQLite's text."""
    variants: tuple[tuple[Dialect, str], ...] = ()

    def on(self, dialect: Dialect) -> str:
        return dict(self.variants).get(dialect, self.sql)


@dataclass(frozen=True, slots=True)
class WrongQuery:
    """A query that a careful reader might write, but that answers a different question."""

    query: Query
    note: str
    """What is wrong with it, in a few words."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its gold query. Results are never stored: the gold query runs whenever it is needed."""

    id: str
    database: str
    question: str
    gold: Query
    difficulty: str = ""
    """One of DIFFICULTIES, or the level given by the benchmark that the task was loaded from; empty when it has
    none."""
    tags: tuple[str, ...] = ()
    wrong: tuple[WrongQuery, ...] = ()
    evidence: str = ""
    """A hint given with the question (BIRD's external knowledge)."""
    also_right: tuple[str, ...] = ()
    """Other gold queries, if the benchmark accepts several."""


TAGS: dict[str, str] = {
    "aggregate": "figures over all rows: the answer is a single row",
    "anomaly": "rows far from what is usual: z-scores, jumps, deviations from a trend",
    "anti-join": "what has no match elsewhere",
    "as-of": "the state of things on a given day",
    "attribution": "credit for a sale to the messages before it",
    "basket": "things bought together",
    "bom": "the bill of materials, over all its levels",
    "case": "CASE: conditional values",
    "cohort": "groups by when they began",
    "correlated": "a subquery that refers to the outer row",
    "data-quality": "raw rows that break a rule",
    "date": "calendar ranges, months, differences of days",
    "dedup": "one row out of several that say the same",
    "distinct": "DISTINCT: counting or listing things, not rows",
    "empty": "the right answer has no rows",
    "fan-out": "a join that repeats the rows which are summed",
    "filter": "conditions on rows",
    "fiscal": "the fiscal year that begins on 1 July",
    "funnel": "how many get from step to step",
    "gaps-islands": "unbroken runs and the holes between them",
    "group-by": "rows are grouped, in the answer or on the way to it",
    "having": "conditions on groups",
    "hierarchy": "who reports to whom, over all levels",
    "inventory": "stock at the end of months, which must not be summed over time",
    "join": "two or more tables",
    "logic": "AND, OR and NOT together",
    "median": "middle values and other percentiles",
    "moving-average": "an average over the last rows or periods",
    "null": "values that are missing",
    "outer-join": "rows that are kept without a match",
    "pareto": "shares that add up: ABC classes, the few that make most",
    "period-over-period": "this period against the one before",
    "pivot": "values turned into columns",
    "ratio": "shares, rates and percentages",
    "recursive": "a query that calls itself",
    "retention": "who comes back",
    "rfm": "recency, frequency and monetary value",
    "running-total": "sums that grow row by row",
    "scd": "history in rows with validity dates (type 2)",
    "self-join": "a table or CTE joined with itself",
    "semi-join": "what has a match elsewhere, once",
    "sessionisation": "events grouped by the pauses between them",
    "set-operation": "UNION, INTERSECT, EXCEPT",
    "subquery": "a query inside another, a CTE too",
    "tenant": "one brand's rows apart from the others'",
    "text": "patterns and parts of text",
    "top-n": "the first rows by a measure, overall or in each group",
    "window": "window functions",
}
