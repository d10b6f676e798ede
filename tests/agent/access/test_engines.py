"""Engines on which no policy was ever attacked are closed to people with restrictions, instead of being trusted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.access.database import PROVEN, PersonalDatabase
from agent.access.policies import access_of
from agent.config import Settings
from eval.databases import Database
from eval.databases.types import DatabaseError
from eval.schema import Column, Dialect, Schema, Table


def seen_by(person: str, dialect: Dialect, policies: str) -> PersonalDatabase:
    schema = Schema(dialect, (Table("staff", (Column("name"), Column("salary"))),))
    inner: Any = SimpleNamespace(
        dialect=dialect,
        name="company",
        holds_rows=True,
        executes=True,
        url=f"{dialect}:///x",
        schema=lambda ttl=0.0: schema,
    )
    access = access_of(Settings(_env_file=None, TEXT2SQL_POLICIES=policies).database)
    assert access is not None
    return PersonalDatabase(cast("Database", inner), access.person(person), access)


@pytest.mark.parametrize("dialect", sorted(PROVEN))
def test_an_engine_without_proof_is_closed_to_the_restricted(
    dialect: Dialect, policies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.access.database.PROVEN", PROVEN - {dialect})
    with pytest.raises(DatabaseError, match="Policies are not enforced on"):
        seen_by("anna", dialect, policies).schema()
