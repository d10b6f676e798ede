"""A board's filters and its other tiles: bound to every answer that reads what they are about, told where not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.agent.server.running import Running
from tests.agent.server.test_boards import board, kept

BY_MONTH = "SELECT status, COUNT(*) AS n FROM orders GROUP BY status"
CUSTOMERS = "SELECT country, COUNT(*) AS n FROM customers GROUP BY country ORDER BY n DESC"
COUNTRIES = {"preset": "shop", "table": "customers", "column": "country"}
ON_COUNTRY = {"label": "Country", "kind": "value", "columns": [COUNTRIES]}


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def refresh(client: httpx.Client, made: dict[str, Any], place: int, **body: Any) -> dict[str, Any]:
    path = f"/boards/{made['board_id']}/{made['answers'][place]['kept_id']}/refresh"
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["result"])


def test_a_filter_narrows_every_answer_that_its_keys_lead_to(client: httpx.Client) -> None:
    made = board(
        client, kept(client, BY_MONTH), kept(client, CUSTOMERS), kept(client, "SELECT COUNT(*) FROM categories")
    )
    path = f"/boards/{made['board_id']}"
    columns = client.get(f"{path}/columns").json()
    [country] = [c for c in columns if (c["table"], c["column"]) == ("customers", "country")]
    assert (country["kind"], country["answers"]) == ("value", 2)
    assert client.patch(path, json={"filters": [ON_COUNTRY]}).json()["filters"][0]["value"] == []
    [first, *_] = client.get(f"{path}/filters/0/values").json()["values"]
    name = first["value"]
    searched = client.get(f"{path}/filters/0/values", params={"search": name[1:4].upper()}).json()["values"]
    assert name in [value["value"] for value in searched]

    orders = refresh(client, made, 0, filters=[[name]])
    customers = refresh(client, made, 1, filters=[[name]])
    categories = refresh(client, made, 2, filters=[[name]])

    joined = "SELECT o.status, COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.customer_id"
    asked = {"preset": "shop", "sql": f"{joined} WHERE c.country = '{name}' GROUP BY 1"}
    of_country = client.post("/sql", json=asked).json()
    assert sorted(map(str, orders["rows"])) == sorted(map(str, of_country["rows"]))
    assert customers["rows"] == [[name, first["count"]]]
    assert (orders["filtered"], customers["filtered"], categories["filtered"]) == ([True], [True], [False])
    kept_rows = client.get(path).json()["answers"][1]["result"]["rows"]
    assert len(kept_rows) > 1, "rows under a filter are not those that are kept"


def test_what_its_owner_left_stands_for_readers_and_in_documents(client: httpx.Client) -> None:
    made = board(client, kept(client, CUSTOMERS, title="By country"))
    path = f"/boards/{made['board_id']}"
    client.patch(path, json={"filters": [{**ON_COUNTRY, "value": ["Italy", None]}]})
    share = client.post(f"{path}/share").json()["share"]
    tile = made["answers"][0]["kept_id"]

    by_owner = client.post(f"/shared/{share}/{tile}/refresh", json={}).json()["result"]
    by_reader = client.post(f"/shared/{share}/{tile}/refresh", json={"filters": [["Spain"]]}).json()["result"]
    unset = client.post(f"/shared/{share}/{tile}/refresh", json={"filters": [[]]}).json()["result"]
    text = client.get(f"{path}/export?format=markdown").text

    assert [row[0] for row in by_owner["rows"]] == ["Italy"]
    assert [row[0] for row in by_reader["rows"]] == ["Spain"]
    assert len(unset["rows"]) > 2
    assert "Italy" in text
    assert "Spain" not in text
    found = client.get(f"/shared/{share}/filters/0/values", params={"search": "spa"}).json()["values"]
    assert found[0]["value"] == "Spain"
    assert client.post(f"/shared/{share}/{tile}/refresh", json={"filters": []}).status_code == 400
    assert client.get(f"/shared/{share}/filters/3/values").status_code == 404


def test_a_period_in_words_moves_with_the_day(client: httpx.Client) -> None:
    made = board(client, kept(client, BY_MONTH))
    dates = {"preset": "shop", "table": "orders", "column": "order_date"}
    on_date = {"label": "When", "kind": "date", "columns": [dates]}
    client.patch(f"/boards/{made['board_id']}", json={"filters": [on_date]})

    year = refresh(client, made, 0, filters=[["2024"]])
    path = f"/boards/{made['board_id']}/{made['answers'][0]['kept_id']}/refresh"
    wrong = client.post(path, json={"filters": [["one fine day"]]})

    assert "'2024-01-01'" in year["sql"]
    assert "'2025-01-01'" in year["sql"]
    assert wrong.status_code == 400
    assert "no period" in wrong.text


def test_a_board_holds_texts_and_sizes_and_forgets_empty_tiles(client: httpx.Client) -> None:
    made = board(client, kept(client))
    tile = {"kept_id": made["answers"][0]["kept_id"], "width": 3, "height": 4}

    texts = [{"text": "# What this is", "width": 4}, tile, {"text": "  "}, {"text": "Twice"}, {"text": "Twice"}]
    changed = client.patch(f"/boards/{made['board_id']}", json={"tiles": texts}).json()

    assert [(t["text"], t["width"], t["height"]) for t in changed["tiles"]] == [
        ("# What this is", 4, 0), ("", 3, 4), ("Twice", 2, 0), ("Twice", 2, 0)]  # fmt: skip
    assert len(changed["answers"]) == 1
    text = client.get(f"/boards/{made['board_id']}/export?format=markdown").text
    assert "A board of 1 kept answer\n\n## What this is\n\n## Which countries lead?" in text
    bad = client.patch(f"/boards/{made['board_id']}", json={"tiles": [{"text": "x", "width": 9}]})
    assert bad.status_code == 422


def test_a_kept_answer_takes_another_statement_only_where_it_runs(client: httpx.Client) -> None:
    answer = kept(client)
    path = f"/kept/{answer['kept_id']}"

    changed = client.patch(path, json={"sql": "SELECT COUNT(*) FROM orders WHERE status = 'shipped'"}).json()
    refused = client.patch(path, json={"sql": "DELETE FROM orders"})
    broken = client.patch(path, json={"sql": "SELECT nothing FROM nowhere"})

    assert [p["name"] for p in changed["parameters"]] == ["status"]
    assert changed["result"]["rows_returned"] == 1
    assert (refused.status_code, broken.status_code) == (400, 400)
    assert client.get(path).json()["sql"] == changed["sql"]
