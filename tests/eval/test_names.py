"""Names: tables told apart by their namespaces, engines by their spellings, quoting by each dialect's own rule."""

from __future__ import annotations

import pytest

from eval.engines import BY_SCHEME, ENGINES, dialect_named
from eval.schema import Column, ForeignKey, Schema, Table, told_apart, within_namespace

ID, KEY = Column("id", "int"), ForeignKey(("store_id",), "store", ("id",))
EU = (
    Table("store", (ID,), namespace="eu"),
    Table("sale", (ID, Column("store_id", "int")), namespace="eu", foreign_keys=(KEY,)),
)
US = tuple(Table(t.name, (*t.columns, Column("state")), namespace="us", foreign_keys=t.foreign_keys) for t in EU)
OWN = Table("store", (Column("id", "int"), Column("own")))


def test_each_table_has_a_name_of_its_own() -> None:
    apart = told_apart(Schema("postgres", (*EU, *US, OWN, Table("log", (ID,), namespace="us"))))
    assert [t.name for t in apart.tables] == ["eu_store", "eu_sale", "us_store", "us_sale", "store", "log"]
    assert [t.stored_name for t in apart.tables[:3]] == ["store", "sale", "store"]
    assert [t.foreign_keys[0].ref_table for t in apart.tables if t.foreign_keys] == ["eu_store", "us_store"]


def test_without_twins_nothing_changes() -> None:
    schema = Schema("postgres", EU)
    assert told_apart(schema) is schema


def test_a_namespace_is_read_alone() -> None:
    schema = Schema("postgres", (*EU, *US, OWN))
    us, none = within_namespace(schema, "us"), within_namespace(schema, None)
    assert [(t.namespace, t.name) for t in us.tables] == [("us", "store"), ("us", "sale")]
    assert us.tables[1].foreign_keys == (KEY,)
    assert [(t.namespace, t.name) for t in none.tables] == [(None, "store")]


def test_schemes_and_spellings_lead_to_their_engine() -> None:
    assert BY_SCHEME["postgresql"].dialect == "postgres"
    assert dialect_named(" MariaDB ") == "mysql"
    assert dialect_named("SQL Server") == "tsql"
    assert dialect_named("Databricks") == "databricks"
    with pytest.raises(ValueError, match="unknown SQL dialect 'cobol'"):
        dialect_named("cobol")


def test_names_are_quoted_by_the_dialects_own_rule() -> None:
    assert ENGINES["sqlite"].quoted('a "b"') == '"a ""b"""'
    assert ENGINES["mysql"].quoted("a`b") == "`a``b`"
    assert [ENGINES["tsql"].quoted(name) for name in ("a]b", "a[b")] == ["[a]]b]", "[a[b]"]
