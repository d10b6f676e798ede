"""Files asked through the whole agent: what the rows and the amounts of a file are, found in its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pairs import rows
from text2sql import run

ASKED = [(name, text, *asked) for name, text, questions in rows("kinds/asked_files.jsonl") for asked in questions]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all questions, so that each file is read once."""
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize(("name", "text", "question", "answer"), ASKED)
async def test_the_answer_is_what_the_file_means_and_what_it_does_not_say_is_never_sure(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, question: str, answer: Any
) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(folder / "cache"))
    file = folder / f"{name}.csv"
    if not file.exists():
        file.write_text(text)
    found = await run(question, database=file, model="offline")

    assert (found.status == "success") is (answer is not None), (found.answer, found.sql)
    if isinstance(answer, dict):
        assert dict(found.rows) == answer
    elif answer is not None:
        [[value, *_]] = found.rows
        assert value == pytest.approx(answer)
