"""The content of a demo database as shipped with the package: `data/{id}.json.xz`.

In: a demo's id. Out: its table definitions and rows. The file holds JSON lines: first all definitions, then one line
per table with its values column by column, which compresses best. `python -m experiments.demo_databases` writes it.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from eval.schema import Column, ForeignKey, Index, Table

Cell = None | int | float | str
"""A stored value. Dates and timestamps are ISO text, booleans are 0 or 1, money is a multiple of 0.25."""

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TableDef:
    """A table to build. Column types and CHECK conditions are neutral SQL, translated by `eval.tasks.ddl`."""

    table: Table
    checks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.table.name


@cache
def table_definitions(demo_id: str) -> tuple[TableDef, ...]:
    """The definitions of a demo's tables, referenced tables first."""
    with closing(_lines(demo_id)) as lines:
        return tuple(map(_definition, json.loads(next(lines))))


def table_rows(demo_id: str) -> Iterator[tuple[TableDef, list[Row]]]:
    """Each table with its rows, referenced tables first."""
    with closing(_lines(demo_id)) as lines:
        for stored in json.loads(next(lines)):
            yield _definition(stored), list(zip(*json.loads(next(lines)), strict=True))


def _lines(demo_id: str) -> Generator[str, None, None]:
    packed = files(__package__).joinpath("data", f"{demo_id}.json.xz")
    with packed.open("rb") as file, lzma.open(file) as lines:
        for line in lines:
            yield line.decode()


def _definition(stored: dict[str, Any]) -> TableDef:
    table = stored["table"]
    return TableDef(
        Table(
            table["name"],
            tuple(Column(**column) for column in table["columns"]),
            primary_key=tuple(table["primary_key"]),
            foreign_keys=tuple(
                ForeignKey(tuple(key["columns"]), key["ref_table"], tuple(key["ref_columns"]))
                for key in table["foreign_keys"]
            ),
            indexes=tuple(Index(i["name"], tuple(i["columns"]), i["unique"]) for i in table["indexes"]),
            comment=table["comment"],
        ),
        tuple(stored["checks"]),
    )
