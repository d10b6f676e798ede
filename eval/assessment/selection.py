"""Select the questions and databases: the task library, Spider, BIRD or JSON lines, with filters.

In: a source as the user wrote it, and filters. Out: a `Selection` with, for each task, the location of the database and
the structure to send; or a `SelectionError` that says what to change. `task_message` is what a participant receives:
the question, the structure and the dialect in the format of the contract, never gold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from eval.databases import Database, DatabaseError, Limits, open_database
from eval.databases.values import json_rows
from eval.engines import ENGINES, dialect_named, listed
from eval.errors import InputError
from eval.schema import DIALECTS, Dialect, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import table_source
from eval.tasks.cache_folder import cache_folder
from eval.tasks.library import DIFFICULTIES, tasks
from eval.tasks.library.checks import FORMS, demo_file, demos_on, forms
from eval.tasks.library.task import Task
from eval.tasks.loaders import TaskLoadError, TaskSet, load_bird, load_jsonl, load_spider

PLAIN = ("one table",)
"""The category of a query that has none of the forms."""


class SelectionError(InputError):
    """There is no task to ask, or the request is unclear; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters on the tasks of a source. Empty means all."""

    databases: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """A task must have all of these tags."""
    ids: tuple[str, ...] = ()
    limit: int | None = None
    """The number of tasks, spread evenly over those that pass the other filters."""
    shard: tuple[int, int] = (0, 1)
    """(index, count): the share of one of `count` evaluators. The shares are disjoint and together complete."""


@dataclass(frozen=True, slots=True)
class Assignment:
    task: Task
    target: str
    """Path or URL of the database; may contain credentials, never shown."""
    dialect: Dialect
    structure: Mapping[str, Any]
    """The `schema` sent to the participant."""
    suite: tuple[Path, ...] = ()

    @property
    def golds(self) -> tuple[str, ...]:
        return (self.task.gold.on(self.dialect), *self.task.also_right)

    @property
    def features(self) -> tuple[str, ...]:
        """Forms of SQL in gold; the library's tasks list them among their tags."""
        if self.task.wrong:
            return tuple(tag for tag in FORMS if tag in self.task.tags) or PLAIN
        try:
            return forms(self.task.gold.sql) or PLAIN
        except ValueError:
            return ()


