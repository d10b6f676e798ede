"""The company on every engine, as everything and as Anna's copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.agent.access.company import POLICIES, build, visible, whole
from tests.optional import needs_chdb, needs_sail, needs_spark

Urls = tuple[str, str]
"""(the company, Anna's copy)"""


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "access.yaml"
    path.write_text(POLICIES)
    return str(path)


ENGINES = [
    *("sqlite", "duckdb", "postgres", "mysql"),
    pytest.param("clickhouse", marks=needs_chdb),
    pytest.param("sail", marks=needs_sail),
    pytest.param("spark", marks=[needs_spark, pytest.mark.slow]),
]


@pytest.fixture(scope="module", params=ENGINES)
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
    if request.param in ("sail", "spark"):
        from tests.spark_servers import scratch_database

        server = "/".join(url.split("/")[:3])
        with scratch_database(server) as copy:
            build(url, whole())
            build(copy, visible("EU"))
            yield url, copy
        return
    copy, name = f"{url}_copy", f"{url.rpartition('=')[2]}_copy"
    if request.param != "clickhouse":
        copy = urlsplit(url)._replace(path=f"{urlsplit(url).path}_copy").geturl()
        name = urlsplit(copy).path[1:]
    build(url, [f"CREATE DATABASE {name}"])
    try:
        build(url, whole())
        build(copy, visible("EU"))
        yield url, copy
    finally:
        how = {"postgres": " WITH (FORCE)", "clickhouse": " SYNC"}.get(request.param, "")
        build(url, [f"DROP DATABASE {name}{how}"])


@pytest.fixture(scope="module")
def company_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "company.sqlite"
    build(f"sqlite://{path}", whole())
    return path
