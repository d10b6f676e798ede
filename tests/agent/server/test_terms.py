"""Words that are taught where one stands: later questions use them, and they can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.server.running import Running, running, settings_for
from tests.writing import sqlite_file

TUBS = "how many tubs are there"
ASKED = [
    (TUBS, "tubs", "vessels", [[3]]),
    ("average heft of the vessels", "heft", "vessels.grt", [[20.0]]),
    ("how many dinghies are there", "dinghies", "vessels.grt < 15", [[1]]),
]


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Running]:
    path = sqlite_file(
        tmp_path / "harbour.sqlite",
        "CREATE TABLE vessels (id INTEGER PRIMARY KEY, name TEXT, grt REAL);"
        "INSERT INTO vessels VALUES (1, 'Ada', 10), (2, 'Bo', 20), (3, 'Cy', 30);"
        "CREATE TABLE berths (id INTEGER PRIMARY KEY, vessel_id INTEGER REFERENCES vessels(id));",
    )
    with running(settings_for(tmp_path, TEXT2SQL_DB_PATH=path)) as server:
        yield server


def preset(server: Running) -> str:
    return str(next(p["id"] for p in server.get("/presets").json() if p["default"]))


@pytest.mark.parametrize(("question", "term", "means", "rows"), ASKED)
def test_a_taught_word_is_understood_until_it_is_forgotten(
    harbour: Running, question: str, term: str, means: str, rows: list[list[object]]
) -> None:
    of = preset(harbour)

    def answered() -> list[list[object]]:
        (answer,) = harbour.ask(question, preset=of).of("answer")
        return list(answer["rows"]) if answer["status"] == "success" else []

    assert answered() == []
    taught = harbour.post("/terms", {"preset": of, "term": term, "means": means})
    assert taught.status_code == 201, taught.text
    assert answered() == rows
    assert [(t["term"], t["means"]) for t in harbour.get(f"/terms?preset={of}").json()] == [(term, means)]

    with harbour.client() as client:
        assert client.delete(f"/terms/{taught.json()['term_id']}").status_code == 204
        assert client.delete(f"/terms/{taught.json()['term_id']}").status_code == 404
    assert answered() == []


def test_a_term_is_taught_anew_in_place_of_what_it_meant(harbour: Running) -> None:
    of = preset(harbour)
    for means in ("berths", "vessels"):
        harbour.post("/terms", {"preset": of, "term": "Tubs", "means": means})
    assert [t["means"] for t in harbour.get(f"/terms?preset={of}").json()] == ["vessels"]


@pytest.mark.parametrize("means", ["boats", "vessels.weight", "vessels.grt <", "1 = 1", "vessels.grt); DROP TABLE x"])
def test_what_fits_nothing_is_refused_with_the_reason(harbour: Running, means: str) -> None:
    refused = harbour.post("/terms", {"preset": preset(harbour), "term": "tub", "means": means})
    assert refused.status_code == 409
    assert means in refused.json()["error"]["message"]
    assert refused.json()["error"]["kind"] == "bad_request"
    assert harbour.post("/terms", {"preset": preset(harbour), "term": "?", "means": "vessels"}).status_code == 409
    assert harbour.post("/terms", {"preset": "none", "term": "tub", "means": "vessels"}).status_code == 404
