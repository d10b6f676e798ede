"""A task: a question about one database, the gold query, and plausible but wrong queries.

In: nothing. Out: the frozen values shared by the library, the loaders of public benchmarks, the checks and the
benchmark runner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from eval.errors import InputError
from eval.language.lexicon import lines
from eval.schema import DIALECTS, Dialect

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


LEAST_WRONG = 2
"""Wrong queries that every task must have."""

_MARK = re.compile(r"-- (TASK|ASK|GOLD|WRONG|ON)\b *(.*)")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_HEAD = re.compile(r"(\S+) +(\S+) +(.+)")


class TaskFileError(InputError):
    """A task file breaks the format; the message names the file, the line and what was expected."""


@dataclass
class _Block:
    """A marked line with the text that belongs to it: more comment lines, then SQL."""

    mark: str
    line: int
    said: list[str]
    sql: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(part for part in self.said if part)

    @property
    def query(self) -> str:
        return "\n".join(self.sql).strip().removesuffix(";")


def read_tasks(text: str, database: str, file: str) -> tuple[Task, ...]:
    """The tasks of one file's text. Raises TaskFileError."""
    tasks: list[list[_Block]] = []
    for block in _blocks(text):
        if block.mark == "TASK":
            tasks.append([])
        elif not tasks:
            raise TaskFileError(f"{file}:{block.line}: {block.mark} before the first TASK")
        tasks[-1].append(block)
    return tuple(_task(blocks, database, file) for blocks in tasks)


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    for number, line in enumerate(text.splitlines(), 1):
        if mark := _MARK.match(line):
            blocks.append(_Block(mark[1], number, [mark[2].strip()]))
        elif not blocks:
            continue
        elif line.startswith("--") and not blocks[-1].sql:
            blocks[-1].said.append(line.removeprefix("--").strip())
        elif line.strip() or blocks[-1].sql:
            blocks[-1].sql.append(line)
    return blocks


def _task(blocks: list[_Block], database: str, file: str) -> Task:
    head, *rest = blocks
    name, difficulty, tags = _head(head, file)
    for block in blocks:
        wants_sql = block.mark in ("GOLD", "WRONG", "ON")
        if wants_sql != bool(block.query):
            raise TaskFileError(f"{file}:{block.line}: {block.mark} {'needs' if wants_sql else 'takes no'} SQL")
        if (block.mark == "GOLD") == bool(block.text):
            problem = "GOLD must be alone on its line" if block.mark == "GOLD" else f"{block.mark} needs words"
            raise TaskFileError(f"{file}:{block.line}: {problem}")
    if [block.mark for block in rest[:2]] != ["ASK", "GOLD"]:
        raise TaskFileError(f"{file}:{head.line}: {name}: expected TASK, ASK, GOLD, then WRONG")
    ask, *queries = rest
    wordings: list[tuple[_Block, Query]] = []
    for block in queries:
        if block.mark == "ON":
            base, query = wordings[-1]
            dialects: dict[str, Dialect] = {dialect: dialect for dialect in DIALECTS}
            named = [name.strip() for name in block.text.split(",")]
            if unknown := [name for name in named if name not in dialects]:
                raise TaskFileError(f"{file}:{block.line}: {unknown[0]!r} is not one of {', '.join(dialects)}")
            variants = tuple((dialects[name], block.query) for name in named)
            wordings[-1] = base, Query(query.sql, query.variants + variants)
        elif block.mark == "WRONG" or not wordings:
            wordings.append((block, Query(block.query)))
        else:
            raise TaskFileError(f"{file}:{block.line}: {name}: a second {block.mark}")
    (_, gold), *others = wordings
    if len(others) < LEAST_WRONG:
        raise TaskFileError(f"{file}:{head.line}: {name}: needs {LEAST_WRONG} WRONG queries, has {len(others)}")
    wrong = tuple(WrongQuery(query, block.text) for block, query in others)
    return Task(f"{database}-{name}", database, ask.text, gold, difficulty, tags, wrong)


def _head(block: _Block, file: str) -> tuple[str, str, tuple[str, ...]]:
    where = f"{file}:{block.line}"
    match = _HEAD.fullmatch(block.text)
    if not match:
        raise TaskFileError(f"{where}: expected '-- TASK id  difficulty  tag, tag'")
    name, difficulty, listed = match.groups()
    tags = tuple(tag.strip() for tag in listed.split(","))
    if not _ID.fullmatch(name):
        raise TaskFileError(f"{where}: {name!r}: an id is lower-case words and digits with hyphens")
    if difficulty not in DIFFICULTIES:
        raise TaskFileError(f"{where}: {name}: {difficulty!r} is not one of {', '.join(DIFFICULTIES)}")
    if unknown := [tag for tag in tags if tag not in TAGS]:
        raise TaskFileError(f"{where}: {name}: unknown tag {unknown[0]!r}; tags.py lists the tags")
    return name, difficulty, tags
