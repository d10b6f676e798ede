"""What the benchmark itself costs: a task's overhead, and comparing large results. Nothing here passes or fails.

    python -m experiments.speed.benchmark

The task library on SQLite is asked of one and then of two participants on loopback that answer with gold at once. What
the second costs is the cost of its tasks without that of starting; both queries' own share, measured apart, is taken
off. All figures are processor time of this process and of its judges, so that they mean the same on a busy machine.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlglot import exp

from eval.assessment import Options, Selection, assess, participant, select_tasks
from eval.assessment.records import TaskResult
from eval.assessment.selection import Assignment
from eval.databases import ExecutionResult, open_database
from eval.databases.types import Value
from eval.metrics.comparison import same_result
from eval.run_folder import RunFolder
from eval.sql import check, parse, render
from experiments.reference_participants import serving

ROWS = 100_000
COLUMNS = 10
RUNS = 5


def main() -> None:
    """Print the tables."""
    console = Console()
    console.print(overhead())
    console.print(comparing())


def overhead() -> Table:
    """Milliseconds of processor time a task."""
    selection = select_tasks()
    ours, theirs = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=_serve_gold, args=(theirs,), daemon=True)
    server.start()
    try:
        ours.send({a.task.id: _otherwise(a) for a in selection.assignments})
        url = ours.recv()
        one, two = (_asked(selection, url, participants) for participants in (1, 2))
    finally:
        server.kill()
    queries = _queries(selection)
    tasks = len(selection.assignments)
    table = Table("of a task", "processor time", title=f"{tasks} tasks", title_justify="left")
    for what, spent in (("all", two - one), ("both queries", queries), ("the benchmark's own", two - one - queries)):
        table.add_row(what, f"{1000 * spent / tasks:.1f} ms")
    return table


def _otherwise(assignment: Assignment) -> str:
    """Gold with an added limit that cuts nothing, if it has none, so that few answers equal gold's own query."""
    tree = parse(assignment.golds[0], assignment.dialect).tree
    assert isinstance(tree, exp.Query)
    return render(tree if tree.args.get("limit") else tree.limit(ROWS), assignment.dialect)


def _asked(selection: Selection, url: str, participants: int) -> float:
    """Seconds of processor time to assess this number of participants, all of them right."""
    before = _processor_seconds()
    with tempfile.TemporaryDirectory() as folder, RunFolder(Path(folder), {}, TaskResult) as run:
        whom = [participant(f"gold {number}", url, "rest") for number in range(participants)]
        options = Options(jobs=1, judges=1)
        results = asyncio.run(assess(selection.assignments, whom, options, on_result=run.add))
    assert all(result.right for result in results)
    return _processor_seconds() - before


def _queries(selection: Selection) -> float:
    """Seconds of processor time to run each gold query twice."""
    statements = [(a.target, check(parse(a.golds[0], a.dialect)).statement) for a in selection.assignments]
    with ExitStack() as stack:
        opened = {target: stack.enter_context(open_database(target)) for target, _ in statements}
        before = _processor_seconds()
        for target, statement in statements:
            assert statement is not None
            for _ in range(2):
                opened[target].execute(statement)
        return _processor_seconds() - before


def _processor_seconds() -> float:
    """Processor time of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _serve_gold(pipe: Connection) -> None:
    """A process that answers every task with its given SQL, never in the same text twice; it reports its URL first."""
    golds, number = pipe.recv(), count()
    with serving(lambda task: {"sql": f"{golds[task['task_id']]}\n-- answer {next(number)}"}) as running:
        pipe.send(running.url)
        threading.Event().wait()


def comparing() -> Table:
    """Seconds of processor time to compare two results of 100,000 rows and 10 columns: numbers, texts, NULL."""
    dice = random.Random(1)
    rows = [_row(dice, number) for number in range(ROWS)]
    shuffled = dice.sample(rows, len(rows))
    other = [*shuffled[:-1], (*shuffled[-1][:-1], "another")]
    table = Table("two results", "equal", "best of 5", title=f"{ROWS:,} × {COLUMNS}", title_justify="left")
    for what, these, ordered in (
        ("the same rows, order counts", [*rows], True),
        ("the same rows in another order", shuffled, False),
        ("one cell differs, in another order", other, False),
    ):
        seconds, equal = _fastest(lambda these=these, ordered=ordered: _same(rows, these, ordered))  # type: ignore[misc]
        table.add_row(what, "yes" if equal else "no", f"{seconds:.2f} s")
    return table


def _row(dice: random.Random, number: int) -> tuple[Value, ...]:
    """A key, amounts, counts, texts, and a column that is often NULL."""
    amounts = (dice.random() * 1e6 for _ in range(3))
    counts = (dice.randrange(1000) for _ in range(2))
    texts = (f"text {dice.randrange(5000)}" for _ in range(3))
    return (number, *amounts, *counts, *texts, dice.choice((None, 1.5)))


def _same(a: Sequence[tuple[Value, ...]], b: Sequence[tuple[Value, ...]], ordered: bool) -> bool:
    columns = tuple(f"c{n}" for n in range(COLUMNS))
    results = (ExecutionResult("success", columns=columns, rows=tuple(rows)) for rows in (a, b))
    return same_result(*results, ordered=ordered)


def _fastest(work: Callable[[], bool]) -> tuple[float, bool]:
    times, same = [], False
    for _ in range(RUNS):
        begun = time.process_time()
        same = work()
        times.append(time.process_time() - begun)
    return min(times), same


if __name__ == "__main__":
    main()
