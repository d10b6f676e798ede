"""The task library: questions on the demo databases with gold SQL, and wrong queries that a fair judge must reject.

In: a database, a difficulty, tags, or nothing. Out: `Task` values, read from the `.sql` files in the folders `shop` and
`enterprise`, which are written for people to read. `python -m eval.tasks check` runs them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from eval.tasks.library.task import DIFFICULTIES, TAGS, Query, Task, TaskFileError, WrongQuery, read_tasks

__all__ = ["DIFFICULTIES", "TAGS", "Query", "Task", "TaskFileError", "WrongQuery", "tasks"]

_DATABASES = ("shop", "enterprise")


def tasks(
    database: str | None = None, difficulty: str | None = None, tags: Iterable[str] | None = None
) -> tuple[Task, ...]:
    """The library's tasks, in the order of their files, filtered by database, by difficulty and by tags (a task must
    have all of them).

    Raises KeyError for a database, difficulty or tag that the library does not have.
    """
    wanted = frozenset(tags or ())
    for kind, word, known in (
        ("database", database, _DATABASES),
        ("difficulty", difficulty, DIFFICULTIES),
        *(("tag", tag, tuple(TAGS)) for tag in sorted(wanted)),
    ):
        if word is not None and word not in known:
            raise KeyError(f"no {kind} {word!r} in the task library; there are: {', '.join(known)}")
    return tuple(
        task
        for task in _all_tasks()
        if (database is None or task.database == database)
        and (difficulty is None or task.difficulty == difficulty)
        and wanted <= set(task.tags)
    )


@cache
def _all_tasks() -> tuple[Task, ...]:
    tasks: dict[str, Task] = {}
    for database in _DATABASES:
        folder = files(__name__) / database
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if not file.name.endswith(".sql"):
                continue
            for task in read_tasks(file.read_text(encoding="utf-8"), database, f"{database}/{file.name}"):
                if task.id in tasks:
                    raise TaskFileError(f"{database}/{file.name}: {task.id} is there twice")
                tasks[task.id] = task
    return tuple(tasks.values())