@dataclass(frozen=True, slots=True)
class Selection:
    source: str
    """The source of the tasks, for people."""
    assignments: tuple[Assignment, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over questions, golds, structures and dialects: if it is equal, results may be combined."""
        parts = [
            [a.task.id, a.task.question, a.task.evidence, a.golds, a.dialect, a.structure] for a in self.assignments
        ]
        return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def select_tasks(
    source: str = "library",
    filters: Filters | None = None,
    *,
    dialect: str = "sqlite",
    engine: str | None = None,
    databases: Path | None = None,
    suites: Path | None = None,
    samples: int = 0,
) -> Selection:
    """The tasks of `source` (`library`, `spider:PLACE`, `bird:PLACE`, or a file of JSON lines) that pass the filters.

    `dialect`: for the library, the engine it runs on. `sqlite` and `duckdb` use files, built if necessary; PostgreSQL
    and MySQL need `engine`, the URL of a database that holds the demos or that they may be loaded into. The other
    sources have SQLite files, in `databases` or next to the questions. `samples`: the number of rows of each table to
    send as well. Raises SelectionError.
    """
    filters = filters or Filters()
    try:
        wanted = dialect_named(dialect)
        if not ENGINES[wanted].executes:
            raise SelectionError(f"{ENGINES[wanted].title} is not executed here; choose {listed(DIALECTS)}")
        if source == "library":
            return _from_library(filters, wanted, engine, samples)
        if wanted != "sqlite" or engine:
            raise SelectionError(f"{source} has SQLite databases only: leave --dialect and --engine out")
        return _from_files(source, filters, databases, suites, samples)
    except (TaskLoadError, DatabaseError, ValueError, OSError) as error:
        raise SelectionError(str(error)) from None


def _from_library(filters: Filters, dialect: Dialect, engine: str | None, samples: int) -> Selection:
    chosen = _filtered(tasks(), filters, DIFFICULTIES)
    ids = list(dict.fromkeys(task.database for task in chosen))
    if dialect in ("sqlite", "duckdb") and engine is None:
        targets = {name: str(demo_file(dialect, name)) for name in ids}
    elif engine is None:
        raise SelectionError(f"{dialect} needs --engine with the URL of a database for the demos")
    else:
        with demos_on(engine, ids) as opened:
            dialects = {database.dialect for database in opened.values()}
        if dialects != {dialect}:
            raise SelectionError(f"--engine is a {'/'.join(sorted(dialects))} database, --dialect says {dialect}")
        targets = dict.fromkeys(ids, engine)
    structures = {name: _structure(target, samples) for name, target in targets.items()}
    assignments = (Assignment(t, targets[t.database], dialect, structures[t.database]) for t in chosen)
    return Selection(f"the task library on {dialect}", tuple(assignments))


def _from_files(source: str, filters: Filters, databases: Path | None, suites: Path | None, samples: int) -> Selection:
    loaded = _loaded(source, databases, suites)
    chosen = _filtered(loaded.tasks, filters)
    lacking = sorted({task.database for task in chosen} - set(loaded.databases))
    if lacking:
        raise SelectionError(
            f"no database was found for {', '.join(lacking[:5])}{' and others' if len(lacking) > 5 else ''}: say "
            "where the databases are, or choose others"
        )
    names = {task.database for task in chosen}
    structures = {name: _structure(str(loaded.databases[name]), samples) for name in names}
    replicas = {name: loaded.suite(name, cache_folder()) for name in names}
    assignments = (
        Assignment(t, str(loaded.databases[t.database]), "sqlite", structures[t.database], replicas[t.database])
        for t in chosen
    )
    kind, _, place = source.rpartition(":")
    return Selection(f"{kind}:{Path(place).name}" if kind else Path(place).name, tuple(assignments))


def _loaded(source: str, databases: Path | None, suites: Path | None) -> TaskSet:
    kind, colon, place = source.partition(":")
    loaders: dict[str, tuple[Callable[..., TaskSet], tuple[str, ...]]] = {
        "spider": (load_spider, ("dev.json", "test.json", "train_spider.json")),
        "bird": (load_bird, ("dev.json", "mini_dev_sqlite.json", "train.json")),
    }
    if not colon or kind not in loaders:
        return load_jsonl(source, databases, suites)
    load, names = loaders[kind]
    path = Path(place)
    if path.is_dir():
        file = next((path / name for name in names if (path / name).is_file()), None)
        if file is None:
            raise SelectionError(f"{place} holds none of {', '.join(names)}")
        path = file
    return load(path, databases, suites)


def _structure(target: str, samples: int) -> Mapping[str, Any]:
    with open_database(target) as database:
        return structure_message(database, samples)


def _filtered(tasks: Iterable[Task], filters: Filters, levels: tuple[str, ...] = ()) -> list[Task]:
    everything = list(tasks)
    levels = tuple(task.difficulty for task in everything if task.difficulty) + levels
    for kind, words, known in (
        ("schema", filters.databases, {task.database for task in everything}),
        ("difficulty", filters.difficulties, set(levels)),
        ("tag", filters.tags, {tag for task in everything for tag in task.tags}),
        ("id", filters.ids, {task.id for task in everything}),
    ):
        for word in words:
            if word not in known:
                there = ", ".join(sorted(known)[:30]) or "none"
                raise SelectionError(f"there is no {kind} {word[:100]!r} among the tasks; there are: {there}")
    chosen = [
        task
        for task in everything
        if (not filters.databases or task.database in filters.databases)
        and (not filters.difficulties or task.difficulty in filters.difficulties)
        and set(filters.tags) <= set(task.tags)
        and (not filters.ids or task.id in filters.ids)
    ]
    if not chosen:
        raise SelectionError("no task passes all the filters")
    if filters.limit is not None and filters.limit < len(chosen):
        chosen = [chosen[i * len(chosen) // filters.limit] for i in range(filters.limit)]
    index, count = filters.shard
    if not chosen[index::count]:
        raise SelectionError(f"shard {index} of {count} has no task: there are {len(chosen)}")
    return chosen[index::count]


_SAMPLE_LIMITS = Limits(seconds=10.0, rows=20, bytes=256 * 1024, cell_bytes=4 * 1024)


def task_message(task: Task, structure: dict[str, Any], dialect: str) -> dict[str, Any]:
    return {
        "task_id": task.id,
        "question": task.question,
        "schema": structure,
        "dialect": "postgresql" if dialect == "postgres" else dialect,
        **({"evidence": task.evidence} if task.evidence else {}),
    }


def structure_message(database: Database, samples: int = 0) -> dict[str, Any]:
    """`schema.tables` as a list, with declared keys only; with `samples`, also that many rows of each table. Raises
    DatabaseError."""
    schema = database.schema()
    tables = []
    for table in schema.tables:
        described = _table(table)
        if samples:
            query = exp.select("*").from_(table_source(table)).limit(samples)
            statement = check(parsed_from_tree(query, schema.dialect)).statement
            result = database.execute(statement, limits=_SAMPLE_LIMITS) if statement else None
            described["sample_rows"] = json_rows(result.rows) if result and result.ok else []
        tables.append(described)
    return {"tables": tables}


def _table(table: Table) -> dict[str, Any]:
    declared = [key for key in table.foreign_keys if not key.inferred]
    single = {key.columns[0]: key for key in declared if len(key.columns) == 1}
    described: dict[str, Any] = {
        "name": table.name,
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                "primary_key": column.primary_key,
                "foreign_key": f"{key.ref_table}.{key.ref_columns[0]}" if (key := single.get(column.name)) else None,
                "default": column.default,
            }
            for column in table.columns
        ],
    }
    several = [
        {"columns": [*key.columns], "references": {"table": key.ref_table, "columns": [*key.ref_columns]}}
        for key in declared
        if len(key.columns) > 1
    ]
    if several:
        described["foreign_keys"] = several
    if table.namespace:
        described["namespace"] = table.namespace
    return described
