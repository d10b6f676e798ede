"""Gold queries through a policy return what they return on a copy that was filtered beforehand."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agent.access import Access, Person, PersonalDatabase
from agent.access.policies import Rule
from eval.databases import open_database
from eval.metrics.comparison import same_result
from eval.schema import Schema, Table
from eval.sql import check, orders_rows, parse
from eval.tasks import demo_path
from eval.tasks.library import tasks
from tests.agent.access.conftest import build, whole


def condition(table: Table) -> str:
    """Keeps about two rows of three, by the first column's value."""
    first = f'"{table.columns[0].name}"'
    return f"(LENGTH({first}) + COALESCE(CAST({first} AS INTEGER), 0)) % 3 <> 1"


def hidden(table: Table) -> str:
    """The last column that is no key."""
    keys = {*table.primary_key, table.columns[0].name, *(c for k in table.foreign_keys for c in k.columns)}
    return next((c.name for c in reversed(table.columns) if c.name not in keys), "")


def copy(source: Path, schema: Schema, target: Path) -> None:
    with sqlite3.connect(target) as made:
        made.execute("ATTACH ? AS whole", (str(source),))
        for table in schema.tables:
            kept = [c for c in table.columns if c.name != hidden(table)]
            names = ", ".join(f'"{c.name}"' for c in kept)
            columns = ", ".join(f'"{c.name}" {c.type}' for c in kept)
            made.execute(f'CREATE TABLE "{table.name}" ({columns})')
            made.execute(
                f'INSERT INTO "{table.name}" SELECT {names} FROM whole."{table.name}" WHERE {condition(table)}'
            )
    made.close()


def test_golds_of_the_demo_shop(tmp_path: Path) -> None:
    golds = [task.gold.sql for task in tasks("shop")]
    answered = 0
    with open_database(demo_path("shop")) as everything:
        schema = everything.schema()
        copy(demo_path("shop"), schema, tmp_path / "copy.sqlite")
        tables = {
            table.name: {"columns": {hidden(table): "hidden"} if hidden(table) else {}, "rows": condition(table)}
            for table in schema.tables
        }
        access = Access((Rule.model_validate({"who": {}, "database": "*", "tables": tables}),))
        person = PersonalDatabase(everything, Person("anna"), access)
        with open_database(tmp_path / "copy.sqlite") as filtered:
            for sql in golds:
                statement = check(parse(sql, "sqlite")).statement
                assert statement is not None
                seen, wanted = person.execute(statement), filtered.execute(statement)
                assert seen.status == wanted.status, sql
                ordered = orders_rows(parse(sql, "sqlite"))
                assert not wanted.ok or same_result(wanted, seen, ordered=ordered), sql
                answered += seen.ok
    assert answered > len(golds) / 4


# --- PostgreSQL's own row-level security sees the person of a statement ---


SECURED = [
    "ALTER TABLE staff ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON staff USING (region = current_setting('text2sql.region', true))",
]


def test_the_databases_own_policies_filter_by_the_person(postgres_url: str) -> None:
    build(postgres_url, [*whole(), *SECURED])
    access = Access((Rule.model_validate({"who": {}, "database": "*", "tables": "visible"}),))
    statement = check(parse("SELECT COUNT(*) FROM staff", "postgres")).statement
    assert statement is not None
    with open_database(postgres_url) as database:
        seen = {
            region: PersonalDatabase(database, Person(region, attributes={"region": region}), access).execute(statement)
            for region in ("EU", "US", "EU' OR true --")
        }
        assert {region: done.rows for region, done in seen.items()} == {
            "EU": ((3,),),
            "US": ((2,),),
            "EU' OR true --": ((0,),),
        }
        assert database.execute(statement).rows == ((0,),)
