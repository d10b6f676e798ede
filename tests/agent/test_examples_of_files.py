"""Every small file gets example questions, each of which was asked and answered without a doubt."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agent.config import settings
from agent.inspection.examples import answered, examples_of
from agent.runner import run
from agent.sources.files import open_files
from tests.pairs import rows


@pytest.mark.parametrize(("name", "text", "questions"), rows("kinds/small_files.jsonl"))
async def test_examples_of_a_file_were_answered(tmp_path: Path, name: str, text: str, questions: int) -> None:
    """Columns called by one letter say nothing, so fewer can be asked."""
    path = tmp_path / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    database = await asyncio.to_thread(open_files, path, str(tmp_path / "cache"), lambda _: None)
    try:
        config = settings()
        made = await asyncio.to_thread(examples_of, database, database.schema(), "full", config.judging)
        kept = await answered(made, partial(run, database=database, model="offline", settings=config))
    finally:
        database.close()
    assert len(kept) == questions, (made, kept)
