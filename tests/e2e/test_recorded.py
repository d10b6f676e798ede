"""Somebody asks with a model that real answers were recorded of: attempts that fail as they did then, and the one
that stands in the end."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from experiments.recorded.answers import Answers, load_answers
from experiments.recorded.server import application
from experiments.recorded.server import running as replaying
from tests.agent.server.running import Running, running, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.states import answered, ask

Lines = list[dict[str, Any]]


@dataclass
class Recorded:
    server: Running
    refused_at_first: str
    """A question whose first recorded answer names a column that does not exist, and a later one runs."""
    others: list[str]
    """Questions whose first recorded answer runs."""


def lines(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()]


def outcome(database: sqlite3.Connection, sql: str) -> str:
    """What an engine without the recording's own dialect says: `rows`, `none`, or its error."""
    try:
        return "rows" if database.execute(sql).fetchmany(2) else "none"
    except sqlite3.Error as error:
        return str(error)


@pytest.fixture(scope="module")
def recorded(bench_dir: Path, recorded_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A server on a benchmark's database, with the answers that were recorded on its questions as the model."""
    for answers in sorted(recorded_dir.glob("*.jsonl")):
        bench = bench_dir / answers.stem.split("_")[0]
        files = sorted((bench / "databases").glob("*.sqlite"))
        if len(files) == 1:
            break
    else:
        pytest.skip(f"no recording on a single database under {recorded_dir}")
    questions = {line["id"]: line["question"] for line in lines(bench / "questions.jsonl")}
    by_question = itertools.groupby(sorted(lines(answers), key=lambda line: line["id"]), key=lambda line: line["id"])
    refused, fine = [], []
    with contextlib.closing(sqlite3.connect(f"file:{files[0]}?mode=ro", uri=True)) as database:
        for name, given in by_question:
            outcomes = [outcome(database, line["sql"]) for line in given]
            if "no such column" in outcomes[0] and outcomes[1] == "rows":
                refused.append(questions[name])
            elif outcomes[0] == "rows":
                fine.append(questions[name])
    if not refused or len(fine) < 2:
        pytest.skip(f"{answers.name} holds no answer that was refused and then mended")
    source = Answers(load_answers(answers, bench / "questions.jsonl"))
    with replaying(application(source, delay=0.15)) as url:
        config = settings_for(
            tmp_path_factory.mktemp("recorded"),
            TEXT2SQL_PAGE_DIR=DIST,
            TEXT2SQL_DB_PATH=files[0],
            OPENAI_BASE_URL=url,
            OPENAI_API_KEY="k",
            TEXT2SQL_MODEL="recorded",
        )
        with running(config) as server:
            yield Recorded(server, refused[0], fine)


def test_a_recorded_slip_is_seen_tried_again_and_compared(recorded: Recorded, open_page: OpenPage) -> None:
    page = open_page(recorded.server)
    ask(page, recorded.refused_at_first)
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    answered(page)
    steps = page.get_by_label("Steps", exact=True)
    expect(steps).to_contain_text("so it was tried again")
    expect(steps).to_contain_text("attempt 2")
    page.get_by_role("button", name="Compare the").click()
    compared = page.get_by_label("Attempts side by side")
    expect(compared.locator("ins").first).to_be_visible()
    expect(compared).to_contain_text("behind the answer")


def test_a_thread_goes_on_over_a_recording(recorded: Recorded, open_page: OpenPage) -> None:
    page = open_page(recorded.server)
    for number, question in enumerate(recorded.others[:2], start=1):
        ask(page, question)
        expect(page.locator("article[aria-busy=false]")).to_have_count(number)
        answered(page)
    expect(page.get_by_role("grid")).not_to_have_count(0)
    expect(page.get_by_role("group", name="SQL statement")).to_have_count(2)
