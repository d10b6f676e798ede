"""What the team wrote down reaches a person only as far as the person's rights do: canaries in hidden rows, columns and
tables, in every file that is read for a question, are searched for in every prompt and in every byte at every door."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from agent.batch import app as batch
from agent.config import settings
from experiments.parser.hostile_questions import questions as garbled
from tests.agent.access.conftest import ANNA, BEN, ENGINES, TOKENS, Urls
from tests.agent.access.test_attempts import ATTEMPTS
from tests.agent.server.running import Running, running, settings_for
from tests.agent.server.test_boards import board, kept
from tests.openai_server import OpenAIServer, Reply, Request, completion
from tests.pairs import FIXTURES, sections
from tests.samples import sampled

pytestmark = pytest.mark.parametrize("company", sampled(ENGINES, 2), indirect=True, scope="module")
"""What a door lets out depends on the engine only by the statement, which `test_attempts` tries on each of them."""


CANARY = re.compile(r"sentinel|(?<![\d.])(?:777|888|999)00\d(?!\d)")
"""What only hidden rows, columns and tables hold; not the same digits in the middle of a time."""
EXAMPLES = sections("access/canaries.txt")["examples"]
TERMS = sections("access/canaries.txt")["terms"]
SHOWN, HIDDEN = EXAMPLES[:2], EXAMPLES[2:]
GLOSSARY = (FIXTURES / "access/glossary.yaml").read_text(encoding="utf-8")
SEMANTICS = (FIXTURES / "access/semantics.yaml").read_text(encoding="utf-8")
GARBLED = int(os.environ.get("TEXT2SQL_CANARY_QUESTIONS", "10"))
"""Garbled questions on each engine; 250 make more than 5,000 answers and prompts on four."""
QUESTIONS = sections("access/canaries.txt")["questions"][0]


def files(folder: Path) -> dict[str, Path]:
    (kit := folder / "kit").mkdir()
    examples = "".join(json.dumps({"question": q, "sql": sql}) + "\n" for q, sql in EXAMPLES)
    (folder / "examples.jsonl").write_text(examples)
    (folder / "semantics.yaml").write_text(SEMANTICS)
    (folder / "glossary.yaml").write_text(GLOSSARY)
    (kit / "examples.jsonl").write_text(examples)
    (kit / "glossary.yaml").write_text(GLOSSARY)
    (kit / "instructions.md").write_text("Sentinel-Dora earns 777004.\n")
    (kit / "analysis.py").write_text("print('Sentinel-Egon sold 888004')\n")
    return {
        "TEXT2SQL_EXAMPLES": folder / "examples.jsonl",
        "TEXT2SQL_GLOSSARY": folder / "glossary.yaml",
        "TEXT2SQL_SEMANTIC_MODEL": folder / "semantics.yaml",
        "TEXT2SQL_KIT": kit,
    }


class Searched:
    """Everything that left, with what was sent to get it."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def add(self, text: str, asked: str = "") -> str:
        self.texts.append((text, asked))
        return text

    @property
    def found(self) -> list[str]:
        """Only an echo of the whole request is none."""
        rests = [
            text.casefold().replace(json.dumps(asked)[1:-1].casefold(), "").replace(asked.casefold(), "")
            for text, asked in self.texts
        ]
        return [rest for rest in rests if CANARY.search(rest)]


def model(prompts: Searched) -> Any:
    """Takes every chance to write what is hidden."""

    def answer(request: Request) -> Reply:
        question = next((q for q in QUESTIONS if q in request.prompt), "")
        prompts.add(request.prompt, question)
        if '"tasks"' in json.dumps(request.body.get("response_format", {})):
            task = {"id": "t1", "description": question, "sql": "", "depends_on": []}
            return completion({"plan_type": "single", "confidence": 0.9, "tasks": [task]})
        return completion({"reasoning": "as asked", "sql": "SELECT name, region FROM staff", "score": 0.9})

    return answer


Taught = tuple[Running, Searched, dict[str, Any]]
"""A server, the prompts that its model got, and its settings."""


@pytest.fixture(scope="module")
def taught(company: Urls, policies: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taught]:
    folder = tmp_path_factory.mktemp("canaries")
    prompts = Searched()
    with OpenAIServer() as endpoint:
        endpoint.otherwise = model(prompts)
        values = {
            "OPENAI_BASE_URL": endpoint.url,
            "OPENAI_API_KEY": "k",
            "TEXT2SQL_DATABASE_URL": company[0],
            "TEXT2SQL_POLICIES": policies,
            "TEXT2SQL_TOKENS": TOKENS,
            "TEXT2SQL_CACHE_DIR": folder / "cache",
            **files(folder),
        }
        with running(settings_for(folder, **values)) as served:
            yield served, prompts, values


