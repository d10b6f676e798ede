"""Rows on which two queries differ: the database's own, or the fewest made-up ones."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.statements import telling_apart
from agent.statements.telling_apart import Apart, told_apart
from eval.databases import Database, open_database
from eval.errors import InputError
from eval.sql import parse
from experiments.random_mutations import mutants
from tests.agent.access.company import build
from tests.agent.statements.test_mending import MADE
from tests.samples import sampled


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Path]]:
    path = tmp_path_factory.mktemp("apart") / "shop.db"
    build(f"sqlite://{path}", MADE)
    with open_database(path) as opened:
        yield opened, path


def apart(shop: tuple[Database, Path], first: str, second: str) -> Apart:
    return told_apart(parse(first, "sqlite"), parse(second, "sqlite"), *shop)


def test_on_the_databases_own_rows(shop: tuple[Database, Path]) -> None:
    found = apart(shop, "SELECT client_id FROM orders", "SELECT DISTINCT client_id FROM orders")
    assert (found.differ, found.rows, len(found.first.rows), len(found.second.rows)) == (True, {}, 3, 2)


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        ("SELECT town FROM clients", "SELECT DISTINCT town FROM clients", 2),
        (
            "SELECT c.town, COUNT(*) FROM clients c JOIN orders o USING (client_id) GROUP BY c.client_id",
            "SELECT c.town, COUNT(o.order_id) FROM clients c LEFT JOIN orders o USING (client_id) GROUP BY c.client_id",
            1,
        ),
        ("SELECT full_name FROM clients WHERE town = 'Rome'", "SELECT full_name FROM clients WHERE town LIKE 'R%'", 1),
        ("SELECT COUNT(*) FROM orders WHERE total > 4", "SELECT COUNT(*) FROM orders WHERE total >= 4", 1),
    ],
)
def test_on_few_made_up_rows(shop: tuple[Database, Path], first: str, second: str, most: int) -> None:
    found = apart(shop, first, second)
    assert found.differ
    assert sum(len(rows) for _, rows in found.rows.values()) <= most + 1
    assert found.first.rows != found.second.rows


def test_two_that_mean_the_same_stay_together(shop: tuple[Database, Path]) -> None:
    found = apart(shop, "SELECT town FROM clients GROUP BY town", "SELECT DISTINCT town FROM clients")
    assert (found.differ, found.rows) == (False, {})
    assert found.tried > 1


def test_only_sets_for_which_there_was_time_are_counted(
    shop: tuple[Database, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count()
    monkeypatch.setattr(telling_apart, "_SECONDS", 3)
    monkeypatch.setattr(telling_apart, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    found = apart(shop, "SELECT town FROM clients GROUP BY town", "SELECT DISTINCT town FROM clients")
    assert not found.differ
    assert 0 < found.tried < telling_apart.MOST_TRIES


def test_without_a_file_no_rows_are_made_up(shop: tuple[Database, Path]) -> None:
    same = parse("SELECT town FROM clients", "sqlite")
    assert "SQLite" in told_apart(same, same, shop[0]).note


@pytest.mark.parametrize("sql", ["DELETE FROM clients", "SELECT nothing FROM clients", "no query"])
def test_a_query_that_may_not_run_is_told(shop: tuple[Database, Path], sql: str) -> None:
    with pytest.raises(InputError, match=r"\w"):
        apart(shop, "SELECT town FROM clients", sql)


@pytest.mark.slow
def test_mutants_are_told_from_gold(bench_dir: Path) -> None:
    """.95 or more of mutated golds are told apart; some of the rest mean the same."""
    lines = [json.loads(line) for line in (bench_dir / "spider_dev" / "questions.jsonl").read_text().splitlines()]
    random.Random(5).shuffle(lines)
    told = tried = 0
    for line in sampled(lines[:40], 3):
        path = bench_dir / "spider_dev" / "databases" / f"{line['db']}.sqlite"
        gold = parse(line["gold_sql"], "sqlite")
        assert gold.tree is not None
        with open_database(path) as database:
            made = list(mutants(gold.tree, database.schema(), random.Random(line["id"])))
            random.Random(1).shuffle(made)
            for _, tree in made[:2]:
                with contextlib.suppress(InputError):
                    found = told_apart(gold, parse(tree.sql("sqlite"), "sqlite"), database, path)
                    tried, told = tried + 1, told + found.differ
    assert told / tried >= 0.95
