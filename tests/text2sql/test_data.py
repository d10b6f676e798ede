"""`ask` and `Thread` take tables in memory, lists of files and DuckDB connections; anything else is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from text2sql import Thread, ask
from text2sql.errors import DatabaseError, InputError

ROWS = {"city": ["Rome", "Oslo", "Rome"], "amount": ["£5", "£7.50", "£1"]}


class Streamed:
    """What Polars and others offer: Arrow's stream and no more."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("made", [pd.DataFrame, pa.table, lambda rows: Streamed(pa.table(rows))])
def test_a_table_in_memory_is_asked(made: Any) -> None:
    answer = ask("total amount by city", database=made(ROWS), model="offline")
    assert sorted(answer.rows) == [["Oslo", 7.5], ["Rome", 6]]


def test_several_tables_by_name_and_several_files(tmp_path: Path) -> None:
    orders = pd.DataFrame({"order_id": [1, 2], "city": ["Rome", "Oslo"]})
    assert ask("how many orders?", database={"orders": orders, "cities": pd.DataFrame(ROWS)}, model="offline").rows == [
        [2]
    ]
    for name in ("orders", "items"):
        (tmp_path / f"{name}.csv").write_text("id,n\n1,5\n2,6\n3,7\n")
    files = [tmp_path / "orders.csv", str(tmp_path / "items.csv")]
    assert ask("how many items?", database=files, model="offline").rows == [[3]]
    assert ask("how many items?", database=tmp_path / "items.csv", model="offline").rows == [[3]]


def test_a_connection_is_asked_and_stays_the_callers() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders AS SELECT range AS id FROM range(7)")
        thread = Thread(connection, model="offline")
        assert thread.ask("how many orders?").rows == [[7]]
        connection.execute("INSERT INTO orders VALUES (8)")
        assert ask("how many orders?", database=connection, model="offline").rows == [[8]]


@pytest.mark.parametrize("data", [5, [], {}, object(), {"a": 1}, [1, 2], b"x"])
def test_what_is_no_data_is_named_with_what_is_accepted(data: Any) -> None:
    with pytest.raises(InputError, match="takes a demo's name, a path, a URL, a list of data files, a pandas, Polars"):
        ask("how many?", database=data, model="offline")


def test_an_unreadable_list_is_a_failure_with_its_names(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing\.csv"):
        ask("how many?", database=[tmp_path / "nothing.csv"], model="offline")
