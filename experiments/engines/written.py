"""Gold queries of SQLite translated for engines that are not here: `python -m experiments.engines.written --bench DIR`.

In: a question set with SQLite files. Each gold query is translated by sqlglot to every dialect that is only written.
Out, printed by dialect: how many pass the guard and the references, how many of the readings of the engine without a
model do, and every one that does not, with the reason.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

from sqlglot.errors import SqlglotError

from agent.parser.engine import read
from eval.databases import open_database
from eval.schema import WRITTEN_DIALECTS, Dialect, Schema
from eval.sql import check, parse, resolve
from experiments.engines.golds import translated
from experiments.json_lines import read_lines


def problem(sql: str, dialect: Dialect, schema: Schema) -> str:
    """Why a statement does not pass; empty where it does."""
    parsed = parse(sql, dialect)
    verdict = check(parsed, schema)
    if verdict.statement is None:
        return verdict.reason or "refused"
    again = parse(verdict.statement.sql, dialect)
    if not check(again, schema).allowed:
        return f"what is written does not read as itself: {verdict.statement.sql}"
    return ", ".join(p.text for p in resolve(parsed, schema).phantoms)


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bench", type=Path, required=True)
    options.add_argument("--set", default="spider_dev")
    options.add_argument("--every", type=int, default=1, help="every n-th question is read by the engine, too")
    given = options.parse_args()
    folder = given.bench / given.set
    questions = list(read_lines(folder / "questions.jsonl"))
    schemas = {q["db"]: open_database(folder / "databases" / f"{q['db']}.sqlite").schema() for q in questions}
    for dialect in WRITTEN_DIALECTS:
        counts: Counter[str] = Counter()
        for number, q in enumerate(questions):
            schema = replace(schemas[q["db"]], dialect=dialect)
            try:
                sql = translated(q["gold_sql"], schemas[q["db"]], dialect)
                why = problem(sql, dialect, schema)
            except SqlglotError as e:
                sql, why = q["gold_sql"], f"translation: {e}"
            counts["golds that pass"] += not why
            if why:
                print(f"{dialect} {q['id']}: {why}\n    {sql}", flush=True)
            if number % given.every == 0:
                reading = read(q["question"], schema, dialect=dialect, threshold=0.0)
                why = problem(reading.sql, dialect, schema) if reading.sql else ""
                counts["readings"] += bool(reading.sql)
                counts["readings that pass"] += bool(reading.sql) and not why
                if why:
                    print(f"{dialect} reading of {q['id']}: {why}\n    {reading.sql}", flush=True)
        print(f"{dialect}: {len(questions)} golds, {dict(counts)}", flush=True)


if __name__ == "__main__":
    main()
