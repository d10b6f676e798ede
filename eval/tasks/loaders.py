"""Load public benchmarks as `Task` values: Spider, BIRD, and plain JSON lines, with their databases and test suites.

In: the files as published, on this machine; nothing is downloaded. Out: a `TaskSet`. An entry that cannot be read stops
the loading with a `TaskLoadError` that says where. A question whose gold query fails is kept: whether to leave it out
is a decision for the report of the score.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from eval.databases.urls import is_plain_name
from eval.errors import InputError
from eval.schema import Dialect
from eval.tasks.library.task import Query, Task

Record = Mapping[str, Any]

_DATABASE_FOLDERS = ("databases", "database", "dev_databases", "test_database", "train_databases")
_SUITE_FOLDERS = ("test_suite", "test_suite_database", "test_suites")


class TaskLoadError(InputError):
    """A benchmark's file cannot be read; the message names the file, the entry and what was expected."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    tasks: tuple[Task, ...]
    databases: Mapping[str, Path]
    """SQLite file by database id. A database that was not found is absent here."""
    suites: Path | None = None
    """Folder of test suites, `{db}/` or `{db}.tar.xz`, as `eval.metrics.suites.suite_files` reads them."""

    def suite(self, database: str, cache: Path) -> tuple[Path, ...]:
        """The SQLite files of a database's test suite, unpacked into `cache` if necessary; empty when it has none.
        Raises DatabaseError."""
        from eval.metrics.suites import suite_files

        return suite_files(self.suites, database, cache) if self.suites else ()


def load_spider(
    questions: str | Path, databases: str | Path | None = None, suites: str | Path | None = None
) -> TaskSet:
    """Spider's `dev.json` or `train_spider.json`: a list of `{"db_id", "question", "query", …}`.

    `databases`: folder with `{db}/{db}.sqlite` or `{db}.sqlite`; `suites`: folder of test suites. By default both are
    searched for next to the questions. Spider's questions have no id: they are numbered, `dev-0`, `dev-1`, …
    """
    path = Path(questions)

    def read(number: int, entry: Record) -> Task:
        return Task(
            id=f"{path.stem}-{number}",
            database=_database(entry, "db_id"),
            question=_text(entry, "question"),
            gold=Query(_text(entry, "query")),
            difficulty=_word(entry, "difficulty", "hardness"),
        )

    return _task_set(path, read, databases, suites)


def load_bird(questions: str | Path, databases: str | Path | None = None, suites: str | Path | None = None) -> TaskSet:
    """BIRD's `dev.json` or `mini_dev_sqlite.json`: a list of `{"question_id", "db_id", "question", "evidence", "SQL",
    "difficulty"}`. Folders as in `load_spider`; a task's id is `bird-` and the question's number.
    """
    path = Path(questions)

    def read(number: int, entry: Record) -> Task:
        return Task(
            id=f"bird-{entry.get('question_id', number)}",
            database=_database(entry, "db_id"),
            question=_text(entry, "question"),
            gold=Query(_text(entry, "SQL")),
            difficulty=_word(entry, "difficulty"),
            evidence=_word(entry, "evidence"),
        )

    return _task_set(path, read, databases, suites)


def load_jsonl(questions: str | Path, databases: str | Path | None = None, suites: str | Path | None = None) -> TaskSet:
    """JSON lines with `id`, `db`, `question`, `gold_sql`, and optionally `difficulty`, `tags`, `evidence`,
    `alt_gold_sql` (other right answers), `gold_sql_{dialect}` (a variant for one engine). A folder means its
    `questions.jsonl`. Folders as in `load_spider`.
    """
    path = Path(questions)
    if path.is_dir():
        path = path / "questions.jsonl"

    def read(number: int, entry: Record) -> Task:
        variants = tuple(
            (dialect, entry[name])
            for dialect in get_args(Dialect)
            if isinstance(entry.get(name := f"gold_sql_{dialect}"), str)
        )
        return Task(
            id=str(entry.get("id", f"{path.stem}-{number}")),
            database=_database(entry, "db"),
            question=_text(entry, "question"),
            gold=Query(_text(entry, "gold_sql"), variants),
            difficulty=_word(entry, "difficulty"),
            tags=_words(entry, "tags"),
            evidence=_word(entry, "evidence"),
            also_right=_words(entry, "alt_gold_sql"),
        )

    return _task_set(path, read, databases, suites, lines=True)


def _task_set(
    path: Path,
    read: Callable[[int, Record], Task],
    databases: str | Path | None,
    suites: str | Path | None,
    *,
    lines: bool = False,
) -> TaskSet:
    """`lines`: whether each line of the file is an entry, else the file is a list of them."""
    tasks: dict[str, Task] = {}
    for number, entry in _entries(path, lines):
        try:
            if not isinstance(entry, dict):
                raise TaskLoadError("is not a JSON object")
            task = read(number, entry)
            if task.id in tasks:
                raise TaskLoadError(f"repeats the id {task.id!r}")
        except TaskLoadError as problem:
            raise TaskLoadError(f"{path}: entry {number} {problem}") from None
        tasks[task.id] = task
    where = _folder(databases, path.parent, _DATABASE_FOLDERS)
    files: dict[str, Path] = {}
    if where is not None:
        for name in sorted({task.database for task in tasks.values()}):
            for file in (where / f"{name}.sqlite", where / name / f"{name}.sqlite"):
                if file.is_file():
                    files[name] = file  # the second, where there are both
    return TaskSet(tuple(tasks.values()), MappingProxyType(files), _folder(suites, path.parent, _SUITE_FOLDERS))


def _folder(given: str | Path | None, beside: Path, names: tuple[str, ...]) -> Path | None:
    if given is not None:
        if not Path(given).is_dir():
            raise TaskLoadError(f"{given} is not a folder")
        return Path(given)
    return next((beside / name for name in names if (beside / name).is_dir()), None)


def _entries(path: Path, lines: bool) -> Iterator[tuple[int, object]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TaskLoadError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TaskLoadError(f"{path} is not UTF-8 text") from error
    if lines:
        for number, line in enumerate(text.split("\n")):
            if line.strip():
                yield number, _parse(line, f"{path}: entry {number}")
        return
    value = _parse(text, str(path))
    if not isinstance(value, list):
        raise TaskLoadError(f"{path} contains no list of questions")
    yield from enumerate(value)


def _parse(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = (
            f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        )
        raise TaskLoadError(f"{where} is not JSON: {reason}") from None


def _text(entry: Record, name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TaskLoadError(f"has no text in {name!r}")
    return value


def _database(entry: Record, name: str) -> str:
    """A database's id, which must not lead out of the folder of databases."""
    value = _text(entry, name)
    if not is_plain_name(value):
        raise TaskLoadError(f"has {value!r} in {name!r}, which cannot be the name of a database")
    return value


def _word(entry: Record, *names: str) -> str:
    return next((value for name in names if isinstance(value := entry.get(name), str)), "")


def _words(entry: Record, name: str) -> tuple[str, ...]:
    value = entry.get(name)
    if isinstance(value, str):
        return (value,)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