def test_examples_whose_constants_are_visible_are_shown_and_no_others(taught: Taught) -> None:
    served, prompts, _ = taught
    with served.client() as client:
        for question in QUESTIONS:
            client.post("/query", json={"question": question}, headers=ANNA)
    told = "\n".join(text for text, _ in prompts.texts)
    assert all(sql in told for _, sql in SHOWN)
    assert "staff.region = 'EU'" in told
    assert not any(sql in told for _, sql in HIDDEN)
    assert prompts.found == []


def test_no_canary_is_in_a_byte_that_leaves(taught: Taught, caplog: pytest.LogCaptureFixture) -> None:
    served, prompts, _ = taught
    seen = Searched()
    caplog.set_level(logging.DEBUG, logger="agent")
    with served.client() as client:
        client.headers.update(ANNA)

        def get(path: str) -> httpx.Response:
            reply = client.get(path)
            seen.add(reply.text)
            return reply

        for path in ("", "/profile", "/examples", "/staff/sample", "/sales/sample", "/payroll/sample"):
            get(f"/schema/configured{path}")
        for column in ("name", "region", "salary", "email"):
            get(f"/schema/configured/staff/{column}/values")
        for question in QUESTIONS:
            reply = client.post("/query", json={"question": question})
            seen.add(reply.text, question)
            run_id = reply.headers["x-run-id"]
            for path in ("", "/rows", "/export", "/export?format=jsonl", "/events", "/document"):
                seen.add(client.get(f"/runs/{run_id}{path}").text, question)
        for sql in ATTEMPTS:
            reply = client.post("/sql", json={"sql": sql, "preset": "configured"})
            body = reply.json()
            shown = {key: value for key, value in body.items() if key not in ("sql", "columns")}
            seen.add(json.dumps(shown), sql)
            if body.get("status") == "success":
                seen.add(client.get(f"/runs/{body['run_id']}/export?format=jsonl").text.replace(sql, ""), sql)
        known = {"preset": "configured"}
        for word in ("sentinal", "sentinl-dora", "pay", "dora", "egon", "boss", "staff", "region"):
            reply = client.get("/terms/likely", params={**known, "word": word, "question": "What does Dora earn?"})
            seen.add(reply.text, word)
        for kind, term, means in TERMS:
            asked = {**known, "kind": kind, "term": term, "means": means}
            for path in ("/terms/try", "/terms"):
                reply = client.post(path, json=asked)
                shown = {k: v for k, v in reply.json().items() if k in ("tried", "sql")}
                seen.add(json.dumps(shown) if reply.is_success else reply.text, means)
        kept = {t["means"] for t in get("/terms?preset=configured&history=true").json()}
        assert kept == {"staff.region = 'EU'", "staff.region", "staff"}
        get("/terms/export?preset=configured")
        for path in ("/presets", "/health", "/metrics", "/model", "/boards", "/kept", "/feedback"):
            get(path)
    seen.add("\n".join(record.getMessage() for record in caplog.records))

    assert seen.found == []
    assert prompts.found == []
    assert len(seen.texts) > 100


async def test_no_canary_is_in_what_a_model_gets_over_mcp(taught: Taught) -> None:
    pytest.importorskip("mcp")
    from tests.agent.mcp.client import over_http

    served, prompts, _ = taught
    seen = Searched()
    async with over_http(served.url, ANNA["Authorization"].removeprefix("Bearer ")) as client:
        for question in QUESTIONS:
            seen.add((await client.call_tool("ask", {"question": question})).model_dump_json(), question)
        for tool in ("list_databases", "describe_schema"):
            seen.add((await client.call_tool(tool, {})).model_dump_json())
        seen.add((await client.read_resource("schema://configured")).model_dump_json())
        seen.add((await client.read_resource("schema://configured/staff")).model_dump_json())

    assert seen.found == []
    assert prompts.found == []


def test_no_canary_is_in_prompts_and_answers_of_garbled_questions(taught: Taught) -> None:
    served, prompts, _ = taught
    seen = Searched()
    with served.client() as client:
        client.headers.update(ANNA)
        for question in garbled([*QUESTIONS, *(question for question, _ in SHOWN)], GARBLED, seed=7):
            reply = client.post("/query", json={"question": question})
            seen.add(reply.text, question)
            seen.add(client.get(f"/runs/{reply.headers['x-run-id']}/export").text, question)

    assert seen.found == []
    assert prompts.found == []
    print(f"{len(seen.texts)} answers, {len(prompts.texts)} prompts")


