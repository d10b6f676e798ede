"""What a task is: a question about one database, the SQL that answers it, and queries that look right and are not.

In: nothing. Out: the frozen values that the library, the loaders of public benchmarks, the checks and the benchmark
runner hand to each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.schema import Dialect

DIFFICULTIES = ("easy", "medium", "hard", "enterprise")
"""The library's levels, from one table and one condition to what only an analyst of a warehouse asks. Loaded
benchmarks keep their own words ("simple", "extra")."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query, with the texts of the engines that need another wording."""

    sql: str
    """For every engine that has no variant; for the library, SQLite's."""
    variants: tuple[tuple[Dialect, str], ...] = ()

    def on(self, dialect: Dialect) -> str:
        """The text for that engine."""
        return dict(self.variants).get(dialect, self.sql)


@dataclass(frozen=True, slots=True)
class WrongQuery:
    """A query that a careful reader might write and that answers another question."""

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
    """One of DIFFICULTIES, or the word of the benchmark that the task was loaded from; empty where it has none."""
    tags: tuple[str, ...] = ()
    wrong: tuple[WrongQuery, ...] = ()
    evidence: str = ""
    """A hint that comes with the question (BIRD's external knowledge)."""
    also_right: tuple[str, ...] = ()
    """Other gold queries, where the benchmark accepts several."""
