"""Answers that are kept: run anew with other values, filtered on boards, shared inside the server, taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agent.server.documents import escaped, plain_text
from agent.store.base import MOST
from agent.store.records import BoardRecord, KeptRecord
from tests.agent.server.running import ANA, BEN, Running, running, settings_for
from tests.pairs import rows

SQL = "SELECT country, COUNT(*) AS n FROM customers WHERE city <> 'Rome' GROUP BY country ORDER BY n DESC LIMIT 3"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with two clients."""
    with running(settings_for(tmp_path_factory.mktemp("boards"), TEXT2SQL_TOKENS=f"ana={ANA},ben={BEN}")) as server:
        yield server


@pytest.fixture
def ana(shared: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.url, headers={"Authorization": f"Bearer {ANA}"}, timeout=30) as client:
        yield client


@pytest.fixture
def ben(shared: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.url, headers={"Authorization": f"Bearer {BEN}"}, timeout=30) as client:
        yield client


def kept(client: httpx.Client, sql: str = SQL, *, preset: str = "shop", **more: Any) -> dict[str, Any]:
    run = client.post("/sql", json={"preset": preset, "sql": sql, "question": "Which countries lead?"}).json()
    answer = client.post("/kept", json={"run_id": run["run_id"], **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def board(client: httpx.Client, *answers: dict[str, Any], title: str = "Sales") -> dict[str, Any]:
    board_id = client.post("/boards", json={"title": title}).json()["board_id"]
    tiles = [{"kept_id": answer["kept_id"]} for answer in answers]
    return dict(client.patch(f"/boards/{board_id}", json={"tiles": tiles}).json())


def test_a_kept_answer_is_run_anew_with_other_values(ana: httpx.Client) -> None:
    answer = kept(ana, chart={"kind": "bar", "x": 0, "y": 1, "order": "largest"})
    parameters = [(p["name"], p["value"], p["kind"]) for p in answer["parameters"]]
    assert parameters == [("city", "Rome", "text"), ("limit", "3", "number")]
    assert (answer["title"], answer["chart"]["kind"]) == ("Which countries lead?", "bar")
    assert len(answer["result"]["rows"]) == 3

    again = ana.post(f"/kept/{answer['kept_id']}/refresh", json={"values": ["O'Hara", "5"]}).json()

    assert len(again["result"]["rows"]) == 5
    assert "'O''Hara'" in again["result"]["sql"]
    assert [p["value"] for p in again["parameters"]] == ["O'Hara", "5"]
    assert len(ana.post(f"/kept/{answer['kept_id']}/refresh", json={}).json()["result"]["rows"]) == 5


def test_no_value_is_refused_nor_kept_without_a_result(ana: httpx.Client) -> None:
    path = f"/kept/{kept(ana)['kept_id']}/refresh"

    for values in (["x", "5; DROP TABLE customers"], ["x"], ["x", "1e9"]):
        assert ana.post(path, json={"values": values}).status_code == 400, values
    run = ana.post("/sql", json={"preset": "shop", "sql": "DELETE FROM customers"}).json()

    assert ana.post("/kept", json={"run_id": run["run_id"]}).status_code == 409
    assert ana.post("/kept", json={"run_id": "none"}).status_code == 404


def test_a_board_is_arranged_and_forgets_what_is_no_longer_kept(ana: httpx.Client) -> None:
    first, second = kept(ana, title="First"), kept(ana, title="Second")
    made = board(ana, first, second)
    path = f"/boards/{made['board_id']}"
    tiles = [{"kept_id": second["kept_id"], "wide": True}, {"kept_id": first["kept_id"]}]

    arranged = ana.patch(path, json={"tiles": tiles, "title": " Better \n name "}).json()

    assert [answer["title"] for answer in arranged["answers"]] == ["Second", "First"]
    assert (arranged["title"], arranged["tiles"][0]["width"]) == ("Better name", 4)
    assert ana.delete(f"/kept/{second['kept_id']}").status_code == 204
    assert [answer["title"] for answer in ana.get(path).json()["answers"]] == ["First"]
    [listed] = [one for one in ana.get("/boards").json() if one["board_id"] == made["board_id"]]
    assert [tile["kept_id"] for tile in listed["tiles"]] == [first["kept_id"]]
    assert ana.delete(path).status_code == 204
    assert ana.get(path).status_code == 404


def test_a_shared_board_is_seen_with_its_link_and_only_as_long(ana: httpx.Client, ben: httpx.Client) -> None:
    answer = kept(ana)
    made = board(ana, answer)
    path, tile = f"/boards/{made['board_id']}", answer["kept_id"]
    assert ben.get(path).status_code == 404
    assert ben.post(f"/kept/{tile}/refresh", json={}).status_code == 404

    share = ana.post(f"{path}/share").json()["share"]
    seen = ben.get(f"/shared/{share}").json()
    refreshed = ben.post(f"/shared/{share}/{tile}/refresh", json={"values": ["Rome", "1"]})

    assert (seen["mine"], seen["share"], len(seen["answers"])) == (False, None, 1)
    assert len(refreshed.json()["result"]["rows"]) == 1
    assert len(ana.get(path).json()["answers"][0]["result"]["rows"]) == 3, "a viewer changed what the owner keeps"
    assert ben.patch(path, json={"title": "mine"}).status_code == 404
    assert httpx.get(str(ben.base_url.join(f"/shared/{share}"))).status_code == 401
    other = kept(ana, title="Not on the board")
    assert ben.post(f"/shared/{share}/{other['kept_id']}/refresh", json={}).status_code == 404
    assert ana.delete(f"{path}/share").status_code == 204
    assert ben.get(f"/shared/{share}").status_code == 404


def test_a_board_is_taken_away_as_a_document_without_markup_of_others(ana: httpx.Client) -> None:
    answer = kept(ana, "SELECT '<img src=x onerror=alert(1)>' AS html, COUNT(*) FROM customers", title="<b>Härte</b>")
    made = board(ana, answer, title="Größe & Zahl")

    html = ana.get(f"/boards/{made['board_id']}/export")
    text = ana.get(f"/boards/{made['board_id']}/export?format=markdown")

    assert html.headers["content-disposition"].endswith("filename*=UTF-8''gr%C3%B6%C3%9Fe-zahl.html")
    assert "<img" not in html.text
    assert text.text.count("<img") == 1, "only the statement in its fence shows it as it is"
    assert "&lt;b&gt;Härte&lt;/b&gt;" in html.text
    assert "default-src 'none'" in html.text
    assert "| html | COUNT(*) |" in text.text
    assert "480" in html.text


def test_threads_are_renamed_and_searched(ana: httpx.Client, ben: httpx.Client) -> None:
    thread = ana.post("/query", json={"question": "How many suppliers are there?"}).headers["x-thread-id"]
    ana.post("/query", json={"question": "How many products are there?"})

    assert ana.patch(f"/threads/{thread}", json={"title": "Who 100%_delivers"}).json()["title"] == "Who 100%_delivers"
    assert ben.patch(f"/threads/{thread}", json={"title": "x"}).status_code == 404
    for words in ("SUPPLIERS", "100%_", "who suppliers"):
        reply = ana.get("/threads", params={"search": words}).json()["threads"]
        assert [one["thread_id"] for one in reply] == [thread], words
    assert ana.get("/threads", params={"search": "100%%"}).json()["threads"] == []


def test_boards_and_kept_answers_of_one_owner_are_bounded(ana: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = kept(ana)
    have = {name: len(ana.get(f"/{name}").json()) for name in ("boards", "kept")}
    for kind in (BoardRecord, KeptRecord):
        monkeypatch.setitem(MOST, kind, min(have.values()))
    run_id = ana.get("/runs").json()["runs"][0]["run_id"]
    for refused in (ana.post("/kept", json={"run_id": run_id}), ana.post("/boards", json={"title": "one more"})):
        assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "too_large")
        assert "remove some first" in refused.json()["error"]["message"]
    assert ana.delete(f"/kept/{answer['kept_id']}").status_code == 204


BY_MONTH = "SELECT status, COUNT(*) AS n FROM orders GROUP BY status"
CUSTOMERS = "SELECT country, COUNT(*) AS n FROM customers GROUP BY country ORDER BY n DESC"
COUNTRIES = {"preset": "shop", "table": "customers", "column": "country"}
ON_COUNTRY = {"label": "Country", "kind": "value", "columns": [COUNTRIES]}


def refresh(client: httpx.Client, made: dict[str, Any], place: int, **body: Any) -> dict[str, Any]:
    path = f"/boards/{made['board_id']}/{made['answers'][place]['kept_id']}/refresh"
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["result"])


def test_a_filter_narrows_every_answer_that_its_keys_lead_to(ana: httpx.Client) -> None:
    made = board(ana, kept(ana, BY_MONTH), kept(ana, CUSTOMERS), kept(ana, "SELECT COUNT(*) FROM categories"))
    path = f"/boards/{made['board_id']}"
    columns = ana.get(f"{path}/columns").json()
    [country] = [c for c in columns if (c["table"], c["column"]) == ("customers", "country")]
    assert (country["kind"], country["answers"]) == ("value", 2)
    assert ana.patch(path, json={"filters": [ON_COUNTRY]}).json()["filters"][0]["value"] == []
    [first, *_] = ana.get(f"{path}/filters/0/values").json()["values"]
    name = first["value"]
    searched = ana.get(f"{path}/filters/0/values", params={"search": name[1:4].upper()}).json()["values"]
    assert name in [value["value"] for value in searched]

    orders = refresh(ana, made, 0, filters=[[name]])
    customers = refresh(ana, made, 1, filters=[[name]])
    categories = refresh(ana, made, 2, filters=[[name]])

    joined = "SELECT o.status, COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.customer_id"
    asked = {"preset": "shop", "sql": f"{joined} WHERE c.country = '{name}' GROUP BY 1"}
    of_country = ana.post("/sql", json=asked).json()
    assert sorted(map(str, orders["rows"])) == sorted(map(str, of_country["rows"]))
    assert customers["rows"] == [[name, first["count"]]]
    assert (orders["filtered"], customers["filtered"], categories["filtered"]) == ([True], [True], [False])
    kept_rows = ana.get(path).json()["answers"][1]["result"]["rows"]
    assert len(kept_rows) > 1, "rows under a filter are not those that are kept"


def test_what_its_owner_left_stands_for_readers_and_in_documents(ana: httpx.Client) -> None:
    made = board(ana, kept(ana, CUSTOMERS, title="By country"))
    path = f"/boards/{made['board_id']}"
    ana.patch(path, json={"filters": [{**ON_COUNTRY, "value": ["Italy", None]}]})
    share = ana.post(f"{path}/share").json()["share"]
    tile = made["answers"][0]["kept_id"]

    by_owner = ana.post(f"/shared/{share}/{tile}/refresh", json={}).json()["result"]
    by_reader = ana.post(f"/shared/{share}/{tile}/refresh", json={"filters": [["Spain"]]}).json()["result"]
    unset = ana.post(f"/shared/{share}/{tile}/refresh", json={"filters": [[]]}).json()["result"]
    text = ana.get(f"{path}/export?format=markdown").text

    assert [row[0] for row in by_owner["rows"]] == ["Italy"]
    assert [row[0] for row in by_reader["rows"]] == ["Spain"]
    assert len(unset["rows"]) > 2
    assert "Italy" in text
    assert "Spain" not in text
    found = ana.get(f"/shared/{share}/filters/0/values", params={"search": "spa"}).json()["values"]
    assert found[0]["value"] == "Spain"
    assert ana.post(f"/shared/{share}/{tile}/refresh", json={"filters": []}).status_code == 400
    assert ana.get(f"/shared/{share}/filters/3/values").status_code == 404


def test_a_period_in_words_moves_with_the_day(ana: httpx.Client) -> None:
    made = board(ana, kept(ana, BY_MONTH))
    dates = {"preset": "shop", "table": "orders", "column": "order_date"}
    on_date = {"label": "When", "kind": "date", "columns": [dates]}
    ana.patch(f"/boards/{made['board_id']}", json={"filters": [on_date]})

    year = refresh(ana, made, 0, filters=[["2024"]])
    path = f"/boards/{made['board_id']}/{made['answers'][0]['kept_id']}/refresh"
    wrong = ana.post(path, json={"filters": [["one fine day"]]})

    assert "'2024-01-01'" in year["sql"]
    assert "'2025-01-01'" in year["sql"]
    assert wrong.status_code == 400
    assert "no period" in wrong.text


def test_a_board_holds_texts_and_sizes_and_forgets_empty_tiles(ana: httpx.Client) -> None:
    made = board(ana, kept(ana))
    tile = {"kept_id": made["answers"][0]["kept_id"], "width": 3, "height": 4}

    texts = [{"text": "# What this is", "width": 4}, tile, {"text": "  "}, {"text": "Twice"}, {"text": "Twice"}]
    changed = ana.patch(f"/boards/{made['board_id']}", json={"tiles": texts}).json()

    assert [(t["text"], t["width"], t["height"]) for t in changed["tiles"]] == [
        ("# What this is", 4, 0), ("", 3, 4), ("Twice", 2, 0), ("Twice", 2, 0)]  # fmt: skip
    assert len(changed["answers"]) == 1
    text = ana.get(f"/boards/{made['board_id']}/export?format=markdown").text
    assert "A board of 1 kept answer\n\n## What this is\n\n## Which countries lead?" in text
    bad = ana.patch(f"/boards/{made['board_id']}", json={"tiles": [{"text": "x", "width": 9}]})
    assert bad.status_code == 422


def test_a_kept_answer_takes_another_statement_only_where_it_runs(ana: httpx.Client) -> None:
    answer = kept(ana)
    path = f"/kept/{answer['kept_id']}"

    changed = ana.patch(path, json={"sql": "SELECT COUNT(*) FROM orders WHERE status = 'shipped'"}).json()
    refused = ana.patch(path, json={"sql": "DELETE FROM orders"})
    broken = ana.patch(path, json={"sql": "SELECT nothing FROM nowhere"})

    assert [p["name"] for p in changed["parameters"]] == ["status"]
    assert changed["result"]["rows_returned"] == 1
    assert (refused.status_code, broken.status_code) == (400, 400)
    assert ana.get(path).json()["sql"] == changed["sql"]


@pytest.mark.parametrize(("text", "written"), rows("server/documents_escaped.jsonl"))
def test_a_sign_is_escaped_only_where_it_would_be_markup(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize(("markdown", "text"), rows("server/documents_copied.jsonl"))
def test_an_answer_is_copied_in_words(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


def test_a_link_that_ends_in_the_next_line_is_no_link() -> None:
    assert escaped("[click") + "\n" + escaped("here](//example.org)") == "\\[click\nhere](//example.org)"
