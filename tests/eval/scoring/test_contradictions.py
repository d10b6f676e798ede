"""What a reader can check is found on any database; habits stay silent away from the ground they were learned on."""

from __future__ import annotations

import dataclasses
import datetime as dt
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, score
from eval.scoring.correctness import Coefficients
from eval.scoring.evidence.question_reading import Observation


@pytest.fixture
def depot(tmp_path: Path) -> Iterator[Database]:
    with sqlite3.connect(tmp_path / "depot.sqlite") as connection:
        connection.executescript(
            """
            CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined DATE, is_current INTEGER);
            CREATE TABLE deals (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients (id), total REAL,
                                closed DATE, channel TEXT);
            CREATE TABLE parts (id INTEGER PRIMARY KEY, deal_id INTEGER NOT NULL REFERENCES deals (id), pieces INTEGER);
            INSERT INTO clients VALUES (1, 'Ann', '2023-01-02', 1), (2, 'Bo', '2024-02-03', 0);
            INSERT INTO deals VALUES (1, 1, 10.5, '2024-03-01', 'web'), (2, NULL, 4.0, '2023-04-01', 'shop');
            INSERT INTO parts VALUES (1, 1, 2), (2, 1, 3), (3, 2, 1);
            """
        )
    connection.close()
    with open_database(tmp_path / "depot.sqlite") as database:
        yield database


def _contradictions(database: Database, question: str, sql: str) -> set[str]:
    scored = score(examine(Query(question, sql), database))
    return {e.name for e in scored.evidence if e.kind == "contradiction"}


@pytest.mark.parametrize("bound", ["'1966-05-01'", "DATE('now', '-60 years')"])
def test_the_older_have_the_smaller_birth_date(depot: Database, bound: str) -> None:
    year = dt.date.today().year - 60
    sql = f"SELECT name FROM clients WHERE joined < {bound.replace('1966', str(year))}"
    evidence = _contradictions(depot, "Which clients are older than 60?", sql)
    assert not evidence & {"number_missing", "comparison_direction"}


@pytest.mark.parametrize(
    ("name", "question", "wrong", "right"),
    [
        (
            "sum_multiplied",
            "What is the total of all deals with parts?",
            "SELECT SUM(d.total) FROM deals AS d JOIN parts AS p ON p.deal_id = d.id",
            "SELECT SUM(d.total) FROM deals AS d WHERE d.id IN (SELECT deal_id FROM parts)",
        ),
        (
            "count_multiplied",
            "How many deals have parts?",
            "SELECT COUNT(*) FROM deals AS d JOIN parts AS p ON p.deal_id = d.id",
            "SELECT COUNT(DISTINCT d.id) FROM deals AS d JOIN parts AS p ON p.deal_id = d.id",
        ),
        (
            "aggregate_of_key",
            "What is the average total of the deals?",
            "SELECT AVG(id) FROM deals",
            "SELECT AVG(total) FROM deals",
        ),
        (
            "aggregate_of_text",
            "What is the average total of the deals?",
            "SELECT AVG(closed) FROM deals",
            "SELECT AVG(total) FROM deals",
        ),
        (
            "not_in_nulls",
            "Which clients have no deals?",
            "SELECT name FROM clients WHERE id NOT IN (SELECT client_id FROM deals)",
            "SELECT name FROM clients WHERE id NOT IN (SELECT client_id FROM deals WHERE client_id IS NOT NULL)",
        ),
        (
            "compared_with_null",
            "Which deals have no client?",
            "SELECT id FROM deals WHERE client_id = NULL",
            "SELECT id FROM deals WHERE client_id IS NULL",
        ),
        (
            "whole_number_division",
            "What share of the parts has more than 1 piece?",
            "SELECT SUM(CASE WHEN pieces > 1 THEN 1 ELSE 0 END) / COUNT(*) FROM parts",
            "SELECT 1.0 * SUM(CASE WHEN pieces > 1 THEN 1 ELSE 0 END) / COUNT(*) FROM parts",
        ),
        (
            "share_not_divided",
            "What percentage of the deals came over the web?",
            "SELECT COUNT(*) FROM deals WHERE channel = 'web'",
            "SELECT 100.0 * SUM(CASE WHEN channel = 'web' THEN 1 ELSE 0 END) / COUNT(*) FROM deals",
        ),
        (
            "versions_counted",
            "How many clients are there?",
            "SELECT COUNT(*) FROM clients",
            "SELECT COUNT(*) FROM clients WHERE is_current = 1",
        ),
        (
            "year_missing",
            "What is the total of the deals closed in 2024?",
            "SELECT SUM(total) FROM deals",
            "SELECT SUM(total) FROM deals WHERE closed >= '2024-01-01' AND closed < '2025-01-01'",
        ),
        (
            "year_foreign",
            "What is the total of the deals closed in 2024?",
            "SELECT SUM(total) FROM deals WHERE closed LIKE '2021%'",
            "SELECT SUM(total) FROM deals WHERE closed LIKE '2024%'",
        ),
        (
            "bare_beside_total",
            "How many deals came over each channel?",
            "SELECT channel, COUNT(*) FROM deals",
            "SELECT channel, COUNT(*) FROM deals GROUP BY channel",
        ),
        (
            "given_returned",
            "Which channels closed deals of the web's value?",
            "SELECT channel FROM deals WHERE channel = 'web'",
            "SELECT channel FROM deals WHERE total = 10.5",
        ),
        (
            "bound_strictness",
            "Which deals have at least three parts?",
            "SELECT deal_id FROM parts GROUP BY deal_id HAVING COUNT(*) >= 2",
            "SELECT deal_id FROM parts GROUP BY deal_id HAVING COUNT(*) > 2",
        ),
        (
            "limit_without_order",
            "Which deal has the highest total?",
            "SELECT id FROM deals LIMIT 1",
            "SELECT id FROM deals ORDER BY total DESC LIMIT 1",
        ),
    ],
)
def test_a_pitfall_is_found_and_its_repair_is_not_blamed(
    depot: Database, name: str, question: str, wrong: str, right: str
) -> None:
    assert name in _contradictions(depot, question, wrong)
    assert name not in _contradictions(depot, question, right)


