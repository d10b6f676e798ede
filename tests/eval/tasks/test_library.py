"""The task library: what it holds, that its files are read strictly, and that its queries do what they claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.sql import parse
from eval.tasks.__main__ import app
from eval.tasks.library import TaskFileError, tasks
from eval.tasks.library.checks import check_tasks, demos_on, forms, with_sort_keys
from eval.tasks.library.task import read_tasks
from tests.pairs import FIXTURES, rows
from tests.samples import sampled

GOOD = (FIXTURES / "tasks/good.sql").read_text(encoding="utf-8")


def test_tasks_are_chosen_by_database_difficulty_and_tags() -> None:
    chosen = tasks("enterprise", "enterprise", ["scd", "as-of"])
    assert "enterprise-sales-by-tier-then" in {task.id for task in chosen}
    assert all({"scd", "as-of"} <= set(task.tags) and task.database == task.difficulty for task in chosen)


@pytest.mark.parametrize(("arguments", "message"), rows("tasks/unknown_choices.jsonl"))
def test_an_unknown_choice_names_what_there_is(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(KeyError, match=message):
        tasks(**arguments)  # type: ignore[arg-type]


def test_a_file_reads_as_it_looks() -> None:
    (task,) = read_tasks(GOOD, "shop", "shop/x.sql")
    assert (task.id, task.difficulty, task.tags) == ("shop-open-orders", "easy", ("filter", "null"))
    assert task.question == "How many orders are open? Give one number."
    assert task.gold.sql == "SELECT COUNT(*)\n-- a comment inside the query stays in it\nFROM orders"
    assert [wrong.note for wrong in task.wrong] == ["all orders", "none"]
    assert task.wrong[0].query.on("sqlite") == "SELECT COUNT(*) FROM customers"
    assert task.wrong[0].query.on("postgres") == task.wrong[0].query.on("duckdb") == "SELECT COUNT(*) FROM products"


@pytest.mark.parametrize(("before", "after", "message"), rows("tasks/broken_files.jsonl"))
def test_a_broken_file_names_the_line(before: str, after: str, message: str) -> None:
    assert before in GOOD
    with pytest.raises(TaskFileError) as error:
        read_tasks(GOOD.replace(before, after, 1), "shop", "x.sql")
    assert message in str(error.value)


@pytest.mark.slow
def test_on_sqlite_and_duckdb_every_gold_holds_and_every_wrong_query_fails(demo_folder: Path) -> None:
    pytest.importorskip("duckdb")
    with (
        demos_on("sqlite", ("shop", "enterprise"), demo_folder) as sqlite,
        demos_on("duckdb", ("shop", "enterprise"), demo_folder) as duckdb,
    ):
        checked = sampled(tasks(), 5)
        report = check_tasks(checked, {"sqlite": sqlite, "duckdb": duckdb})
    assert report.violations == ()
    for verdict in report.engines:
        assert verdict.golds_right == verdict.golds == len(checked)
        assert verdict.wrong_failed == verdict.wrong == sum(len(task.wrong) for task in checked)


@pytest.mark.slow
def test_postgresql_gives_the_same_verdicts(demo_folder: Path, postgres_url: str) -> None:
    with (
        demos_on("sqlite", ("shop", "enterprise"), demo_folder) as sqlite,
        demos_on(postgres_url, ("shop", "enterprise")) as postgres,
    ):
        assert check_tasks(sampled(tasks(), 6), {"sqlite": sqlite, "postgres": postgres}).violations == ()


@pytest.mark.parametrize(("gold", "wrong", "message"), rows("tasks/check_sees.jsonl"))
def test_the_check_sees(gold: str, wrong: str, message: str, demo_folder: Path) -> None:
    text = f"-- TASK t  easy  filter\n-- ASK  ?\n-- GOLD\n{gold}\n-- WRONG x\n{wrong}\n-- WRONG y\nSELECT -1"
    with demos_on("sqlite", ("shop",), demo_folder) as demos:
        report = check_tasks(read_tasks(text, "shop", "x.sql"), {"sqlite": demos})
    assert message in "; ".join(violation.what for violation in report.violations)


def test_the_check_sees_engines_disagree(demo_folder: Path) -> None:
    pytest.importorskip("duckdb")
    text = "-- TASK t  easy  filter\n-- ASK  ?\n-- GOLD\nSELECT 7 / 2\n-- WRONG x\nSELECT 1\n-- WRONG y\nSELECT 2"
    with demos_on("sqlite", ("shop",), demo_folder) as sqlite, demos_on("duckdb", ("shop",), demo_folder) as duckdb:
        report = check_tasks(read_tasks(text, "shop", "x.sql"), {"sqlite": sqlite, "duckdb": duckdb})
    assert [(v.engine, v.what) for v in report.violations] == [("duckdb", "gold gives another result than on sqlite")]
    assert [verdict.golds_right for verdict in report.engines] == [1, 0]


@pytest.mark.parametrize(("sql", "tags"), rows("tasks/forms.jsonl"))
def test_forms_follow_from_the_text(sql: str, tags: list[str]) -> None:
    assert sorted(forms(sql)) == tags


def test_the_command_fails_on_a_violation(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(demo_folder))
    broken = read_tasks(GOOD, "shop", "x.sql")
    monkeypatch.setattr("eval.tasks.library.tasks", lambda *_: broken)
    bad = CliRunner().invoke(app, ["check", "--engine", "sqlite"])
    assert bad.exit_code == 1
    assert "shop-open-orders on sqlite: its tags for forms of SQL are none, gold has aggregate" in bad.output


def test_sort_keys_are_added_where_an_alias_or_an_expression_orders() -> None:
    keyed = with_sort_keys(parse("SELECT a AS x, COUNT(*) AS n FROM t GROUP BY a ORDER BY n DESC, a LIMIT 3", "sqlite"))
    assert keyed.width == 2
    assert keyed.query.text == (
        "SELECT a AS x, COUNT(*) AS n, COUNT(*) AS sort_key_1, a AS sort_key_2 "
        "FROM t GROUP BY a ORDER BY n DESC, a LIMIT 4"
    )
    assert with_sort_keys(parse("SELECT a FROM t", "sqlite")) is None
