"""Words that ask for a chart, a table or a file choose the view; the rest is the question."""

from __future__ import annotations

import pytest

from agent.runtime.answer import Answer
from agent.runtime.form import asked_form, in_that_form
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
