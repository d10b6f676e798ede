"""Words that ask for a chart, a table or a file choose the view; the rest is the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import read
from agent.runtime.answer import Answer
from agent.runtime.form import asked_form, in_that_form
from agent.runtime.probability import STATED_DOUBT
from eval.databases import open_database
from tests.pairs import rows


@pytest.mark.parametrize(("question", "rest", "form"), rows("kinds/forms.jsonl"))
def test_words_at_either_end_ask_for_a_form(question: str, rest: str, form: str) -> None:
    asked = asked_form(question, lambda _: False)
    assert (asked.text, asked.form) == (rest, form)


@pytest.mark.parametrize("question", ["which songs are in the chart", "plot", "how many came in a file", "as a table"])
def test_other_words_stay(question: str) -> None:
    assert asked_form(question, lambda _: False).text == question


@pytest.mark.parametrize(("question", "view"), rows("kinds/views.jsonl"))
def test_an_answer_tells_the_view(question: str, view: str) -> None:
    columns = ["plot", "n"] if "garden" in question else ["sector", "n"]
    assert Answer(question=question, status="success", columns=columns).view == view


@pytest.mark.parametrize(("text", "standalone"), rows("kinds/forms_alone.jsonl"))
def test_a_form_alone_is_that_of_the_question_before(text: str, standalone: str | None) -> None:
    assert in_that_form(text, "sales by month?") == standalone
    if standalone:
        assert in_that_form(text, "sales by month as a line chart") == standalone


def test_a_word_of_the_schema_is_no_form() -> None:
    for question in ("plot sizes", "guests by name at a table", "export volumes by year", "seats in a table"):
        assert asked_form(question, lambda word: word in {"plot", "table", "export"}).form is None


def test_a_chart_is_read_without_a_doubt(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "startups.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            "CREATE TABLE startups AS SELECT * FROM (VALUES ('Acme', 'Energy', 100), ('Bolt', 'Energy', 50),"
            " ('Cora', 'Health', 70)) AS t(name, sector, funding)"
        )
    with open_database(str(path)) as database:
        schema = database.schema()
        values = value_index(database, schema)
        plain, asked = (read(q, schema, values) for q in ("show funding by sector", "plot funding by sector"))
        assert asked.sql == plain.sql
        assert asked.not_understood == ()
        assert asked.confidence >= STATED_DOUBT
        taken = read("export funding by sector to Excel", schema, values)
        assert "taken away with Export" in taken.interpretation
