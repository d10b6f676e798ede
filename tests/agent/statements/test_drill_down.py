"""From a figure to its rows: they make up the figure, whatever it counts, and the other ways add up to it too;
and the rows that are level with the last one of a cut list."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from agent.state import LeftOut
from agent.statements.drill_down import Drill, NotDrillable, drills
from agent.statements.left_out import MOST, ties
from eval.databases.base import Database
from eval.sql import parse
from tests.agent.statements.conftest import query, run
from tests.pairs import sections

NUMBER = {
    "COUNT(*)": len,
    "COUNT(s.amount)": len,
    "COUNT(DISTINCT s.status)": lambda rows: len({row["status"] for row in rows}),
    "SUM(s.amount)": lambda rows: sum(row["amount"] for row in rows) if rows else None,
    "AVG(s.amount)": lambda rows: sum(row["amount"] for row in rows) / len(rows) if rows else None,
    "MAX(s.amount)": lambda rows: max((row["amount"] for row in rows), default=None),
    "MIN(s.amount)": lambda rows: min((row["amount"] for row in rows), default=None),
    "SUM(CASE WHEN s.status = 'paid' THEN 1 ELSE 0 END)": len,
    "COUNT(CASE WHEN s.amount > 20 THEN 1 END)": len,
}


def ways(database: Database, sql: str, row: list[Any] | None = None, column: int | None = None) -> list[Drill]:
    names, rows = run(database, sql)
    return drills(parse(sql, database.dialect), database, names, [rows[0] if row is None else row], column)


def test_the_rows_behind_many_figures_make_them_up(market: Database) -> None:
    draw = random.Random(3)
    for _ in range(60):
        sql, figure = query(draw)
        names, rows = run(market, sql)
        if not rows:
            continue
        row = draw.choice(rows)
        found = drills(parse(sql, market.dialect), market, names, [row], len(names) - 1)
        [behind] = [way.sql for way in found if way.kind == "rows"]

        columns, lines = run(market, behind)

        # two things of one name are told apart by their hidden key only where they show different figures
        same = sum(one == row for one in rows)
        of_rows = NUMBER[figure]([dict(zip(columns, line, strict=True)) for line in lines])
        if same == 1:
            given = None if row[-1] is None else pytest.approx(float(row[-1]), rel=1e-4)  # MySQL's averages are short
            assert of_rows == given, (sql, behind)
        for way in found:
            others, changed = run(market, way.sql)
            if way.kind == "by" and figure in ("COUNT(*)", "SUM(s.amount)") and same == 1:
                assert sum(int(line[-1] or 0) for line in changed) == int(row[-1] or 0), (sql, way.sql)
            if way.kind in ("only", "without"):
                assert others == names
                place = next(i for i, name in enumerate(names) if way.label.split(" ", 2)[1] == name)
                wanted = [one for one in rows if (one[place] == row[place]) == (way.kind == "only")]
                assert sorted(map(str, changed)) == sorted(map(str, wanted)), (sql, way.sql)


def test_a_cell_of_a_list_leads_to_its_kind(plain: Database) -> None:
    found = ways(plain, "SELECT id, town FROM shops ORDER BY id LIMIT 3", column=1)

    labels = [way.label for way in found]
    assert "By size" in labels
    assert "By regions title" in labels
    assert not [way for way in found if way.kind == "rows"]
    [only] = [way.sql for way in found if way.kind == "only"]
    _, rows = run(plain, only)
    assert len({town for _, town in rows}) == 1


def test_several_rows_of_a_result_are_one_mark(market: Database) -> None:
    groups = ["town", "ALL"] if market.dialect == "duckdb" else ["town"]  # only DuckDB has GROUP BY ALL
    for group in groups:
        sql = f"SELECT town, COUNT(*) FROM shops GROUP BY {group} ORDER BY 2, 1"
        names, rows = run(market, sql)
        [behind] = [w.sql for w in drills(parse(sql, market.dialect), market, names, rows[:2], 1) if w.kind == "rows"]
        assert len(run(market, behind)[1]) == rows[0][1] + rows[1][1]


def test_groups_of_several_sizes_have_no_rows_of_their_own(market: Database) -> None:
    rollup = "town WITH ROLLUP" if market.dialect == "mysql" else "ROLLUP(town)"
    if market.dialect == "sqlite":
        pytest.skip("SQLite has no ROLLUP")
    with pytest.raises(NotDrillable, match="several sizes"):
        ways(market, f"SELECT town, COUNT(*) FROM shops GROUP BY {rollup}")


def test_dates_are_offered_by_month(plain: Database) -> None:
    [by] = [way.sql for way in ways(plain, "SELECT COUNT(*) FROM sales") if way.label == "By month of sold_on"]

    months = [row[0] for row in run(plain, by)[1]]
    assert set(months) == {None, *(f"2024-{month:02}" for month in range(1, 7))}


def test_what_has_no_rows_of_its_own_says_why(plain: Database) -> None:
    union = "SELECT town FROM shops UNION SELECT title FROM goods"
    with pytest.raises(NotDrillable, match="may not be run"):
        drills(parse("DROP TABLE shops", "sqlite"), plain, ["town"], [["Rome"]], 0)
    with pytest.raises(NotDrillable, match="several results"):
        ways(plain, union)
    gone = "SELECT g.title, COUNT(*) FROM sales s JOIN goods g ON s.goods_id = g.id GROUP BY g.id, g.title"
    with pytest.raises(NotDrillable, match="data has changed"):
        ways(plain, gone, ["thing 1", 100_000], 1)
    with pytest.raises(NotDrillable, match="not rows of this result"):
        ways(plain, gone, ["thing 1"], 1)


@pytest.mark.parametrize("cell", ["x' OR '1'='1", "'; DROP TABLE sales --", '"', "\\", "🙂"])
def test_a_cell_is_never_more_than_a_constant(plain: Database, cell: str) -> None:
    sql = "SELECT town, COUNT(*) FROM shops GROUP BY town"
    for way in ways(plain, sql, [cell, 3], 1):
        _, rows = run(plain, way.sql)
        assert len(rows) == (3 if way.kind == "without" else 0)


def told(database: Database, sql: str) -> list[LeftOut]:
    schema = database.schema()
    parsed = parse(sql, database.dialect)
    return asyncio.run(ties(parsed, schema, len(run(database, sql)[1]), database, seconds=2.0))


@pytest.mark.parametrize(("sql", "keys"), sections("statements/lists.txt")["cut"])
def test_as_many_as_are_level(market: Database, sql: str, keys: str) -> None:
    """`keys`: what the rows are ordered by, in the same order."""
    seen = 0
    rows = [tuple(row) for row in run(market, keys)[1]]
    for cut in range(1, min(len(rows), 25)):
        level = next((n for n, row in enumerate(rows[cut:]) if row != rows[cut - 1]), len(rows) - cut)
        found = told(market, f"{sql} LIMIT {cut}")
        assert [one.count for one in found] == ([min(level, MOST)] if level else []), cut
        if found and level < MOST:
            (choice,) = found[0].others
            assert len(run(market, choice.sql)[1]) == cut + level
            seen += 1
    assert seen or len(set(rows)) == len(rows)


@pytest.mark.parametrize("sql", sections("statements/lists.txt")["never level"][0])
def test_nothing_is_told_of_lists_that_are_not_cut_or_cannot_be_level(plain: Database, sql: str) -> None:
    assert told(plain, sql) == []
