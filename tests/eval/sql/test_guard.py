"""What may run and what may not: the corpora of hostile and harmless statements, and bounds on size and depth."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from eval.schema import DIALECTS, WRITTEN_DIALECTS, Dialect
from eval.sql import check, parse, parsed_from_tree
from tests.pairs import Case, cases, sections


def _corpus(kind: str) -> list[object]:
    return [
        pytest.param(dialect, case, id=f"{dialect}-{case.name}")
        for dialect in DIALECTS
        for case in cases(f"guard/{kind}_{dialect}.sql")
    ]


@pytest.mark.parametrize(("dialect", "case"), _corpus("hostile"))
def test_a_hostile_statement_is_refused_with_a_reason(dialect: Dialect, case: Case, tmp_path: Path) -> None:
    sql = case.text.replace("{dir}", str(tmp_path)).replace("{canary}", str(tmp_path / "canary.txt"))
    verdict = check(parse(sql, dialect))
    assert not verdict.allowed, case.about
    assert verdict.statement is None
    assert verdict.reason


@pytest.mark.parametrize(("dialect", "case"), _corpus("growing"))
def test_a_statement_that_builds_too_much_is_refused(dialect: Dialect, case: Case) -> None:
    assert not check(parse(case.text, dialect)).allowed


@pytest.mark.parametrize(("dialect", "case"), _corpus("harmless"))
def test_a_harmless_statement_may_run_and_is_sent_without_comments(dialect: Dialect, case: Case) -> None:
    verdict = check(parse(case.text, dialect))
    assert verdict.allowed, verdict.reason
    again = check(parse(verdict.statement.sql, dialect))
    assert check(parse(again.statement.sql, dialect)).statement == again.statement, "what is sent reads as itself"


def _written(dialect: Dialect, kind: str) -> list[Case]:
    common = cases(f"guard/{kind}_written.sql") if kind == "hostile" else []
    return [*common, *cases(f"guard/{kind}_{dialect}.sql")]


@pytest.mark.parametrize("dialect", WRITTEN_DIALECTS)
def test_a_dialect_that_is_only_written_refuses_its_hostile_statements(dialect: Dialect) -> None:
    hostile = _written(dialect, "hostile")
    assert len(hostile) >= 40
    assert [case.text for case in hostile if check(parse(case.text, dialect)).allowed] == []


@pytest.mark.parametrize(
    ("dialect", "case"),
    [pytest.param(d, c, id=f"{d}-{c.name}") for d in WRITTEN_DIALECTS for c in _written(d, "harmless")],
)
def test_a_dialect_that_is_only_written_keeps_its_own_forms(dialect: Dialect, case: Case) -> None:
    verdict = check(parse(case.text, dialect))
    assert verdict.statement is not None, verdict.reason
    assert check(parse(verdict.statement.sql, dialect)).statement == verdict.statement, (
        "what is written reads as itself"
    )


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "empty"),
        ("-- nothing", "empty"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELECT 1\0", "NUL"),
        ("SELECT '\ud800'", "surrogate"),
        ("SELECT " + "(" * 2000 + "1" + ")" * 2000, "nested too deeply"),
        ("SELECT " + "1+" * 400_000 + "1", "too long"),
        ("SELECT " + "'a'," * 30_000 + "1", "too long"),
        ("SELECT * FROM t WHERE", "syntax error at line 1"),
        ("SELECT 'x", "cannot be read"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_cannot_be_read_is_refused_and_says_why(dialect: Dialect, sql: str, reason: str) -> None:
    verdict = check(parse(sql, dialect))
    assert verdict.reason is not None
    assert reason in verdict.reason or (sql.startswith("SELECT * FROM t WHERE") and not verdict.allowed)


def test_a_tree_built_by_code_passes_the_same_guard() -> None:
    tree = exp.select(exp.Round(this=exp.column("total"), decimals=exp.Literal.number(1))).from_("orders")
    verdict = check(parsed_from_tree(tree, "sqlite"))
    assert verdict.statement.sql == "SELECT ROUND(total, 1) FROM orders"
    hostile = exp.select(exp.func("load_extension", exp.Literal.string("x")))
    assert not check(parsed_from_tree(hostile, "sqlite")).allowed
    assert not check(parsed_from_tree(exp.delete("orders"), "sqlite")).allowed


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
