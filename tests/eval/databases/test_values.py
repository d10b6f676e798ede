"""Every value that an engine can return becomes strict JSON."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases.values import json_value
from tests.pairs import sections

_NAMES = {
    "Decimal": Decimal,
    "UTC": UTC,
    "date": date,
    "datetime": datetime,
    "time": time,
    "timedelta": timedelta,
    "uuid": uuid,
}


@pytest.mark.parametrize(("written", "form"), sections("databases/values.txt")["forms"])
def test_forms(written: str, form: str) -> None:
    """Both as Python writes them."""
    value, expected = (eval(text, dict(_NAMES)) for text in (written, form))
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)


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
