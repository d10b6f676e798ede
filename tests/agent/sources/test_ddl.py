"""CREATE TABLE statements as the tools of vendors write them, with the names that their engines keep."""

from __future__ import annotations

import pytest

from agent.parser import read
from agent.sources.ddl import read_ddl
from agent.sources.structure import read_structure
from eval.schema import Dialect

ORACLE = """
  CREATE TABLE "SHOP"."CUSTOMERS"
   ( "ID" NUMBER(10,0) NOT NULL ENABLE, "CITY" VARCHAR2(40 CHAR),
     CONSTRAINT "PK" PRIMARY KEY ("ID") USING INDEX PCTFREE 10 INITRANS 2 TABLESPACE "USERS" ENABLE
   ) SEGMENT CREATION IMMEDIATE PCTFREE 10 NOCOMPRESS LOGGING TABLESPACE "USERS" ;
/
CREATE TABLE orders (Id NUMBER, "Total" NUMBER)
/
"""
TSQL = """
SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Customers]([Id] [int] IDENTITY(1,1) NOT NULL, [City] [nvarchar](40) NULL,
  CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([Id] ASC) WITH (PAD_INDEX = OFF) ON [PRIMARY]) ON [PRIMARY]
GO
"""


@pytest.mark.parametrize(
    ("text", "dialect", "tables"),
    [
        (ORACLE, "oracle", {"CUSTOMERS": ("ID", "CITY"), "orders": ("ID", "Total")}),
        (TSQL, "tsql", {"Customers": ("Id", "City")}),
    ],
)
def test_scripts_of_vendors_are_read(text: str, dialect: Dialect, tables: dict[str, tuple[str, ...]]) -> None:
    made = read_ddl(text, dialect)
    assert {t.name: tuple(c.name for c in t.columns) for t in made} == tables
    assert made[0].primary_key == (made[0].columns[0].name,)


@pytest.mark.parametrize(
    ("made", "dialect", "question", "sql"),
    [
        ('CREATE TABLE "events" ("id" INT, CITY VARCHAR)', "snowflake", "how many events per city", '"events"'),
        ("CREATE TABLE events (id INT, city VARCHAR)", "snowflake", "how many events are there", "FROM events"),
        ("CREATE TABLE s.orders (placed TIMESTAMP)", "bigquery", "orders placed per month", "FORMAT_TIMESTAMP("),
        ("CREATE TABLE s.orders (placed DATETIME)", "bigquery", "orders placed per month", "FORMAT_DATETIME("),
        ("CREATE TABLE s.orders (placed DATE)", "bigquery", "orders placed per month", "FORMAT_DATE("),
    ],
)
def test_names_and_formats_are_those_of_the_engine(made: str, dialect: Dialect, question: str, sql: str) -> None:
    assert sql in read(question, read_structure(made, dialect), threshold=0.0).sql
