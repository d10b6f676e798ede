"""A task: a question about one database, the gold query, and plausible but wrong queries.

In: nothing. Out: the frozen values shared by the library, the loaders of public benchmarks, the checks and the
benchmark runner.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval.language.lexicon import lines
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


TAGS = dict(line.split(": ", 1) for line in lines(Path(__file__).with_name("tags.txt")))
"""The features that a task can be tagged with, and what each means. A tag that is not listed is an error."""
