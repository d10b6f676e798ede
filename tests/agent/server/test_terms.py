"""Words that are taught where one stands: later questions use them, and they can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.agent.server.running import Running, running, settings_for
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

ASKED = [
    ("how many tubs are there", "tubs", "vessels", [[3]]),
    ("average heft of the vessels", "heft", "vessels.grt", [[20.0]]),
    ("how many dinghies are there", "dinghies", "vessels.grt < 15", [[1]]),
]


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Running]:
    path = sqlite_file(tmp_path / "harbour.sqlite", (FIXTURES / "server/harbour.sql").read_text(encoding="utf-8"))
    with running(settings_for(tmp_path, TEXT2SQL_DB_PATH=path)) as server:
        yield server


def preset(server: Running) -> str:
    return str(next(p["id"] for p in server.get("/presets").json() if p["default"]))


def test_a_taught_word_is_understood_until_it_is_forgotten(harbour: Running) -> None:
    of = preset(harbour)

    def answered(question: str) -> list[list[object]]:
        (answer,) = harbour.ask(question, preset=of).of("answer")
        return list(answer["rows"]) if answer["status"] == "success" else []

    for question, term, means, rows in ASKED:
        assert answered(question) == []
        taught = harbour.post("/terms", {"preset": of, "term": term, "means": means})
        assert taught.status_code == 201, taught.text
        assert answered(question) == rows
        assert [(t["term"], t["means"]) for t in harbour.get(f"/terms?preset={of}").json()] == [(term, means)]

        with harbour.client() as client:
            assert client.delete(f"/terms/{taught.json()['term_id']}").status_code == 204
            assert client.delete(f"/terms/{taught.json()['term_id']}").status_code == 404
        assert answered(question) == []


def test_a_term_is_taught_anew_and_tried_without_being_kept(harbour: Running) -> None:
    of = preset(harbour)
    asked = {"preset": of, "kind": "hidden", "term": "vessels", "means": "vessels.grt < 15"}
    tried = harbour.post("/terms/try", asked)
    assert tried.json() == {
        "told": "Rows of vessels where grt is under 15 count only where a question asks for them.",
        "tried": "It holds for 1 of 3 rows.",
        "sql": tried.json()["sql"],
    }
    assert harbour.post("/sql", {"preset": of, "sql": tried.json()["sql"]}).json()["rows"] == [[1, 3]]
    refused = harbour.post("/terms/try", {**asked, "means": "berths.id = 1"})
    assert refused.status_code == 409
    assert "no condition on vessels" in refused.json()["error"]["message"]
    assert harbour.post("/terms/try", {**asked, "kind": "rumour"}).status_code == 422
    assert harbour.get(f"/terms?preset={of}&history=true").json() == []

    for means in ("berths", "vessels"):
        harbour.post("/terms", {"preset": of, "term": "Tubs", "means": means})
    assert [t["means"] for t in harbour.get(f"/terms?preset={of}").json()] == ["vessels"]


def test_a_word_may_mean_what_is_like_it_and_what_fits_nothing_is_refused(harbour: Running) -> None:
    likely = f"/terms/likely?preset={preset(harbour)}"
    firsts = {"vesel": "vessels", "ships": "vessels", "Ada": "vessels.name = 'Ada'", "tonnage": None}
    for word, first in {**firsts, "taken": "berths.taken_on"}.items():
        found = harbour.get(f"{likely}&word={word}").json()
        assert len(found) <= 6
        assert (found[0]["means"] if found else None) == first
        of_question = harbour.get(f"{likely}&word={word}&question={word} of vessels").json()
        assert "vessels" in [one["means"] for one in of_question]
    of = preset(harbour)
    for means in ("boats", "vessels.weight", "vessels.grt <", "1 = 1", "vessels.grt); DROP TABLE x"):
        refused = harbour.post("/terms", {"preset": of, "term": "tub", "means": means})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "bad_request")
        assert means in refused.json()["error"]["message"]
    assert harbour.post("/terms", {"preset": of, "term": "?", "means": "vessels"}).status_code == 409
    assert harbour.post("/terms", {"preset": "none", "term": "tub", "means": "vessels"}).status_code == 404


def test_what_was_taught_is_exported_as_a_model(harbour: Running) -> None:
    of = preset(harbour)
    harbour.post("/terms", {"preset": of, "kind": "date", "term": "berths", "means": "berths.left_on"})
    harbour.post("/terms", {"preset": of, "kind": "measure", "term": "bulk", "means": "SUM(vessels.grt)"})
    reply = harbour.get(f"/terms/export?preset={of}")
    assert reply.headers["content-type"].startswith("text/yaml")
    assert "attachment" in reply.headers["content-disposition"]
    (model,) = yaml.safe_load(reply.text)["semantic_model"]
    assert [m["name"] for m in model["metrics"]] == ["bulk"]
    assert {d["name"]: d.get("custom_extensions") for d in model["datasets"]} == {
        "berths": [{"vendor_name": "TEXT2SQL", "data": '{"date": "left_on"}'}],
        "vessels": None,
    }


def test_a_correction_is_learned_told_and_undone(harbour: Running) -> None:
    of = preset(harbour)
    question = "how many berths in May 2024"

    def count() -> tuple[list[list[object]], str]:
        (answer,) = harbour.ask(question, preset=of).of("answer")
        run_id = harbour.get("/runs?limit=1").json()["runs"][0]["run_id"]
        return answer["rows"], run_id

    rows, run_id = count()
    assert rows == [[1]]
    sql = "SELECT COUNT(*) AS berths FROM berths WHERE left_on >= '2024-05-01' AND left_on < '2024-06-01'"
    reply = harbour.post("/feedback", {"run_id": run_id, "verdict": "corrected", "sql": sql}).json()
    (term,) = reply["learned"]
    assert (term["kind"], term["term"], term["means"], term["run_id"]) == ("date", "berths", "berths.left_on", run_id)
    assert term["told"] == "A period without a date’s name is about berths.left_on, for berths."
    june = harbour.ask("how many berths were there in June 2024", preset=of).of("answer")[0]
    assert june["rows"] == [[1]]
    with harbour.client() as client:
        client.delete(f"/terms/{term['term_id']}")
    assert harbour.ask("how many berths were there in June 2024", preset=of).of("answer")[0]["rows"] == [[0]]
    assert harbour.post("/feedback", {"run_id": run_id, "verdict": "right"}).json()["learned"] == []
