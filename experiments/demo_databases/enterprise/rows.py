"""The rows of `enterprise`, drawn from a fixed seed: dimensions first, then trade, then the related facts."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.demo_databases.definition import Row, TableDef
from experiments.demo_databases.enterprise.dimensions import build_world
from experiments.demo_databases.enterprise.engagement import customer_engagement
from experiments.demo_databases.enterprise.orders import place_orders
from experiments.demo_databases.enterprise.stock import inventory, order_feed
from experiments.demo_databases.enterprise.tables import TABLES
from experiments.demo_databases.rng import Rng

_SEED = 19


def rows() -> Iterator[tuple[TableDef, list[Row]]]:
    """Each table with its rows, ordered so that the target of every foreign key comes first."""
    rng = Rng(_SEED)
    world = build_world(rng)
    book = place_orders(rng, world)
    filled = world.rows | book.rows
    filled["fact_inventory"] = inventory(rng, world, book)
    filled["stg_order_feed"] = order_feed(rng, world, book)
    filled |= customer_engagement(rng, world, book)
    for table in TABLES:
        yield table, filled.pop(table.name)
