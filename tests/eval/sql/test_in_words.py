"""A query in plain words: nothing of it is left out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.schema import Dialect, Schema
from eval.sql import facts, parse, resolve
from eval.sql.in_words import explained
from tests.pairs import rows, sections


@pytest.mark.parametrize(("sql", "said"), sections("guard/rewritten.txt")["in words"])
def test_a_query_is_said(sql: str, said: str) -> None:
    assert " ".join(explained(parse(sql, "sqlite"))) == said


@pytest.mark.parametrize(("dialect", "month"), sections("guard/in_words.txt")["months"])
def test_a_month_is_said_in_each_dialect(dialect: Dialect, month: str) -> None:
    (said, *_) = explained(parse(f"SELECT {month} FROM t", dialect))
    assert said == "Shows the year and month of d of t."


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "clickhouse", "spark", "snowflake"])
@pytest.mark.parametrize(("test", "said"), rows("guard/in_words_denied.jsonl"))
def test_what_is_denied_is_said_in_each_dialect(dialect: Dialect, test: str, said: str) -> None:
    *_, rows = explained(parse(f"SELECT a FROM t WHERE {test}", dialect))
    assert rows == f"Only rows where {said}."


def left_out(sql: str, schema: Schema) -> list[str]:
    """Tables, columns and constants of the query that are not in the words."""
    parsed = parse(sql, "sqlite")
    said = " ".join(explained(parsed)).lower().replace("the first", "from 1 on")
    names = resolve(parsed, schema)
    wanted = {*names.tables, *(column for _, column in names.columns)}
    wanted |= {one.value.strip("%") for one in facts(parsed, schema).literals}
    return [one for one in wanted if one.lower() not in said]


@pytest.mark.parametrize("source", ["spider_dev", "spider_test_third", "bird_superhero", "classicmodels"])
def test_nothing_is_left_out_of_two_hundred_golds(bench_dir: Path, source: str) -> None:
    schemas: dict[str, Schema] = {}
    lines = [json.loads(line) for line in (bench_dir / source / "questions.jsonl").read_text().splitlines()]
    random.Random(3).shuffle(lines)
    for line in lines[:200]:
        if line["db"] not in schemas:
            with open_database(bench_dir / source / "databases" / f"{line['db']}.sqlite") as database:
                schemas[line["db"]] = database.schema()
        missing = left_out(line["gold_sql"], schemas[line["db"]])
        assert missing == [], line["gold_sql"]
