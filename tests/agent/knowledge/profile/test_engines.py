"""The same shop in four engines: the same profile, by each engine's own means, with the comments of its schema."""

from __future__ import annotations

import pytest

from agent.knowledge.profile import compute_profile, sections
from eval.databases import open_database
from tests.writing import write

SERVERS = ["postgres_url", "mysql_url", "duckdb_url"]


@pytest.fixture(scope="module")
def duckdb_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("duckdb")
    return f"duckdb:///{tmp_path_factory.mktemp('demo') / 'shop.duckdb'}"


@pytest.mark.parametrize("engine", SERVERS)
def test_a_large_table_is_sampled_by_the_engines_own_means_and_comments_are_told(
    engine: str, request: pytest.FixtureRequest
) -> None:
    url, mysql = request.getfixturevalue(engine), engine == "mysql_url"
    script = [
        "CREATE TABLE digit (d INT)",
        "INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)",
        "CREATE TABLE big (id INT PRIMARY KEY, part VARCHAR(10))",
        "INSERT INTO big SELECT a.d + 10*b.d + 100*c.d + 1000*e.d + 10000*f.d, CASE WHEN f.d < 5 THEN 'low' ELSE 'high'"
        " END FROM digit a, digit b, digit c, digit e, digit f",
    ]
    if mysql:
        script += ["CREATE TABLE noted (code INT COMMENT 'as printed on the label') COMMENT='what we sell'"]
    else:
        script += ["CREATE TABLE noted (code INT)", "COMMENT ON TABLE noted IS 'what we sell'"]
        script += ["COMMENT ON COLUMN noted.code IS 'as printed on the label'"]
    script += ["INSERT INTO noted VALUES (1)"]
    if engine != "duckdb_url":
        script += ["ANALYZE TABLE big" if mysql else "ANALYZE big"]
    write(url, *script)
    with open_database(url) as database:
        schema = database.schema(ttl=0)
        profile = compute_profile(database, schema)
    big = next(t for t in profile.tables if t.name == "big")
    part = next(c for c in profile.columns if (c.table, c.column) == ("big", "part"))
    lines = {s.name: s.lines for s in sections(schema, profile)}

    assert big.how == ("ranges of rows" if mysql else "the engine's sample")
    assert 1_000 < big.looked_at <= 10_000
    assert {v.value for v in part.values} == {"low", "high"}
    assert next(c for c in profile.columns if (c.table, c.column) == ("big", "id")).high == "99999"
    assert [line for line in lines["tables"] if line.startswith("noted:") and line.endswith("-- what we sell")]
    assert [
        line
        for line in lines["columns"]
        if line.startswith("noted.code") and line.endswith("-- as printed on the label")
    ]
