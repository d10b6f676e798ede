"""The table of engines names each dialect once, with a class that opens it and dialect notes for the models."""

from __future__ import annotations

from importlib import import_module, resources

import pytest

from eval.databases.base import Database
from eval.engines import BY_SCHEME, ENGINES, dialect_named
from eval.schema import ALL_DIALECTS, DIALECTS, Dialect


def test_every_dialect_has_one_entry_in_order() -> None:
    assert tuple(ENGINES) == ALL_DIALECTS
    assert tuple(d for d in ENGINES if ENGINES[d].executes) == DIALECTS


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_entry_names_a_database_class_of_its_dialect(dialect: Dialect) -> None:
    module, _, name = ENGINES[dialect].opened_by.partition(":")
    opened_by = getattr(import_module(module), name)
    assert issubclass(opened_by, Database)
    assert opened_by.dialect == dialect


@pytest.mark.parametrize("dialect", ALL_DIALECTS)
def test_every_dialect_has_notes_for_the_models(dialect: Dialect) -> None:
    notes = resources.files("prompts").joinpath(f"dialect_{dialect}.txt").read_text(encoding="utf-8")
    assert notes.startswith("# version: ")


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
