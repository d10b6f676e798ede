"""Every value that an engine can return becomes strict JSON."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases.values import json_rows, json_value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**63, 2**63),
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (Decimal("12.50"), 12.5),
        (Decimal("0.1"), 0.1),
        (Decimal("7"), 7),
        (Decimal("12345678901234567890.123"), "12345678901234567890.123"),
        (Decimal("NaN"), "NaN"),
        (Decimal("-Infinity"), "-Infinity"),
        (Decimal("1E+500"), "1" + "0" * 500),
        (b"\x00\xff", {"$blob": "AP8=", "size": 2}),
        (memoryview(b"ab"), {"$blob": "YWI=", "size": 2}),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03"),
        (datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=UTC), "2024-02-29T01:02:03.000004+00:00"),
        (time(23, 59), "23:59:00"),
        (timedelta(days=1, hours=2, milliseconds=500), "1 day 02:00:00.5"),
        (timedelta(hours=-2), "-02:00:00"),
        (timedelta(days=40), "40 days 00:00:00"),
        ("naïve 🦆", "naïve 🦆"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("\ud83e", "\\ud83e"),
        (
            [1, [Decimal("0.5")], {"a": float("nan"), 2: b"x"}],
            [1, [0.5], {"a": "NaN", "2": {"$blob": "eA==", "size": 1}}],
        ),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_forms(value: object, expected: object) -> None:
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)


def test_rows_keep_their_order() -> None:
    assert json_rows([(1, None), ("a", b"")]) == [[1, None], ["a", {"$blob": "", "size": 0}]]


cells = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(cells)
def test_any_value_is_strict_json_in_utf_8(value: object) -> None:
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode("utf-8")) == json_value(value)
