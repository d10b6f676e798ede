"""The company on four engines, as everything and as Anna's copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.agent.access.company import POLICIES, build, visible, whole

Urls = tuple[str, str]
"""(the company, Anna's copy)"""


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "access.yaml"
    path.write_text(POLICIES)
    return str(path)


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def company(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Urls]:
    folder = tmp_path_factory.mktemp("company")
    if request.param in ("sqlite", "duckdb"):
        if request.param == "duckdb":
            pytest.importorskip("duckdb")
        urls = (f"{request.param}:///{folder}/company.db", f"{request.param}:///{folder}/copy.db")
        for place, statements in zip(urls, (whole(), visible("EU")), strict=True):
            build(place.replace("///", "//"), statements)
        yield urls
        return
    url: str = request.getfixturevalue(f"{request.param}_url")
    copy = urlsplit(url)._replace(path=f"{urlsplit(url).path}_copy").geturl()
    name = urlsplit(copy).path[1:]
    build(url, [f"CREATE DATABASE {name}"])
    try:
        build(url, whole())
        build(copy, visible("EU"))
        yield url, copy
    finally:
        build(url, [f"DROP DATABASE {name}{' WITH (FORCE)' if request.param == 'postgres' else ''}"])


@pytest.fixture(scope="module")
def company_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "company.sqlite"
    build(f"sqlite://{path}", whole())
    return path
