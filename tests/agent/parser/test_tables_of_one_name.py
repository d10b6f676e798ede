"""A name that tables of several namespaces have means the one within reach, the one that fits, or is asked about."""

from __future__ import annotations

import pytest

from agent.parser import read
from eval.schema import Column, ForeignKey, Schema, Table

ID, NAME = Column("id", "int", primary_key=True), Column("name", "text")


def _table(namespace: str | None, name: str, *columns: Column, key: str = "") -> Table:
    keys = (ForeignKey((f"{key}_id",), key, ("id",)),) if key else ()
    return Table(name, (ID, *columns), namespace=namespace, primary_key=("id",), foreign_keys=keys, row_count=5)


REGION, AMOUNT, SALARY = Column("region_id", "int"), Column("amount", "int"), Column("salary", "int")
OFFICE = Schema(
    "postgres",
    (
        _table("sales", "region", NAME),
        _table("sales", "invoice", REGION, AMOUNT, key="region"),
        _table("hr", "region", NAME),
        _table("hr", "employee", NAME, REGION, SALARY, key="region"),
    ),
)
SHOP = Schema("postgres", (_table(None, "customer", NAME), _table("archive", "customer", NAME)))


@pytest.mark.parametrize(
    ("schema", "question", "tables"),
    [
        (SHOP, "how many customers", ("FROM customer",)),
        (SHOP, "how many archive customers", ("FROM archive.customer",)),
        (OFFICE, "total invoice amount by region", ("sales.region", "sales.invoice")),
        (OFFICE, "how many employees per region", ("hr.region", "hr.employee")),
        (OFFICE, "how many regions", ()),
    ],
)
def test_the_table_that_is_meant(schema: Schema, question: str, tables: tuple[str, ...]) -> None:
    reading = read(question, schema)
    assert all(table in (reading.sql or reading.guess) for table in tables)
    if not tables:
        assert reading.sql == ""
        assert "sales and hr" in reading.interpretation
