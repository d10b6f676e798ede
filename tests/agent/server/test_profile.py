"""`GET /schema/{preset_id}/profile`: the profile of a database over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.server.running import Running, running, settings_for


def test_a_budget_shortens_the_text_and_a_profile_of_nothing_is_not_found(server: Running) -> None:
    reply = server.get("/schema/shop/profile?budget=900").json()

    assert reply["tokens"] <= 900
    assert any(s["left_out"] for s in reply["sections"])
    assert server.get("/schema/shop/profile?budget=-1").status_code == 422

    answer = server.get("/schema/nothing/profile")

    assert answer.status_code == 404
    assert answer.json()["error"]["kind"] == "not_found"


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


def test_a_schema_comes_by_the_page(server: Running) -> None:
    whole = server.get("/schema/shop").json()
    pages = [server.get(f"/schema/shop?offset={n}&limit=2").json() for n in range(0, whole["total"] + 2, 2)]

    assert [table for page in pages for table in page["tables"]] == whole["tables"]
    assert len(whole["tables"]) == whole["total"]
    assert pages[-1]["tables"] == []
