"""How long our own part of a question takes, as a table; nothing here passes or fails.

    python -m experiments.speed.agent            (part of make bench)

Warm: the whole graph on the enterprise demo database, with a writer that replies at once (so that everything measured
is ours, statement included) and with the offline engine; beside it, the same statement sent straight to the database.
Cold: a fresh process of the command line, until its first step is seen and until its answer is there.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from rich.console import Console
from rich.table import Table

from agent.models.protocol import Model
from agent.parser import OfflineModel
from agent.runner import run
from agent.runtime.catalogue import resolve_database
from eval.databases.base import Database
from eval.sql import check, parse
from eval.tasks import DEMOS
from text2sql.testing import ScriptedModel

RUNS = 200
COLD_RUNS = 5


async def _timed(work: Callable[[], Awaitable[object]], runs: int = RUNS) -> list[float]:
    """Milliseconds of each run, after ten warm-up runs."""
    times = []
    for _ in range(runs + 10):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * 1000)
    return times[10:]


async def _warm(console: Console) -> None:
    database = await asyncio.to_thread(resolve_database, "enterprise")
    demo = next(d for d in DEMOS if d.id == "enterprise")
    offline = OfflineModel(database)
    table = Table(title=f"A question on the enterprise demo, warm, {RUNS} runs: milliseconds")
    for heading in ("question", "median", "p95", "statement alone", "ours / statement"):
        table.add_column(heading, justify="left" if heading == "question" else "right")
    ours = []
    for question in demo.example_questions:
        answer = await run(question, database=database, model=offline)
        if not answer.sql:
            table.add_row(question, "declined", "", "", "")
            continue
        statement = check(parse(answer.sql, database.dialect)).statement
        assert statement is not None
        alone = statistics.median(await _timed(lambda s=statement: database.execute_async(s), 30))  # type: ignore[misc]
        writers: dict[str, Model] = {
            "": ScriptedModel(answer.sql, relevance=1.0, name="instant"),
            " (offline engine)": offline,
        }
        for label, model in writers.items():
            times = await _asked(question, database, model)
            median = statistics.median(times)
            ours.append((label, median))
            p95 = sorted(times)[int(len(times) * 0.95)]
            table.add_row(question + label, f"{median:.1f}", f"{p95:.1f}", f"{alone:.1f}", f"{median / alone:.1f}")
    console.print(table)
    for label, name in (("", "with an instant writer"), (" (offline engine)", "with the offline engine")):
        medians = [m for where, m in ours if where == label]
        if medians:
            console.print(f"Median over {len(medians)} questions {name}: {statistics.median(medians):.1f} ms")


async def _asked(question: str, database: Database, model: Model) -> list[float]:
    return await _timed(lambda: run(question, database=database, model=model), RUNS // 4)


def _cold(console: Console) -> None:
    demo = next(d for d in DEMOS if d.id == "shop")
    command = [sys.executable, "-m", "agent.main", "--db", "shop", "--model", "offline", demo.example_questions[0]]
    subprocess.run(command, capture_output=True, check=False)  # the demo database is built now
    firsts, totals = [], []
    for _ in range(COLD_RUNS):
        started = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            process.stderr.read(1)
            firsts.append(time.perf_counter() - started)
            process.stderr.read()
        totals.append(time.perf_counter() - started)
    table = Table(title=f"A fresh process, {COLD_RUNS} runs: seconds")
    for heading in ("until", "median", "worst"):
        table.add_column(heading, justify="left" if heading == "until" else "right")
    table.add_row("the first step is shown", f"{statistics.median(firsts):.2f}", f"{max(firsts):.2f}")
    table.add_row("the answer is there", f"{statistics.median(totals):.2f}", f"{max(totals):.2f}")
    console.print(table)


def main() -> None:
    console = Console()
    asyncio.run(_warm(console))
    _cold(console)


if __name__ == "__main__":
    main()
