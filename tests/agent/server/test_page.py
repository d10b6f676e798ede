"""The built page is served; nothing else on the disk is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.agent.server.running import Running, read_until, running, settings_for
from tests.pairs import sections

Built = tuple[Running, Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    folder = tmp_path_factory.mktemp("page")
    page = folder / "dist"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>the page</title>")
    (page / "favicon.svg").write_text("<svg/>")
    (page / "assets" / "app-1a2b.js").write_text("export {}")
    (folder / "secret.txt").write_text("secret")
    (page / "assets" / "link.txt").symlink_to(folder / "secret.txt")
    with running(settings_for(folder, TEXT2SQL_PAGE_DIR=page)) as server:
        yield server, page


def test_the_pages_own_routes_are_the_one_index(built: Built) -> None:
    for path in sections("server/requests.txt")["paths of the page"][0]:
        answer = built[0].get(path)
        assert "the page" in answer.text, path
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-cache"


def test_hashed_files_are_cached_for_a_year_and_others_asked_for_anew(built: Built) -> None:
    asset, icon = built[0].get("/assets/app-1a2b.js"), built[0].get("/favicon.svg")

    assert asset.headers["content-type"].startswith("text/javascript")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert icon.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", sections("server/requests.txt")["paths that lead out of the folder"][0])
def test_no_path_leads_out_of_the_folder(built: Built, path: str) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", built[0].port), timeout=10) as connection:  # clients tidy paths up
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{built[0].port}\r\nConnection: close\r\n\r\n".encode()
        )
        text = read_until(connection, b"nothing that would be there")

    assert b"secret\n" not in text
    assert b"root:" not in text
    assert b" 404 " in text.split(b"\r\n")[0]


def test_an_unknown_path_is_an_error_of_the_api_and_the_page_in_a_browser(built: Built) -> None:
    assert built[0].get("/nothing").json()["error"]["kind"] == "not_found"
    assert httpx.post(f"{built[0].url}/nothing").status_code == 404

    answer = built[0].get("/nothing", headers={"Accept": "text/html,*/*"})

    assert answer.status_code == 404
    assert "the page" in answer.text


def test_without_a_build_a_plain_page_says_how_to_make_one(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_PAGE_DIR=tmp_path / "none")) as server:
        text = server.get("/").text

    assert "make page" in text
    assert "/openapi.json" in text
