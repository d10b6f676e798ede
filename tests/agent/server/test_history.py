"""What was asked stays: runs, threads, verdicts, SQL of one's own, whole results, databases of one's own."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from pathlib import Path

import httpx
import pytest

from tests.agent.server.running import ANA, BEN, Running, running, settings_for, wait_until

QUESTION = "How many customers are there?"


def test_runs_are_listed_latest_first_by_the_page_and_kept_whole(server: Running) -> None:
    streams = [server.ask(QUESTION) for _ in range(3)]
    asked = [streamed.run_id for streamed in streams]

    first = server.get("/runs?limit=2").json()
    second = server.get(f"/runs?limit=2&before={first['next']}").json()

    assert [r["run_id"] for r in first["runs"]] == [asked[2], asked[1]]
    assert second["runs"][0]["run_id"] == asked[0]
    run = first["runs"][0]
    assert (run["status"], run["preset"], run["question"]) == ("success", "shop", QUESTION)
    assert run["sql"] == "SELECT COUNT(*) AS customers FROM customers"
    assert run["answer"].startswith("There are **480** customers.")
    assert run["seconds"] > 0

    answer = server.get(f"/runs/{asked[0]}").json()["answer"]
    assert (answer["rows"], answer["attempts"][0]["data"]) == ([[480]], [[480]])
    assert set(answer["dimensions"]) == set(streams[0].of("answer")[0]["dimensions"])


def test_a_thread_holds_its_turns_in_order_until_it_is_forgotten(server: Running) -> None:
    first = server.ask(QUESTION)
    second = server.ask("How many products are there?", thread_id=first.thread_id)

    thread = server.get(f"/threads/{first.thread_id}").json()
    listed = server.get("/threads?limit=1").json()

    assert [r["run_id"] for r in thread["runs"]] == [first.run_id, second.run_id]
    assert [r["turn"] for r in thread["runs"]] == [1, 2]
    assert (thread["title"], thread["preset"], thread["waiting"]) == (QUESTION, "shop", None)
    assert listed["threads"][0]["thread_id"] == first.thread_id
    assert listed["threads"][0]["turns"] == 2

    assert httpx.delete(f"{server.url}/threads/{first.thread_id}").status_code == 204
    for path in (f"/threads/{first.thread_id}", f"/runs/{first.run_id}", f"/runs/{first.run_id}/events"):
        assert server.get(path).status_code == 404


def test_a_thread_as_markdown_shows_rows_as_a_table_and_no_markup_of_others(server: Running) -> None:
    streamed = server.ask("<script>alert(1)</script> How many customers are there?")

    answer = server.get(f"/threads/{streamed.thread_id}/markdown")

    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "<script>" not in answer.text
    assert answer.text.startswith("# &lt;script>alert")


def test_the_latest_verdict_stands(server: Running) -> None:
    run_id = server.ask("How many orders are there?").run_id

    for verdict, sql in (("wrong", None), ("corrected", "SELECT COUNT(order_id) FROM orders")):
        answer = server.post("/feedback", {"run_id": run_id, "verdict": verdict, "sql": sql})
        assert answer.status_code == 201
        assert answer.json()["feedback_id"]

    assert server.get(f"/runs/{run_id}").json()["feedback"] == "corrected"
    [pair] = server.get("/feedback?preset=shop").json()
    assert pair["question"] == "How many orders are there?"
    assert pair["sql"] == "SELECT COUNT(order_id) FROM orders"
    assert server.get("/feedback?preset=enterprise").json() == []


def test_sql_of_ones_own_runs_under_the_guard_and_its_whole_result_is_had(server: Running) -> None:
    ran = server.post("/sql", {"preset": "shop", "sql": "SELECT * FROM customers -- all", "question": "all"}).json()

    assert (ran["status"], ran["rows_returned"], len(ran["rows"])) == ("success", 480, 200)
    assert ran["sql"] == "SELECT * FROM customers"
    run = server.get(f"/runs/{ran['run_id']}").json()
    assert (run["kind"], run["question"], run["status"]) == ("sql", "all", "success")

    ran = server.post("/sql", {"preset": "shop", "sql": "SELECT citty FROM customers"}).json()

    assert ran["status"] == "error"
    assert ran["phantoms"]["columns"][0]["name"] == "citty"
    assert "city" in ran["phantoms"]["columns"][0]["nearest"]
    run_id = server.post("/sql", {"preset": "shop", "sql": "SELECT * FROM customers"}).json()["run_id"]

    page = server.get(f"/runs/{run_id}/rows?offset=470&limit=100").json()
    names = [c["name"] for c in page["columns"]]
    city = names.index("city")
    berlin = server.get(f"/runs/{run_id}/rows", params={"filter": f"{city}:contains:berl", "sort": "0:desc"}).json()

    assert (page["total"], len(page["rows"]), page["truncated"]) == (480, 10, False)
    assert {row[city] for row in berlin["rows"]} == {"Berlin"}
    assert [row[0] for row in berlin["rows"]] == sorted((row[0] for row in berlin["rows"]), reverse=True)

    as_csv = server.get(f"/runs/{run_id}/export?format=csv")
    as_lines = server.get(f"/runs/{run_id}/export?format=jsonl")

    assert "attachment" in as_csv.headers["content-disposition"]
    assert len(list(csv.reader(io.StringIO(as_csv.text)))) == 481
    assert len([json.loads(line) for line in as_lines.text.splitlines()]) == 480
    for query in ("sort=x", "sort=0:up", "filter=0", "filter=0:like:x", "sort=99", "filter=99:=:1"):
        assert server.get(f"/runs/{run_id}/rows?{query}").status_code == 400, query


@pytest.mark.parametrize("opened", [False, True])
def test_an_upload_whose_file_is_gone_says_so_without_the_servers_path(tmp_path: Path, opened: bool) -> None:
    with running(settings_for(tmp_path)) as server:
        files = {"file": ("boats.csv", b"name,length\nIda,7.5\nMo,9\n")}
        preset = httpx.post(f"{server.url}/databases/upload", files=files, timeout=60).json()["id"]
        if opened:
            assert server.ask("How many boats are there?", preset=preset).of("answer")[0]["rows"] == [[2]]
        for file in (tmp_path / "state" / "uploads").rglob("*.*"):
            if file.is_file() and file.suffix != ".json":
                file.unlink()
        statement = {"preset": preset, "sql": "SELECT name FROM boats WHERE length > 8"}
        told = [server.get(f"/schema/{preset}").text, server.post("/sql", statement).text]
        told += [str(server.ask(f"How many boats are longer than {n}?", preset=preset).events) for n in (1, 2)]

    assert all(str(tmp_path) not in text for text in told), told
    assert all("gone" in text for text in told), told


def test_a_connected_database_is_asked_without_its_password_being_said(server: Running, postgres_url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE boats AS SELECT 'Ida' AS name UNION ALL SELECT 'Mo'")
    with_password = postgres_url.replace("postgres@", "postgres:s3cr3t-word@", 1)

    sent = server.post("/databases", {"url": with_password, "name": "Harbour"})

    assert sent.status_code == 201, sent.text
    assert sent.json()["name"] == "Harbour"
    assert server.get(f"/schema/{sent.json()['id']}").json()["tables"][0]["name"] == "boats"
    assert "s3cr3t-word" not in sent.text + server.get("/presets").text
    assert httpx.delete(f"{server.url}/databases/{sent.json()['id']}").status_code == 204


def test_what_one_client_made_is_not_there_for_another(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_TOKENS=f"ana={ANA},bo={BEN}")) as server:
        ana, bo = ({"Authorization": f"Bearer {token}"} for token in (ANA, BEN))
        streamed = server.stream("POST", "/query", json={"question": QUESTION}, headers=ana)

        assert server.get("/runs").status_code == 401
        assert server.get(f"/runs/{streamed.run_id}", headers=ana).status_code == 200
        for path in (f"/runs/{streamed.run_id}", f"/runs/{streamed.run_id}/events", f"/runs/{streamed.run_id}/rows"):
            assert server.get(path, headers=bo).status_code == 404
        assert server.get(f"/threads/{streamed.thread_id}", headers=bo).status_code == 404
        assert server.post(f"/runs/{streamed.run_id}/cancel", headers=bo).status_code == 404
        assert server.get("/runs", headers=bo).json()["runs"] == []
        assert server.get("/health").json()["auth"] is True


def test_the_presets_and_the_structure_rows_and_values_of_a_database(server: Running) -> None:
    schema = server.get("/schema/shop").json()
    orders = next(t for t in schema["tables"] if t["name"] == "orders")
    customer = next(c for c in orders["columns"] if c["name"] == "customer_id")

    assert (schema["dialect"], len(schema["tables"])) == ("sqlite", 8)
    assert orders["row_count"] > 0
    assert (customer["foreign_key"], customer["primary_key"]) == ("customers.customer_id", False)

    sample = server.get("/schema/shop/customers/sample?limit=3").json()
    values = server.get("/schema/shop/customers/city/values?limit=5").json()

    assert (len(sample["rows"]), len(sample["columns"])) == (3, 10)
    assert [v["count"] for v in values["values"]] == sorted((v["count"] for v in values["values"]), reverse=True)
    assert values["distinct"] == 57
    assert values["nulls"] == 0

    presets = server.get("/presets").json()

    assert [(p["id"], p["default"]) for p in presets[:2]] == [("shop", True), ("enterprise", False)]
    assert QUESTION in presets[0]["examples"]


def test_a_state_that_takes_no_writes_is_not_ready_nor_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.store.base.BUSY_SECONDS", 0.1)
    with running(settings_for(tmp_path)) as server:
        wait_until(lambda: server.get("/ready").json()["ready"])
        with contextlib.closing(sqlite3.connect(tmp_path / "state" / "state.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            ready, asked = server.get("/ready"), server.post("/query", {"question": QUESTION})
        assert (ready.status_code, ready.json()["checks"]["state"]) == (503, "the state database takes no writes")
        assert (asked.status_code, asked.json()["error"]["kind"]) == (503, "unavailable")
        assert {ready.headers["Retry-After"], asked.headers["Retry-After"]} == {"5"}
        assert str(tmp_path) not in asked.text
        assert "log says why" in asked.text
        wait_until(lambda: server.get("/ready").json()["ready"])
        monkeypatch.setattr("agent.store.store.LEAST_FREE_BYTES", 1 << 62)
        full = server.get("/ready")
        assert (full.status_code, full.json()["checks"]["state"]) == (503, "the state database takes no writes")


def test_a_budget_shortens_a_profile_and_a_schema_comes_by_the_page(server: Running) -> None:
    reply = server.get("/schema/shop/profile?budget=900").json()

    assert reply["tokens"] <= 900
    assert any(s["left_out"] for s in reply["sections"])
    assert server.get("/schema/shop/profile?budget=-1").status_code == 422

    answer = server.get("/schema/nothing/profile")

    assert answer.status_code == 404
    assert answer.json()["error"]["kind"] == "not_found"
    whole = server.get("/schema/shop").json()
    pages = [server.get(f"/schema/shop?offset={n}&limit=2").json() for n in range(0, whole["total"] + 2, 2)]

    assert [table for page in pages for table in page["tables"]] == whole["tables"]
    assert len(whole["tables"]) == whole["total"]
    assert pages[-1]["tables"] == []


def test_a_missing_file_is_unavailable(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_DB_PATH=tmp_path / "gone.sqlite")) as server:
        answer = server.get("/schema/configured/profile")

        assert answer.status_code == 503
        assert answer.json()["error"]["message"]


@pytest.mark.parametrize(("mode", "counts"), [("masked", True), ("schema", False)])
def test_the_privacy_mode_holds_here_too(tmp_path: Path, mode: str, counts: bool) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_PRIVACY=mode)) as server:
        answer = server.get("/schema/shop/profile")
        reply = answer.json()

        assert reply["privacy"] == mode
        assert "Brewing Gear" not in answer.text  # a stored value; what the schema's comments say may be told
        assert any(c["rows"] for c in reply["columns"]) is counts


@pytest.mark.parametrize("path", ["/schema/shop", "/schema/shop/profile", "/schema/shop?offset=1&limit=2"])
def test_what_is_unchanged_is_not_sent_again(server: Running, path: str) -> None:
    first = server.get(path)
    again = server.get(path, headers={"If-None-Match": first.headers["etag"]})

    assert first.json()["dialect"] == "sqlite"
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert server.get(path, headers={"If-None-Match": '"other"'}).content == first.content
