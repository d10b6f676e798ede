"""What a model at an endpoint is shown: the structure or its linked part, notes on the data, stored values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.knowledge.model_view import ModelView, model_view
from agent.knowledge.privacy import SchemaText
from agent.knowledge.profile import kept_profile
from eval.databases import Database, open_database
from eval.tasks import demo_path

QUESTION = "How many shipped orders came from Amsterdam?"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    file = demo_path("shop")
    with pytest.MonkeyPatch.context() as patch, open_database(str(file)) as database:
        patch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for mode in ("full", "masked"):
            kept_profile(database, database.schema(), privacy=mode)
        yield database


def viewed(database: Database, question: str = QUESTION, **more: object) -> ModelView:
    chosen = {"privacy": "full", "schema_tokens": 8_000, "note_tokens": 1_500, **more}
    return model_view(question, database, database.schema(), **chosen)  # type: ignore[arg-type]


def test_structure_first_then_notes_then_values(database: Database) -> None:
    text = viewed(database).text

    assert text.index("Table: orders") < text.index("Notes on the data:") < text.index("Stored values")
    assert "- orders.status: values: 'delivered', " in text
    assert "- orders.status has 'shipped'" in text


def test_a_structure_over_its_budget_is_linked(database: Database) -> None:
    view = viewed(database, schema_tokens=250, note_tokens=200)

    assert view.structure <= 250 < view.whole
    assert view.notes <= 200
    assert view.columns < database.schema().column_count
    assert "status" in view.text


@pytest.mark.parametrize("mode", ["masked", "schema"])
def test_no_value_gets_in_where_none_may(database: Database, mode: str) -> None:
    text = viewed(database, privacy=mode).text

    assert isinstance(text, SchemaText)
    for value in ("'shipped'", "delivered'", "Amsterdam", "2024-", "@"):
        assert value not in text, value
    assert ("Notes on the data" in text) is (mode == "masked")


def test_where_rows_may_not_be_read_none_are(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    database.schema()
    monkeypatch.setattr(database, "execute", lambda *_, **__: pytest.fail("a statement was sent"))
    view = viewed(database, reads=False)

    assert (view.notes, view.values) == (0, 0)


def test_only_notes_on_what_the_question_may_need_are_shown(database: Database) -> None:
    """A count of customers needs no dates of payments and no empty weights of products."""
    view = viewed(database, "How many customers are there?")
    notes = view.text.partition("Notes on the data:")[2]
    tables = {line.split(".")[0].split(":")[0] for line in notes.splitlines() if line.startswith("- ")}
    assert tables <= {"- customers", "- orders"}
    assert view.notes <= 250
