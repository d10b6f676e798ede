"""PostgreSQL's own row-level security sees the person of a statement."""

from __future__ import annotations

from agent.access import Access, Person, PersonalDatabase
from agent.access.policies import Rule
from eval.databases import open_database
from eval.sql import check, parse
from tests.agent.access.company import build, whole

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
