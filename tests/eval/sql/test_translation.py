"""Recorded answers in another dialect: what they mean is kept, and what cannot be read stays as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from eval.sql.translation import translated


@pytest.mark.parametrize(
    ("mysql", "value"),
    [
        ("SELECT YEAR('2004-03-09')", 2004),
        ("SELECT MONTH('2004-03-09') + DAY('2004-03-09')", 12),
        ("SELECT DATEDIFF('2004-03-09', '2004-03-01')", 8),
        ("SELECT DATE_SUB('2004-03-09', INTERVAL 1 YEAR)", "2003-03-09"),
        ("SELECT DATE_ADD('2004-03-09', INTERVAL 2 QUARTER)", "2004-09-09"),
        ("SELECT IF(1 < 2, 'yes', 'no')", "yes"),
    ],
)
def test_dates_of_mysql_mean_the_same_on_sqlite(mysql: str, value: object) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(translated(mysql, "mysql", "sqlite")).fetchone() == (value,)


def test_what_cannot_be_read_stays_as_it_is() -> None:
    for text in ("SELECT FROM WHERE", "", "no SQL at all (", "DATE_SUB(d, INTERVAL n YEAR"):
        assert translated(text, "mysql", "sqlite") == text


def test_the_same_dialect_changes_nothing() -> None:
    assert translated("select  1", "sqlite", "sqlite") == "select  1"
