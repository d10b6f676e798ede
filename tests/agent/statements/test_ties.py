"""Rows that are level with the last one of a cut list, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from agent.state import LeftOut
from agent.statements.ties import MOST, ties
from eval.databases.base import Database
from eval.sql import parse
from tests.agent.statements.stall import run

LISTS = (
    "SELECT id, amount FROM sales WHERE amount IS NOT NULL ORDER BY amount DESC",
    "SELECT s.town, COUNT(*) AS n FROM sales x JOIN shops s ON s.id = x.shop_id GROUP BY s.town ORDER BY n DESC",
    "SELECT shop_id FROM sales WHERE shop_id IS NOT NULL GROUP BY shop_id ORDER BY COUNT(*)",
    "SELECT goods_id, SUM(amount) FROM sales GROUP BY goods_id HAVING COUNT(*) > 2 ORDER BY 2 DESC",
    "SELECT title, id FROM goods ORDER BY title",
    "SELECT sold_on, returned FROM sales WHERE sold_on IS NOT NULL ORDER BY sold_on DESC, returned",
)


def told(database: Database, sql: str) -> list[LeftOut]:
    schema = database.schema()
    parsed = parse(sql, database.dialect)
    return asyncio.run(ties(parsed, schema, len(run(database, sql)[1]), database, seconds=2.0))


@pytest.mark.parametrize("sql", LISTS)
def test_as_many_as_are_level(market: Database, sql: str) -> None:
    seen = 0
    order = {0: (1,), 1: (1,), 3: (1,), 4: (0,), 5: (0, 1)}.get(LISTS.index(sql))
    keys = sql if order else sql.replace("SELECT shop_id", "SELECT COUNT(*)")
    rows = [tuple(row[at] for at in order or (0,)) for row in run(market, keys)[1]]
    for cut in range(1, min(len(rows), 25)):
        level = next((n for n, row in enumerate(rows[cut:]) if row != rows[cut - 1]), len(rows) - cut)
        found = told(market, f"{sql} LIMIT {cut}")
        assert [one.count for one in found] == ([min(level, MOST)] if level else []), cut
        if found and level < MOST:
            (choice,) = found[0].others
            assert len(run(market, choice.sql)[1]) == cut + level
            seen += 1
    assert seen or len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, amount FROM sales ORDER BY id LIMIT 3",
        "SELECT amount FROM sales ORDER BY amount",
        "SELECT amount FROM sales LIMIT 3",
        "SELECT DISTINCT amount FROM sales ORDER BY amount LIMIT 3",
        "SELECT SUM(amount) OVER (ORDER BY id) AS so_far FROM sales ORDER BY so_far LIMIT 2",
        "SELECT amount FROM sales UNION SELECT id FROM shops ORDER BY 1 LIMIT 2",
    ],
)
def test_nothing_is_told_of_lists_that_are_not_cut_or_cannot_be_level(plain: Database, sql: str) -> None:
    assert told(plain, sql) == []


def test_a_tie_is_said_in_words(plain: Database) -> None:
    assert [one.text for one in told(plain, "SELECT id FROM sales ORDER BY returned LIMIT 2")] == [
        f"{MOST} or more further rows are level with the last one shown"
    ]
