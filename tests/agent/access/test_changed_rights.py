"""What a person saw with other rights than today's stays the person's own, without what it showed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import create_engine, text

from agent.config import Settings, StateSettings
from agent.store.records import ThreadRecord
from agent.store.store import open_store
from tests.agent.access.company import POLICIES, build, whole
from tests.agent.access.test_doors import quiet
from tests.agent.server.running import running, settings_for

ANNA = {"Authorization": f"Bearer {'a' * 32}"}
ALL = """
people:
  anna: {groups: [sales], region: EU}
rules:
  - who: {group: sales}
    database: "*"
    tables: {staff: visible, sales: visible, goods: visible}
"""


def config(folder: Path, policies: str, name: str) -> Settings:
    (folder / name).write_text(policies)
    return settings_for(
        folder,
        TEXT2SQL_DATABASE_URL=f"sqlite:///{folder}/company.db",
        TEXT2SQL_POLICIES=folder / name,
        TEXT2SQL_TOKENS=f"anna={'a' * 32}",
        TEXT2SQL_CACHE_DIR=folder / "cache",
    )


def asked(client: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    body = {"question": question, "preset": "configured", **more}
    reply = client.post("/query", json=body, headers=ANNA)
    lines = [json.loads(line[5:]) for line in reply.text.splitlines() if line.startswith("data:")]
    return {line["event"]: line.get("data", {}) for line in lines}


def test_history_stays_without_what_is_no_longer_seen(tmp_path: Path) -> None:
    build(f"sqlite://{tmp_path}/company.db", whole())
    with running(config(tmp_path, ALL, "before.yaml")) as served, served.client() as client:
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

    with running(config(tmp_path, POLICIES, "after.yaml")) as served, served.client() as client:
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
