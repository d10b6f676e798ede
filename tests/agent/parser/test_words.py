"""Names of schemas, periods and units."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.knowledge.vocabulary import abbreviates, split_name
from agent.parser.periods import period_at
from agent.parser.units import converted
from eval.language.tokens import tokenize

TODAY = dt.date(2024, 6, 15)


@pytest.mark.parametrize(
    ("name", "words"),
    [("orderDetails", ("order", "detail")), ("EMP_FNAME", ("employee", "first", "name")), ("qty", ("quantity",)),
     ("date_of_birth", ("date", "birth")), ("CustomerID", ("customer", "id")), ("straße", ("straße",))],
)  # fmt: skip
def test_names_of_schemas_are_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", "2024-01-01", "2025-01-01"),
        ("March 2024", "2024-03-01", "2024-04-01"),
        ("Q4 2023", "2023-10-01", "2024-01-01"),
        ("the", None, None),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("2023-02-29", None, None),
        ("last month", "2024-05-01", "2024-06-01"),
        ("this year", "2024-01-01", "2025-01-01"),
        ("last 7 days", "2024-06-08", "2024-06-16"),
        ("next 7 days", "2024-06-16", "2024-06-23"),
        ("next month", "2024-07-01", "2024-08-01"),
        ("yesterday", "2024-06-14", "2024-06-15"),
        ("December 25, 2023", "2023-12-25", "2023-12-26"),
    ],
)
def test_periods(text: str, start: str | None, end: str | None) -> None:
    period = period_at(tokenize(text), 0, TODAY)
    if start is None:
        assert period is None
        return
    assert period is not None
    assert (period.start.isoformat(), period.end.isoformat()) == (start, end)


def test_units_are_converted_to_the_column_s_own() -> None:
    assert converted(10, "minute", ("duration", "millisecond")) == 600_000
    assert converted(3, "hour", ("length",)) is None
    assert converted(30, "year", ("age",)) == 30


@pytest.mark.parametrize(
    ("short", "word", "meant"),
    [("shp", "shipment", True), ("mk", "make", True), ("clm", "claim", True), ("drv", "river", False),
     ("shp", "ship", True), ("st", "customer", False), ("ct", "contract", False), ("seg", "segment", True)],
)  # fmt: skip
def test_names_without_vowels_stand_for_words(short: str, word: str, meant: bool) -> None:
    assert abbreviates(short, word) is meant
