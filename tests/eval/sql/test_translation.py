"""Recorded answers in another dialect: what they mean is kept, and what cannot be read stays as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from eval.sql.translation import translated
from tests.pairs import rows


@pytest.mark.parametrize(
    ("mysql", "value"),
    rows("guard/translated.jsonl"),
)
def test_dates_of_mysql_mean_the_same_on_sqlite(mysql: str, value: object) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(translated(mysql, "mysql", "sqlite")).fetchone() == (value,)


def test_what_cannot_be_read_stays_as_it_is() -> None:
    for text in ("SELECT FROM WHERE", "", "no SQL at all (", "DATE_SUB(d, INTERVAL n YEAR"):
        assert translated(text, "mysql", "sqlite") == text
