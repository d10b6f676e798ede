"""The table of engines names each dialect once, with a class that opens it and dialect notes for the models."""

from __future__ import annotations

import pytest

from eval.engines import BY_SCHEME, ENGINES, dialect_named
from eval.schema import Dialect


def test_schemes_and_spellings_lead_to_their_engine() -> None:
    assert BY_SCHEME["postgresql"].dialect == "postgres"
    assert dialect_named(" MariaDB ") == "mysql"
    assert dialect_named("SQL Server") == "tsql"
    assert dialect_named("Databricks") == "databricks"
    with pytest.raises(ValueError, match="unknown SQL dialect 'cobol'"):
        dialect_named("cobol")


@pytest.mark.parametrize(
    ("dialect", "name", "quoted"),
    [
        ("sqlite", 'a "b"', '"a ""b"""'),
        ("mysql", "a`b", "`a``b`"),
        ("tsql", "a]b", "[a]]b]"),
        ("tsql", "a[b", "[a[b]"),
    ],
)
def test_names_are_quoted_by_the_dialects_own_rule(dialect: Dialect, name: str, quoted: str) -> None:
    assert ENGINES[dialect].quoted(name) == quoted
