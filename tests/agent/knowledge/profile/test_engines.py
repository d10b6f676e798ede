"""The same shop in four engines: the same profile, by each engine's own means, with the comments of its schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

import pytest

from agent.knowledge.profile import Profile, compute_profile, sections
from eval.databases import open_database
from eval.tasks import demo_named, demo_path

SERVERS = ["postgres_url", "mysql_url", "duckdb_url"]


@pytest.fixture(scope="module")
def duckdb_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("duckdb")
    return f"duckdb:///{tmp_path_factory.mktemp('demo') / 'shop.duckdb'}"


@pytest.fixture(scope="module")
def loaded(request: pytest.FixtureRequest) -> Callable[[str], str]:
    done: dict[str, str] = {}

    def load(fixture: str) -> str:
        if fixture not in done:
            done[fixture] = request.getfixturevalue(fixture)
            demo_named("shop").build(done[fixture])
        return done[fixture]

    return load


@pytest.fixture(scope="module")
def expected() -> Iterator[Profile]:
    with open_database(str(demo_path("shop"))) as database:
        yield compute_profile(database, database.schema())


@pytest.mark.parametrize("engine", SERVERS)
def test_the_facts_are_alike_everywhere(engine: str, loaded: Callable[[str], str], expected: Profile) -> None:
    with open_database(loaded(engine)) as database:
        profile = compute_profile(database, database.schema())
        text_sections = sections(database.schema(), profile)

    assert len(text_sections) == 10
    assert all(t.looked_at for t in profile.tables)
    here = {(c.table, c.column): (c.nulls, c.distinct, c.samples and len(c.values)) for c in profile.columns}
    whole = {t.name for t in expected.tables if not t.sampled} & {t.name for t in profile.tables if not t.sampled}
    there = {(c.table, c.column): (c.nulls, c.distinct, c.samples and len(c.values)) for c in expected.columns}
    assert len(whole) >= 6
    assert {k: v for k, v in here.items() if k[0] in whole} == {k: v for k, v in there.items() if k[0] in whole}
    status = next(c for c in profile.columns if (c.table, c.column) == ("orders", "status"))
    assert sum(v.rows for v in status.values) == 3600
    assert {(k.table, k.columns, k.ref_table, k.orphans) for k in profile.keys} == {
        (k.table, k.columns, k.ref_table, k.orphans) for k in expected.keys
    }


@pytest.mark.parametrize("engine", SERVERS)
def test_a_large_table_is_sampled_by_the_engines_own_means(engine: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(engine)
    _write(engine, url, [
        "CREATE TABLE digit (d INT)",
        "INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)",
        "CREATE TABLE big (id INT PRIMARY KEY, part VARCHAR(10))",
        "INSERT INTO big SELECT a.d + 10*b.d + 100*c.d + 1000*e.d + 10000*f.d, CASE WHEN f.d < 5 THEN 'low' ELSE 'high'"
        " END FROM digit a, digit b, digit c, digit e, digit f",
        *(["ANALYZE big"] if engine == "postgres_url" else ["ANALYZE TABLE big"] if engine == "mysql_url" else []),
    ])  # fmt: skip
    with open_database(url) as database:
        profile = compute_profile(database, database.schema(ttl=0))
    big = next(t for t in profile.tables if t.name == "big")
    part = next(c for c in profile.columns if (c.table, c.column) == ("big", "part"))

    assert big.how == ("ranges of rows" if engine == "mysql_url" else "the engine's sample")
    assert 1_000 < big.looked_at <= 10_000
    assert {v.value for v in part.values} == {"low", "high"}
    assert next(c for c in profile.columns if (c.table, c.column) == ("big", "id")).high == "99999"


@pytest.mark.parametrize("engine", SERVERS)
def test_the_schemas_comments_are_told(engine: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(engine)
    if engine == "mysql_url":
        script = ["CREATE TABLE noted (code INT COMMENT 'as printed on the label') COMMENT='what we sell'"]
    else:
        script = [
            "CREATE TABLE noted (code INT)",
            "COMMENT ON COLUMN noted.code IS 'as printed on the label'",
            "COMMENT ON TABLE noted IS 'what we sell'",
        ]
    _write(engine, url, script)
    with open_database(url) as database:
        schema = database.schema(ttl=0)
        by_name = {s.name: s for s in sections(schema, compute_profile(database, schema))}

    assert any(line.startswith("noted:") and line.endswith("-- what we sell") for line in by_name["tables"].lines)
    assert any(
        line.startswith("noted.code") and line.endswith("-- as printed on the label")
        for line in by_name["columns"].lines
    )


def _write(engine: str, url: str, statements: list[str]) -> None:
    parts = urlsplit(url)
    if engine == "postgres_url":
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)
    elif engine == "mysql_url":
        import pymysql

        connected = pymysql.connect(
            host=parts.hostname, port=parts.port or 3306, user=unquote(parts.username or ""),
            password=unquote(parts.password or ""), database=parts.path[1:], autocommit=True,
        )  # fmt: skip
        with connected, connected.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    else:
        import duckdb

        with duckdb.connect(parts.path[1:] if parts.netloc else url.removeprefix("duckdb:///")) as connection:
            for statement in statements:
                connection.execute(statement)
