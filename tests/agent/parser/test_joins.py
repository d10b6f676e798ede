"""Join planning: the shortest way over keys, bridges, unreachable tables, and which joins repeat rows."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from agent.knowledge.vocabulary import vocabulary
from agent.parser import read
from agent.parser.joins import JoinGraph
from eval.schema import Column, ForeignKey, Schema, Table
from tests.clock import unit


def _table(name: str, *columns: str, refers: tuple[str, ...] = ()) -> Table:
    return Table(
        name,
        (Column("id", "INTEGER", primary_key=True), *(Column(c, "TEXT") for c in columns)),
        primary_key=("id",),
        foreign_keys=tuple(ForeignKey((f"{t}_id",), t, ("id",)) for t in refers),
        row_count=1,
    )


SCHEMA = Schema(
    "sqlite",
    (
        _table("film", "title"),
        _table("actor", "name"),
        _table("casting", "film_id", "actor_id", refers=("film", "actor")),
        _table("weather", "sky"),
    ),
)
GRAPH = JoinGraph(vocabulary(SCHEMA))


def test_knows_which_rows_a_join_repeats() -> None:
    over_bridge, to_parent = GRAPH.plan(["actor", "film"]), GRAPH.plan(["casting", "film"])
    assert over_bridge is not None
    assert over_bridge.multiplies("actor")
    assert to_parent is not None
    assert not to_parent.multiplies("casting")


def test_goes_over_real_links_rather_than_over_a_shared_parent() -> None:
    schema = Schema(
        "sqlite",
        (
            _table("tenant", "name"),
            _table("product", "title", refers=("tenant",)),
            _table("sale", "total", refers=("tenant", "product")),
            _table("refund", "reason", refers=("tenant", "sale")),
            _table("newsletter", "subject", refers=("tenant",)),
        ),
    )
    graph = JoinGraph(vocabulary(schema))
    plan = graph.plan(["product", "refund"])
    assert plan is not None
    assert plan.tables == ("product", "sale", "refund")
    assert plan.fan_outs() == frozenset()
    shared = graph.plan(["product", "newsletter"])
    assert shared is not None
    assert shared.fan_outs() == {"tenant"}
    assert read("How many newsletters per product title?", schema).abstained


def test_a_table_without_keys_cannot_be_reached() -> None:
    assert GRAPH.plan(["film", "weather"]) is None
    reading = read("How many actors per weather sky?", SCHEMA)
    assert reading.abstained
    assert "no foreign keys tie together" in reading.interpretation


def test_many_threads_may_read_at_once() -> None:
    schemas = [Schema("sqlite", (_table(f"thing{k}", "label"),)) for k in range(60)]
    with ThreadPoolExecutor(8) as threads:
        statements = list(threads.map(lambda k: read(f"How many thing{k}?", schemas[k], threshold=0.0).sql, range(60)))
    assert statements == [f"SELECT COUNT(*) AS things FROM thing{k}" for k in range(60)]


def test_a_table_to_which_two_thousand_refer_is_joined_quickly() -> None:
    tables = [_table(f"part_{i}", "hub_id", refers=("hub",)) for i in range(2_000)]
    graph = JoinGraph(vocabulary(Schema("sqlite", (_table("hub", "name"), *tables))))
    begun = time.process_time()
    plan = graph.plan(["part_7", "part_1234"])

    assert time.process_time() - begun < 20 * unit()
    assert plan is not None
    assert plan.tables == ("part_7", "hub", "part_1234")
    assert len(graph.between("hub", "part_7")) == len(graph.between("part_7", "hub")) == 1
