"""What the gate on cost measures: work with different questions, each kind in a process of its own.

In: a kind's name. Out: a function that has imported and opened what it needs, and then does the work once; it returns
how many runs that was.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agent.config import Settings, settings
from agent.runner import import_nodes, run, stream
from agent.runtime.catalogue import resolve_database
from eval.databases import Database, open_database
from eval.examination import Query, examine
from eval.language.lexicon import word_set
from eval.scoring import score
from eval.tasks.library import Task, tasks
from text2sql.testing import ScriptedModel

Work = Callable[[], int]
SECONDS = 0.05
"""How long the scripted model takes for a reply."""


def _asked(demo: str) -> list[Task]:
    """Different questions: every third of the library on a demo database."""
    return list(tasks(demo))[::3]


def _opened(demo: str) -> Database:
    import agent.parser  # noqa: F401

    import_nodes()
    database = resolve_database(demo)
    asyncio.run(_answered(tasks(demo)[1].question, database, "offline"))  # values and vocabulary are read once
    return database


async def _answered(question: str, database: Database, model: str | ScriptedModel) -> None:
    await run(question, database=database, model=model, settings=settings())


def without_model() -> Work:
    """Questions to both demo databases, read by the engine without a model."""
    databases = {demo: _opened(demo) for demo in ("shop", "enterprise")}
    asked = [task for demo in databases for task in _asked(demo)]

    async def all_of_them() -> None:
        for task in asked:
            await _answered(task.question, databases[task.database], "offline")

    return lambda: _count(all_of_them, len(asked))


def with_model() -> Work:
    """The same questions with a model that knows the queries and replies at once."""
    databases = {demo: _opened(demo) for demo in ("shop", "enterprise")}
    asked = [task for demo in databases for task in _asked(demo)]

    async def all_of_them() -> None:
        for task in asked:
            await _answered(task.question, databases[task.database], ScriptedModel(task.gold.sql))

    return lambda: _count(all_of_them, len(asked))


def scoring() -> Work:
    """Queries of the library, examined and scored."""
    database = _opened("shop")
    schema = database.schema()
    wanted = [Query(t.question, t.gold.sql) for t in _asked("shop")]

    def all_of_them() -> int:
        for query in wanted:
            score(examine(query, database, schema=schema))
        return len(wanted)

    return all_of_them


def wide() -> Work:
    """The first question to 2,000 tables."""
    path = Path(tempfile.mkdtemp()) / "wide.sqlite"
    chance = random.Random(1)
    parts = sorted(word_set("name amount status city created_on quantity note code owner rating"))
    things = sorted(word_set("order invoice customer supplier payment shipment ticket asset contract visit"))
    with sqlite3.connect(path) as connection:
        for number in range(2_000):
            name = f"{things[number]}s" if number < 10 else f"{chance.choice(things)}_{chance.choice(parts)}_{number}"
            columns = (f"{c} {'REAL' if c in ('amount', 'rating') else 'TEXT'}" for c in chance.sample(parts, 8))
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {', '.join(columns)})")
        connection.execute("INSERT INTO customers (id) VALUES (1), (2), (3)")
    return _first_question(path, "How many customers are there?")


def late_value() -> Work:
    """A value that first appears far into a million rows."""
    path = Path(tempfile.mkdtemp()) / "late.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE shipments (id INTEGER PRIMARY KEY, customer TEXT, city TEXT, weight REAL)")
        connection.executemany(
            "INSERT INTO shipments VALUES (?, ?, ?, ?)",
            ((i, f"client {i}", "Badheim" if i > 900_000 else f"town{i % 90}", i % 50) for i in range(1_000_000)),
        )
    return _first_question(path, "how many shipments to Badheim")


def file() -> Work:
    """A CSV file of 200,000 rows, imported and asked."""
    path = Path(tempfile.mkdtemp()) / "sales.csv"
    rows = (f"{i},client {i % 997},{i % 90}.{i % 100:02},2024-{i % 12 + 1:02}-11\n" for i in range(200_000))
    path.write_text("id,client,amount,sold_on\n" + "".join(rows), encoding="utf-8")
    import_nodes()

    async def asked() -> None:
        config = Settings.model_validate({"TEXT2SQL_CACHE_DIR": str(path.parent)})
        database = await asyncio.to_thread(resolve_database, str(path), config.database)
        await run("total amount by client", database=database, model="offline", settings=config)

    return lambda: _count(asked, 1)


def streams(number: int) -> Work:
    """Runs at the same time, each with a model that takes a while."""
    database = _opened("shop")
    asked = [task for task in tasks("shop") if task.gold.sql]

    async def one(task: Task) -> None:
        model = ScriptedModel(task.gold.sql, seconds=SECONDS)
        async for _ in stream(task.question, database=database, model=model, settings=settings()):
            pass

    async def all_of_them() -> None:
        await asyncio.gather(*(one(asked[n % len(asked)]) for n in range(number)))

    return lambda: _count(all_of_them, number)


def _first_question(path: Path, question: str) -> Work:
    import agent.parser  # noqa: F401

    import_nodes()

    async def asked() -> None:
        with open_database(path) as database:
            await run(question, database=database, model="offline", settings=settings())

    return lambda: _count(asked, 1)


def _count(work: Callable[[], Awaitable[None]], runs: int) -> int:
    async def awaited() -> None:
        await work()

    asyncio.run(awaited())
    return runs


SCENARIOS: Mapping[str, Callable[[], Work]] = {
    "a run without a model": without_model,
    "a run with a scripted model": with_model,
    "scoring a query": scoring,
    "the first question to 2,000 tables": wide,
    "a value late in a million rows": late_value,
    "a CSV file of 200,000 rows": file,
    "one of 16 streams": lambda: streams(16),
    "one of 100 streams": lambda: streams(100),
}
