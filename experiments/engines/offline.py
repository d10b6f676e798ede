"""EX of the engine without a model on another engine: `python -m experiments.engines.offline --bench DIR --server URL`.

In: a question set with SQLite files, and a place for copies (`sc://host:port`, `chdb:///folder`). Each file is copied;
each question is read on SQLite and on the copy, with the values and the schema of each, and each result is compared
with the gold query's rows on the same engine, which breaks ties in its own way. Out, printed: EX on both, and the
questions that only one of them answers rightly.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from agent.knowledge.values import value_index
from agent.parser.engine import read
from agent.parser.execution_probe import looker
from eval.databases import Database, ExecutionResult, Limits
from eval.metrics.comparison import same_result
from eval.schema import Schema
from eval.sql import check, parse, parsed_from_tree
from experiments.engines.copies import beside_copies, dialect_of
from experiments.engines.golds import translated
from experiments.parser.evaluate import ends_in_order

_LIMITS = Limits(seconds=60.0)


def _with_keys(schema: Schema, original: Schema) -> Schema:
    """The copy's schema with the keys that SQLite declares, as a semantic model would tell them."""
    tables = []
    for table in schema.tables:
        keyed = original.table(table.name)
        assert keyed is not None
        tables.append(replace(table, primary_key=keyed.primary_key, foreign_keys=keyed.foreign_keys))
    return replace(schema, tables=tuple(tables))


def _right(question: str, database: Database, schema: Schema, gold: ExecutionResult, ordered: bool) -> tuple[bool, str]:
    reading = read(
        question, schema, value_index(database, schema), schema.dialect, threshold=0.0, look=looker(database)
    )
    if reading.tree is None:
        return False, reading.interpretation
    statement = check(parsed_from_tree(reading.tree, schema.dialect), schema).statement
    if statement is None:
        return False, f"refused: {reading.sql}"
    result = database.execute(statement, limits=_LIMITS)
    return same_result(gold, result, ordered=ordered), result.error or statement.sql


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bench", type=Path, required=True)
    options.add_argument("--set", default="spider_dev")
    options.add_argument("--server", required=True)
    options.add_argument("--inferred-keys", action="store_true", help="do not tell the copy SQLite's keys")
    options.add_argument("--sqlite-rows", action="store_true", help="compare the copy's answer with SQLite's rows")
    options.add_argument("--leave-out", default="", help="a database to leave out")
    options.add_argument("--every", type=int, default=1, help="every n-th question")
    given = options.parse_args()
    folder = given.bench / given.set
    dialect, asked, right_here, right_there = dialect_of(given.server), 0, 0, 0
    for q, original, copy in beside_copies(folder, given.server, every=given.every, leave_out=given.leave_out):
        gold = check(parse(q["gold_sql"], "sqlite")).statement
        if gold is None:
            continue
        expected = original.execute(gold, limits=_LIMITS)
        ordered = ends_in_order(q["gold_sql"])
        schema = copy.schema() if given.inferred_keys else _with_keys(copy.schema(), original.schema())
        here, written = _right(q["question"], original, original.schema(), expected, ordered)
        if not given.sqlite_rows:
            text = translated(q["gold_sql"], original.schema(), dialect)
            own = check(parse(text, dialect), copy.schema()).statement
            assert own is not None, text
            expected = copy.execute(own, limits=_LIMITS)
        there, said = _right(q["question"], copy, schema, expected, ordered)
        asked, right_here, right_there = asked + 1, right_here + here, right_there + there
        if here != there:
            print(f"{'SQLite' if here else 'copy'} alone: {q['id']}: {q['question']}", flush=True)
            print(f"    SQLite: {written}\n    copy:   {said}", flush=True)
        if asked % 20 == 0:
            print(f"{asked}: {right_here} / {right_there}", flush=True)
    print(f"questions {asked}, EX on SQLite {right_here / asked:.3f}, on the copy {right_there / asked:.3f}")


if __name__ == "__main__":
    main()