def test_a_date_of_a_year_that_the_question_names_is_no_foreign_value(depot: Database) -> None:
    question = "What is the total of the deals in 2024 by channel?"
    sql = (
        "SELECT channel, SUM(total) FROM deals WHERE closed >= '2024-01-01' AND closed < '2025-01-01' GROUP BY channel"
    )
    scored = score(examine(Query(question, sql), depot))
    assert not {"value_foreign", "number_foreign", "year_foreign"} & {e.name for e in scored.evidence}
    assert final_score(scored, 0.5) >= THRESHOLD


@pytest.mark.parametrize(
    ("name", "question", "sql"),
    [
        ("number_missing", "Which deals took longer than 5 minutes?", "SELECT id FROM deals WHERE total > 300000"),
        ("number_missing", "How many deals were closed in each year? Give the year like 2024.",
         "SELECT SUBSTR(closed, 1, 4), COUNT(*) FROM deals GROUP BY 1"),
        ("number_missing", "List the 2 smallest deals by name of channel.",
         "SELECT channel FROM (SELECT channel FROM deals ORDER BY total LIMIT 2) ORDER BY channel"),
        ("quoted_missing", "If 'shop' sold 3 deals more, how many would there be?", "SELECT COUNT(*) + 3 FROM deals"),
        ("aggregate_missing", "What is the average total beside each deal?",
         "SELECT id, AVG(total) OVER (PARTITION BY channel) FROM deals"),
        ("aggregate_missing", "What is the sum of pieces and client number of each part?",
         "SELECT d.client_id + p.pieces FROM deals AS d JOIN parts AS p ON p.deal_id = d.id"),
        ("aggregate_missing", "List the deals of the client Min Lin.",
         "SELECT d.id FROM deals AS d JOIN clients AS c ON c.id = d.client_id WHERE c.name = 'Min Lin'"),
        ("aggregate_missing", "Which clients have a minimum of 2 deals?",
         "SELECT client_id FROM deals GROUP BY client_id HAVING COUNT(*) >= 2"),
        ("count_missing", "How many levels deep is it?",
         "WITH RECURSIVE l(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM l WHERE n < 3) SELECT MAX(n) FROM l, clients"),
        ("negation_missing", "Which deals have no client?", "SELECT id FROM deals WHERE client_id IS NULL"),
        ("negation_missing", "Which deals are not above 5?", "SELECT id FROM deals WHERE total <= 5"),
        ("negation_missing", "Which deals have no e in their channel?",
         "SELECT id FROM deals WHERE channel NOT LIKE '%e%'"),
        ("order_missing", "Which clients ordered in 2023?",
         "SELECT client_id FROM deals WHERE closed LIKE '2023%'"),
        ("order_missing", "Give the totals and numbers of all deals, in this order.", "SELECT total, id FROM deals"),
        ("group_missing", "What is the largest deal of each channel?",
         "SELECT id FROM deals AS d WHERE total = (SELECT MAX(total) FROM deals AS e WHERE e.channel = d.channel)"),
        ("comparison_missing", "What is the total over all channels?", "SELECT SUM(total) FROM deals"),
        ("comparison_missing", "Which clients have at least one deal?", "SELECT DISTINCT client_id FROM deals"),
        ("superlative_missing", "What are the totals by channel, highest first?",
         "SELECT channel, SUM(total) FROM deals GROUP BY channel ORDER BY 2 DESC"),
        ("superlative_missing", "How many deals were closed in the first quarter of 2024?",
         "SELECT COUNT(*) FROM deals WHERE closed BETWEEN '2024-01-01' AND '2024-03-31'"),
        ("group_single_row", "What is the total for each channel in 2023?",
         "SELECT channel, SUM(total) FROM deals WHERE closed < '2024-01-01' GROUP BY channel"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_contradiction_is_none(depot: Database, name: str, question: str, sql: str) -> None:
    assert name not in _contradictions(depot, question, sql)


def test_one_row_beside_one_row_is_no_cartesian_join(depot: Database) -> None:
    question = "Which client joined before 2024, and which deal is of the web?"
    one = "SELECT name AS n FROM clients WHERE joined < '2024-01-01'"
    beside = f"SELECT a.n, b.id FROM ({one}) AS a JOIN (SELECT id FROM deals WHERE channel = 'web') AS b"
    assert not score(examine(Query(question, beside), depot)).vetoes
    unnamed = beside.replace(" AS a ", " ").replace(" AS b", "").replace("a.n, b.id", "n, id")
    assert not score(examine(Query(question, unnamed), depot)).vetoes
    nested = beside.replace("FROM deals WHERE", "FROM deals, parts AS p WHERE p.id = 1 AND").replace(
        "id FROM", "deals.id FROM"
    )
    assert score(examine(Query(question, nested), depot)).vetoes
    several = "SELECT a.name, b.id FROM (SELECT name FROM clients) AS a JOIN (SELECT id FROM deals) AS b"
    assert any("cartesian" in veto for veto in score(examine(Query(question, several), depot)).vetoes)


def test_habits_alone_are_bounded() -> None:
    fitted = Coefficients(0.75, 0.35, {"unusual_output": -1.0, "quoted_missing": -1.0})
    few, many = (fitted.probability([Observation("unusual_output", value)]) for value in (2.0, 50.0))
    assert 0.25 < many < few
    assert fitted.probability([Observation("quoted_missing", 50.0)]) < 0.001


def test_habits_are_silent_on_a_long_business_question(depot: Database) -> None:
    question = (
        "For the quarterly review we need, for every channel that closed at least one deal, the total of its deals, "
        "the number of pieces delivered with them and the average total of a deal, sorted by channel, and please "
        "leave out every deal that was never assigned to a client by the end of the period under review"
    )
    sql = (
        "SELECT channel, SUM(total), COUNT(*), AVG(total) FROM deals WHERE client_id IS NOT NULL GROUP BY channel "
        "ORDER BY channel"
    )
    scored = score(examine(Query(question, sql), depot))
    assert not {e.name for e in scored.evidence if e.kind == "habit"}
    assert final_score(scored, 0.5) >= THRESHOLD


def test_the_writers_prior_moves_the_probability(depot: Database) -> None:
    case = examine(Query("How many deals are there?", "SELECT COUNT(*) FROM deals"), depot)
    weak, strong = (score(dataclasses.replace(case, prior=p)).probability for p in (0.3, 0.9))
    assert weak is not None
    assert strong is not None
    assert weak < strong
