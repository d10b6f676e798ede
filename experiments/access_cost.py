"""What policies cost a question: processor time of the engine without a model, with and without them.

In: a folder of `{db}.sqlite` files and JSON lines {db, question}. Out: the median growth in milliseconds. Both kinds of
run alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

from agent.access import Access, Person, PersonalDatabase
from agent.access.policies import Rule
from agent.runner import run
from eval.databases import Database, open_database
from eval.schema import Schema
from experiments.json_lines import read_lines


def rules(schema: Schema) -> Access:
    """Every table loses the rows whose first column is negative."""
    tables = {t.name: {"rows": f'"{t.columns[0].name}" >= 0'} for t in schema.tables}
    return Access((Rule.model_validate({"who": {}, "database": "*", "tables": tables}),))


def spent(question: str, database: Database) -> float:
    started = time.process_time()
    asyncio.run(run(question, database=database, model="offline"))
    return (time.process_time() - started) * 1000


def main(databases: str, questions: str) -> None:
    growth = []
    opened: dict[str, tuple[Database, Database]] = {}
    for record in read_lines(Path(questions)):
        if record["db"] not in opened:
            whole = open_database(Path(databases) / f"{record['db']}.sqlite")
            opened[record["db"]] = whole, PersonalDatabase(whole, Person("anna"), rules(whole.schema()))
        plain, personal = opened[record["db"]]
        for database in (plain, personal):
            spent(record["question"], database)  # caches
        pairs = [(spent(record["question"], plain), spent(record["question"], personal)) for _ in range(3)]
        growth.append(min(b for _, b in pairs) - min(a for a, _ in pairs))
    print(f"{len(growth)} questions: median {statistics.median(growth):.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:3])
