"""A filtered query returns what the query returns of the rows that pass, wherever it reads them."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest

from agent.statements.filtering import BadFilter, Filter, FilterKind, filterable, filtered, period
from eval.databases import open_database
from eval.databases.base import Database
from eval.sql import parse
from tests.agent.statements.conftest import query, run, stall, statements
from tests.pairs import rows, sections
from tests.writing import write

TODAY = dt.date(2024, 5, 15)
PARENTS = {"shops": [("region_id", "regions")], "sales": [("shop_id", "shops"), ("goods_id", "goods")]}
COLUMNS = {
    "regions": ("id", "title"), "shops": ("id", "region_id", "town", "size"), "goods": ("id", "title", "kind"),
    "sales": ("id", "shop_id", "goods_id", "sold_on", "amount", "returned", "status"),
}  # fmt: skip


def passes(cell: Any, kind: str, value: tuple[str | None, ...]) -> bool:
    if kind == "value":
        return cell in value
    if cell is None:
        return False
    if kind == "number":
        low, high = (None if one is None else float(one) for one in value)
        return (low is None or cell >= low) and (high is None or cell <= high)
    first, after = period(value, TODAY)
    return (first is None or cell >= first.isoformat()) and (after is None or cell < after.isoformat())


def reduced(kind: str, table: str, column: str, value: tuple[str | None, ...]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows that pass, without those that refer to rows that do not."""
    rows = stall()
    place = COLUMNS[table].index(column)
    rows[table] = [row for row in rows[table] if passes(row[place], kind, value)]
    gone = {table}
    for child in ("shops", "sales"):
        for key, parent in PARENTS[child]:
            if parent in gone and child != table:
                ids = {row[0] for row in rows[parent]}
                rows[child] = [row for row in rows[child] if row[COLUMNS[child].index(key)] in ids]
                gone.add(child)
    return rows


def rows_of(database: Database, sql: str) -> list[str]:
    return sorted(str([_number(cell) for cell in row]) for row in run(database, sql)[1])


def _number(cell: Any) -> Any:
    try:
        return round(float(cell), 2) if not isinstance(cell, bool) else cell
    except (TypeError, ValueError):
        return cell


@pytest.mark.parametrize(("name", "kind", "table", "column", "given"), rows("statements/filters.jsonl"))
def test_the_rows_are_those_of_a_database_without_the_others(
    name: str, kind: FilterKind, table: str, column: str, given: list[str | None], market: Database, tmp_path: Path
) -> None:
    value = tuple(given)
    url = f"sqlite:///{tmp_path}/fewer.db"
    write(url, *statements(reduced(kind, table, column, value)))
    fewer = open_database(url)
    draw = random.Random(5)
    bound = 0
    for sql in [*sections("statements/lists.txt")["filtered"][0], *(query(draw)[0] for _ in range(12))]:
        narrowed, [held] = filtered(
            parse(sql, market.dialect), market, [Filter(kind, ((table, column),), value)], TODAY
        )

        if held:
            bound += 1
            assert rows_of(market, narrowed.text) == rows_of(fewer, sql), (sql, narrowed.text)
        else:
            assert narrowed.text == sql
    assert bound >= 5
    fewer.close()


def test_two_filters_hold_at_once_and_one_without_a_place_changes_nothing(plain: Database) -> None:
    sql = "SELECT COUNT(*) FROM sales"
    filters = [
        Filter("value", (("sales", "status"),), ("paid",)),
        Filter("number", (("nothing", "here"), ("sales", "amount")), ("20", None)),
        Filter("value", (("customers", "name"),), ("Ada",)),
    ]

    narrowed, held = filtered(parse(sql, "sqlite"), plain, filters, TODAY)

    assert held == [True, True, False]
    wanted = "SELECT COUNT(*) FROM sales WHERE status = 'paid' AND amount >= 20"
    assert rows_of(plain, narrowed.text) == rows_of(plain, wanted)


def test_what_a_query_can_be_filtered_by(plain: Database) -> None:
    found = {(table, column): kind for table, column, kind in filterable(parse("SELECT * FROM shops", "sqlite"), plain)}

    assert found == {("shops", "town"): "value", ("shops", "size"): "value", ("regions", "title"): "value"}


@pytest.mark.parametrize(("kind", "column", "value"), rows("statements/no_values.jsonl"))
def test_no_value_is_refused(plain: Database, kind: FilterKind, column: str, value: list[str | None]) -> None:
    with pytest.raises(BadFilter):
        filtered(
            parse("SELECT * FROM sales", "sqlite"), plain, [Filter(kind, (("sales", column),), tuple(value))], TODAY
        )


def test_a_value_is_never_more_than_a_constant(plain: Database) -> None:
    given = Filter("value", (("sales", "status"),), ("x') OR 1=1 --",))

    narrowed, _ = filtered(parse("SELECT id FROM sales", "sqlite"), plain, [given], TODAY)

    assert rows_of(plain, narrowed.text) == []
