"""The rows of `enterprise`, drawn from a fixed seed: dimensions first, then trade, then what surrounds it."""

from __future__ import annotations

from collections.abc import Iterator

from eval.tasks.definition import Row, TableDef
from eval.tasks.dice import Dice
from eval.tasks.enterprise.attention import attention
from eval.tasks.enterprise.dimensions import build_world
from eval.tasks.enterprise.stock import inventory, order_feed
from eval.tasks.enterprise.tables import TABLES
from eval.tasks.enterprise.trade import trade

_SEED = 19


def rows() -> Iterator[tuple[TableDef, list[Row]]]:
    """Each table with its rows, in an order in which foreign keys find their targets."""
    dice = Dice(_SEED)
    world = build_world(dice)
    book = trade(dice, world)
    filled = world.rows | book.rows
    filled["fact_inventory"] = inventory(dice, world, book)
    filled["stg_order_feed"] = order_feed(dice, world, book)
    filled |= attention(dice, world, book)
    for table in TABLES:
        yield table, filled.pop(table.name)
