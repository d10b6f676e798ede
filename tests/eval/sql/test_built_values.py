"""Values that a statement builds step by step, and what Spark's driver makes before it reads a row."""

from __future__ import annotations

import pytest

from eval.schema import Dialect
from eval.sql import check, parse
from tests.pairs import sections


def each(kind: str) -> list[tuple[str, str]]:
    """Dialect and statement of the fixture's sections of that kind."""
    found = sections("guard/built_values.txt")
    return [(name.split(":")[0], sql) for name, [block] in found.items() if name.endswith(f": {kind}") for sql in block]


@pytest.mark.parametrize(("dialect", "sql"), each("growing"))
def test_a_step_that_makes_a_value_grow_is_refused(dialect: Dialect, sql: str) -> None:
    reason = check(parse(sql, dialect)).reason
    assert reason is not None
    assert "each step" in reason


@pytest.mark.parametrize(("dialect", "sql"), each("steady"))
def test_ordinary_steps_and_parts_pass(dialect: Dialect, sql: str) -> None:
    assert check(parse(sql, dialect)).reason is None


@pytest.mark.parametrize(("dialect", "sql"), each("made by the driver"))
def test_what_the_driver_makes_is_bounded(dialect: Dialect, sql: str) -> None:
    assert not check(parse(sql, dialect)).allowed
