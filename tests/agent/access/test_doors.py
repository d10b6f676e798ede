"""Each door shows a person what policies allow: HTTP, its streams and exports, MCP, Python, A2A; also changed ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from agent.config import Settings, StateSettings
from agent.runner import run
from agent.store.records import ThreadRecord
from agent.store.store import open_store
from tests.agent.access.conftest import ANNA, POLICIES, SECRETS, TOKENS, Urls, build, whole
from tests.agent.access.test_attempts import ATTEMPTS
from tests.agent.server.running import Running, Stream, running, settings_for
from tests.pairs import FIXTURES

EVE = {"Authorization": "Bearer eve-token-01234567890"}


def config(folder: Path, url: str, policies: str | Path, **more: Any) -> Settings:
    own = {"TEXT2SQL_DATABASE_URL": url, "TEXT2SQL_POLICIES": policies, "TEXT2SQL_TOKENS": TOKENS}
    return settings_for(folder, **own, TEXT2SQL_CACHE_DIR=folder / "cache", **more)


@pytest.fixture(scope="module")
def server(company: Urls, policies: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("doors")
    with running(config(folder, company[0], policies, TEXT2SQL_AUDIT_LOG=folder / "audit.jsonl")) as served:
        yield served


def quiet(text: str, asked: str = "") -> None:
    """No secret is in a reply, apart from words of the request itself."""
    rest = text.lower().replace(asked.lower(), "")
    assert not any(secret in rest for secret in SECRETS), rest


def test_structure_samples_values_and_profile_show_what_is_visible(server: Running) -> None:
    with server.client() as client:
        shown = client.get("/schema/configured", headers=ANNA).json()
        assert {t["name"]: t["row_count"] for t in shown["tables"]} == {"staff": None, "sales": None, "goods": 5}
        sample = client.get("/schema/configured/staff/sample", headers=ANNA).json()
        assert [row[1] for row in sample["rows"]] == ["Anna", "Bert", "Cleo"]
        values = client.get("/schema/configured/staff/region/values", headers=ANNA).json()
        assert values["values"] == [{"value": "EU", "count": 3}]
        assert client.get("/schema/configured/staff/salary/values", headers=ANNA).status_code == 404
        assert client.get("/schema/configured/payroll/sample", headers=ANNA).status_code == 404
        profile = client.get("/schema/configured/profile", headers=ANNA)
        assert profile.status_code == 200
        quiet(profile.text)
        assert "salary" not in profile.text
        assert client.get("/schema/configured", headers=EVE).json()["tables"] == []


def test_a_list_where_one_value_belongs_is_told(company_file: Path, tmp_path: Path) -> None:
    rules = tmp_path / "access.yaml"
    rules.write_text(
        "people: {anna: {region: [EU, US]}}\n"
        "rules: [{who: {}, database: '*', tables: {staff: {rows: 'region = :region'}, goods: visible}}]\n"
    )
    with running(config(tmp_path, f"sqlite:///{company_file}", rules)) as served, served.client() as client:
        asked = {"sql": "SELECT name FROM goods", "preset": "configured"}
        ran = client.post("/sql", json=asked, headers=ANNA)
        shown = client.get("/schema/configured", headers=ANNA)
    assert (ran.status_code, ran.json()["status"]) == (200, "error")
    assert "the list :region outside of IN" in ran.json()["error"]
    assert (shown.status_code, shown.json()["error"]["kind"]) == (503, "unavailable")


def test_a_clients_database_gets_nothing_that_the_team_knows(policies: str, company_file: Path, tmp_path: Path) -> None:
    from tests.agent.access.test_canaries import CANARY, files

    known = config(tmp_path, f"sqlite:///{company_file}", policies, **files(tmp_path))
    tables = "CREATE TABLE payroll (amount INT); CREATE TABLE staff (name TEXT, region TEXT, salary INT);"
    with running(known) as served, served.client() as client:
        upload = {"file": ("staff.sql", tables.encode())}
        source = client.post("/databases/upload", files=upload, headers=ANNA)
        assert source.status_code == 201, source.text
        preset = source.json()["id"]
        asked = {"question": "What is paid?", "preset": preset}
        seen = client.get(f"/schema/{preset}/examples", headers=ANNA).text
        seen += client.get(f"/schema/{preset}", headers=ANNA).text
        seen += client.post("/query", json=asked, headers=ANNA).text
    assert not CANARY.search(seen.casefold())


def test_the_audit_log_has_who_asked_what_and_which_sql_ran(server: Running) -> None:
    with server.client() as client:
        client.post("/sql", json={"sql": "SELECT title FROM goods", "preset": "configured"}, headers=ANNA)
        stream = client.post("/query", json={"question": "How many goods are there?"}, headers=ANNA)
        assert '"answer"' in stream.text
    path = Path(str(server.services.settings.database.audit_log))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert any(
        one["event"] == "question" and one["person"] == "anna" and one["question"].startswith("How many")
        for one in lines
    )
    goods = [one for one in lines if one["event"] == "statement" and "goods" in one["sql"]]
    assert ("anna", 5) in {(one["person"], one["rows"]) for one in goods}
    asked = next(one["run"] for one in lines if one["event"] == "question")
    assert any(one["run"] == asked for one in goods)
    assert path.stat().st_mode & 0o077 == 0


def as_anna(server: Running, question: str) -> Stream:
    return server.stream("POST", "/query", json={"question": question}, headers=dict(ANNA))


@pytest.mark.parametrize(
    ("question", "unseen"),
    [("What is the average salary of the staff?", "salary"), ("How many payroll rows are there?", "payroll")],
)
def test_a_question_about_hidden_things_is_told_so(server: Running, question: str, unseen: str) -> None:
    [answer] = as_anna(server, question).of("answer")
    assert (answer["status"], answer["answer"]) == ("abstained", f"Not visible to you: {unseen}.")


def test_an_answer_says_that_it_read_only_the_visible_rows(server: Running) -> None:
    streamed = as_anna(server, "How many staff are there?")
    [answer] = streamed.of("answer")
    assert answer["rows"] == [[3]]
    assert "Only the rows of staff that are visible to you were read." in answer["doubts"]
    quiet(json.dumps(streamed.events))


async def test_no_attempt_passes_over_mcp(server: Running) -> None:
    pytest.importorskip("mcp")
    from tests.agent.mcp.client import over_http

    async with over_http(server.url, ANNA["Authorization"].removeprefix("Bearer ")) as client:
        described = await client.call_tool("describe_schema", {})
        text = str(described.structured_content)
        ran = 0
        assert "salary" not in text
        assert "payroll" not in text
        for sql in ATTEMPTS:
            result = await client.call_tool("run_sql", {"sql": sql})
            rows = (result.structured_content or {}).get("rows")
            quiet(str(rows if rows is not None else result.content), sql)
            ran += not result.is_error
    assert ran > 30


@pytest.mark.parametrize(("person", "staff"), [("anna", 3), ("ben", 2)])
async def test_python_and_the_command_line_know_the_person_of_the_settings(
    person: str, staff: int, company: Urls, policies: str, tmp_path: Path
) -> None:
    values = {
        "TEXT2SQL_DATABASE_URL": company[0],
        "TEXT2SQL_POLICIES": policies,
        "TEXT2SQL_PERSON": person,
        "TEXT2SQL_CACHE_DIR": str(tmp_path),
    }
    answer = await run("How many staff are there?", model="offline", settings=Settings(_env_file=None, **values))
    assert answer.rows == [[staff]]


ALL = (FIXTURES / "access/everything.yaml").read_text(encoding="utf-8")


def asked(client: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    body = {"question": question, "preset": "configured", **more}
    reply = client.post("/query", json=body, headers=ANNA)
    lines = [json.loads(line[5:]) for line in reply.text.splitlines() if line.startswith("data:")]
    return {line["event"]: line.get("data", {}) for line in lines}


def test_history_stays_without_what_is_no_longer_seen(tmp_path: Path) -> None:
    build(f"sqlite://{tmp_path}/company.db", whole())
    url, before, after = f"sqlite:///{tmp_path}/company.db", tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(ALL)
    after.write_text(POLICIES)
    with running(config(tmp_path, url, before)) as served, served.client() as client:
        events = asked(client, "Which staff are there?")
        run = events["run"]["run_id"]
        thread = events["run"]["thread_id"]
        assert "Sentinel-Dora" in client.get(f"/runs/{run}", headers=ANNA).text
        statement = {"sql": "SELECT name FROM staff WHERE name = 'Sentinel-Egon'", "preset": "configured"}
        by_hand = client.post("/sql", json=statement, headers=ANNA).json()["run_id"]
        for one in (run, by_hand):
            assert client.post("/kept", json={"run_id": one, "title": "staff"}, headers=ANNA).status_code == 201
        kept = client.get("/kept", headers=ANNA).json()
        board = client.post("/boards", json={"title": "Board"}, headers=ANNA).json()["board_id"]
        tiles = [{"kept_id": one["kept_id"]} for one in kept]
        client.patch(f"/boards/{board}", json={"tiles": tiles}, headers=ANNA)
        assert client.post("/feedback", json={"run_id": by_hand, "verdict": "right"}, headers=ANNA).status_code == 201

    with running(config(tmp_path, url, after)) as served, served.client() as client:
        shown = {
            path: client.get(path, headers=ANNA)
            for path in (
                "/runs", f"/runs/{run}", f"/runs/{by_hand}", f"/runs/{run}/events", f"/runs/{by_hand}/rows",
                f"/runs/{by_hand}/export", "/threads", f"/threads/{thread}", f"/threads/{thread}/markdown",
                f"/threads/{thread}/export", "/kept", "/boards", f"/boards/{board}", f"/boards/{board}/export",
                "/feedback",
            )
        }  # fmt: skip
        for path, reply in shown.items():
            quiet(reply.text)
            assert reply.status_code in (200, 404), path
        assert {one["run_id"] for one in shown["/runs"].json()["runs"]} == {run, by_hand}
        detail = shown[f"/runs/{run}"].json()
        assert (detail["question"], detail["sql"], detail["answer"]) == ("Which staff are there?", "", None)
        assert [one["thread_id"] for one in shown["/threads"].json()["threads"]] == [thread]
        assert [one["question"] for one in shown["/kept"].json()] == ["Which staff are there?"]
        assert shown["/feedback"].json() == []
        assert client.post("/kept", json={"run_id": run}, headers=ANNA).status_code == 409

        further = asked(client, "how many are they?", thread_id=thread)
        assert "error" in further or "answer" not in further
        again = client.post(f"/runs/{run}/again", headers=ANNA).text
        quiet(again)
        assert "Anna" in again
        [answer] = [one for one in shown["/kept"].json() if one["question"]]
        fresh = client.post(f"/kept/{answer['kept_id']}/refresh", json={}, headers=ANNA)
        quiet(fresh.text)
        assert fresh.json()["result"]["rows_returned"] == 3
        assert client.get("/kept", headers=ANNA).json()[0]["result"]["rows_returned"] == 3


async def test_a_state_whose_owners_held_rights_is_read(tmp_path: Path) -> None:
    settings = StateSettings(TEXT2SQL_STATE_URL=f"sqlite:///{tmp_path}/state.db")
    await (await open_store(settings)).close()
    engine = create_engine(f"sqlite:///{tmp_path}/state.db")
    with engine.begin() as old:
        for table in ("threads", "runs", "feedback", "kept"):
            old.execute(text(f"ALTER TABLE text2sql_{table} DROP COLUMN rights"))
        old.execute(text("UPDATE text2sql_state SET version = 4"))
        old.execute(
            text(
                "INSERT INTO text2sql_threads (thread_id, owner, title, preset, turns, created, updated)"
                " VALUES ('t', 'anna' || char(10) || 'abc', 'Staff', 'shop', 1, 1, 1),"
                " ('u', 'ben', 'Mine', 'shop', 1, 1, 1)"
            )
        )
    engine.dispose()
    store = await open_store(settings)
    anna, ben = await store.get(ThreadRecord, "anna", "t"), await store.get(ThreadRecord, "ben", "u")
    await store.close()
    assert [one and one.rights for one in (anna, ben)] == ["abc", ""]