def test_batch_and_agents_of_others_show_no_canary(taught: Taught, monkeypatch: pytest.MonkeyPatch) -> None:
    served, prompts, values = taught
    seen = Searched()
    structure = {"tables": [{"name": "staff", "columns": [{"name": "name", "type": "TEXT"}]}]}
    for question in QUESTIONS:
        task = {"task_id": "t", "question": question, "schema": structure, "dialect": "sqlite"}
        reply = httpx.post(f"{served.url}/generate", json=task, headers=ANNA, timeout=60)
        seen.add(reply.text, question)
    url = str(values["TEXT2SQL_DATABASE_URL"])
    if url.startswith("sqlite"):
        for name, value in {**values, "TEXT2SQL_PERSON": "anna"}.items():
            monkeypatch.setenv(name, str(value))
        settings.cache_clear()
        folder = str(Path(url.removeprefix("sqlite:///")).parent)
        lines = "\n".join(json.dumps({"id": q, "db": "company", "question": q}) for q in QUESTIONS)
        try:
            for mode in (["--model", "m"], ["--offline"]):
                command = ["answer", "--databases", f"sqlite:///{folder}/{{db}}.db", "--quiet", *mode]
                done = CliRunner().invoke(batch, command, input=lines)
                for line, question in zip(done.stdout.splitlines(), QUESTIONS, strict=True):
                    seen.add(line, question)
        finally:
            settings.cache_clear()

    assert seen.found == []
    assert prompts.found == []


def test_a_shared_board_shows_no_query_that_names_what_is_hidden(taught: Taught) -> None:
    asked = {
        "Staff of the EU": "SELECT COUNT(*) AS n FROM staff WHERE region = 'EU'",
        "The best": "SELECT region FROM staff WHERE name = 'Sentinel-Dora'",
    }
    with taught[0].client() as client:
        client.headers.update(BEN)
        made = board(client, *(kept(client, sql, preset="configured", title=title) for title, sql in asked.items()))
        share = client.post(f"/boards/{made['board_id']}/share").json()["share"]
        mine = client.get(f"/shared/{share}").json()
        client.headers.update(ANNA)
        seen = client.get(f"/shared/{share}")
        refused = client.post(f"/shared/{share}/{mine['answers'][1]['kept_id']}/refresh", json={})

    assert [answer["title"] for answer in seen.json()["answers"]] == ["Staff of the EU"]
    assert len(seen.json()["tiles"]) == 1
    assert len(mine["answers"]) == 2
    assert refused.status_code == 404
    assert not CANARY.search((seen.text + refused.text).casefold())


def test_filters_and_drill_down_give_nobody_more_than_their_rights(taught: Taught) -> None:
    """Ben's board is narrowed by what Anna may not see: columns, values and rows."""
    columns = {"Pay": ("salary", "number", ["888001", None]), "Name": ("name", "value", ["Sentinel-Dora"])}
    columns |= {"Region": ("region", "value", ["EU"]), "Of Sentinel-Dora": ("region", "value", [])}
    staff = {"preset": "configured", "table": "staff"}
    filters = [
        {"label": label, "kind": kind, "columns": [{**staff, "column": column}], "value": value}
        for label, (column, kind, value) in columns.items()
    ]
    sql = "SELECT COUNT(*) AS n FROM staff"
    with taught[0].client() as client:
        client.headers.update(BEN)
        made = board(client, answer := kept(client, sql, preset="configured", title="Staff"))
        client.patch(f"/boards/{made['board_id']}", json={"filters": filters})
        share = client.post(f"/boards/{made['board_id']}/share").json()["share"]
        client.headers.update(ANNA)

        seen = client.get(f"/shared/{share}")
        values = [client.get(f"/shared/{share}/filters/{place}/values") for place in range(4)]
        tile = f"/shared/{share}/{answer['kept_id']}/refresh"
        as_left = client.post(tile, json={})
        probed = client.post(tile, json={"filters": [["888000", None], ["Sentinel-Dora"], [], ["US"]]})
        asked = {"preset": "configured", "sql": sql, "columns": ["n"], "rows": [[5]], "column": 0}
        ways = client.post("/drill", json=asked)
        behind = [client.post("/sql", json={"sql": way["sql"], "preset": "configured"}) for way in ways.json()["ways"]]

    assert [one and one["label"] for one in seen.json()["filters"]] == [None, None, "Region", None]
    assert [one.status_code for one in values] == [404, 404, 200, 404]
    assert as_left.json()["result"]["rows"] == probed.json()["result"]["rows"] == [[3]]
    assert not any("salary" in way["sql"] for way in ways.json()["ways"])
    assert {"rows", "by"} == {way["kind"] for way in ways.json()["ways"]}
    assert all(one.json()["status"] == "success" for one in behind)
    told = [seen, *values, as_left, ways, *behind]
    assert not CANARY.search("".join(one.text for one in told).casefold())
