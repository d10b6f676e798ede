"""Print the result of `python -m eval.tasks check`: a table of verdicts by engine, then the violations.

In: the tasks and engines to check. Out: text on standard output, and whether every rule held.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.databases import Database
from eval.schema import Dialect
from eval.tasks.library import DIFFICULTIES, tasks
from eval.tasks.library.checks import check_tasks, demos_on


def check_and_print(
    engines: Sequence[str],
    database: str | None,
    difficulty: str | None,
    tags: Sequence[str],
    jobs: int,
    progress: Progress,
) -> bool:
    """Check the tasks that match. True when, on every engine, every gold query holds and every wrong query fails.

    Raises DatabaseError, TaskFileError, and KeyError for an unknown database, difficulty or tag.
    """
    chosen = tasks(database, difficulty, tags)
    ids = list(dict.fromkeys(task.database for task in chosen))
    with contextlib.ExitStack() as stack:
        opened: dict[Dialect, dict[str, Database]] = {}
        for engine in engines:
            demos = stack.enter_context(demos_on(engine, ids))
            opened |= {demo.dialect: demos for demo in demos.values()}
        bar = progress.add_task("tasks", total=len(chosen))
        report = check_tasks(chosen, opened, jobs=jobs, on_done=lambda: progress.advance(bar))
    out = Console()
    table = Table("engine", "golds that hold", "wrong queries that fail", "seconds in the engine")
    for verdict in report.engines:
        table.add_row(
            verdict.engine,
            f"{verdict.golds_right} of {verdict.golds}",
            f"{verdict.wrong_failed} of {verdict.wrong}",
            f"{verdict.seconds:.1f}",
        )
    counts = Counter(task.difficulty for task in chosen)
    out.print(table)
    out.print(f"{len(chosen)} tasks: " + ", ".join(f"{counts[level]} {level}" for level in DIFFICULTIES))
    for violation in report.violations:
        out.print(f"{violation.task} on {violation.engine}: {violation.what}", markup=False, soft_wrap=True)
    return bool(chosen) and not report.violations
