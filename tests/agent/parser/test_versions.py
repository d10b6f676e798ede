"""Tables that keep the versions of their things: each thing counts once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

WAREHOUSE = """
CREATE TABLE dim_client (
    client_key INTEGER PRIMARY KEY, client_id TEXT NOT NULL, name TEXT NOT NULL, city TEXT NOT NULL, email TEXT,
    valid_from DATE NOT NULL, valid_to DATE, is_current INTEGER NOT NULL);
CREATE TABLE dim_agent (
    agent_key INTEGER PRIMARY KEY, agent_code TEXT NOT NULL, agent_name TEXT NOT NULL, region TEXT NOT NULL,
    effective_start DATE NOT NULL, effective_end DATE);
CREATE TABLE prices (
    price_id INTEGER PRIMARY KEY, product TEXT NOT NULL, price REAL NOT NULL, valid_from DATE NOT NULL, valid_to DATE);
CREATE TABLE fact_orders (
    order_id INTEGER PRIMARY KEY, client_key INTEGER NOT NULL REFERENCES dim_client(client_key),
    agent_key INTEGER NOT NULL REFERENCES dim_agent(agent_key), ordered_on DATE NOT NULL, amount REAL NOT NULL);
INSERT INTO dim_client VALUES
    (1, 'c1', 'Ada', 'Lyon', NULL, '2023-01-01', '2023-12-31', 0),
    (2, 'c1', 'Ada', 'Oslo', NULL, '2024-01-01', NULL, 1),
    (3, 'c2', 'Bea', 'Oslo', 'bea@example.com', '2023-03-01', NULL, 1),
    (4, 'c3', 'Cem', 'Lyon', 'cem@example.com', '2023-04-01', NULL, 1);
INSERT INTO dim_agent VALUES
    (1, 'a1', 'Xi', 'north', '2023-01-01', '2023-06-30'), (2, 'a1', 'Xi', 'south', '2023-07-01', NULL),
    (3, 'a2', 'Yan', 'south', '2023-01-01', NULL);
INSERT INTO prices VALUES (1, 'tea', 3, '2023-01-01', '2023-12-31'), (2, 'tea', 4, '2024-01-01', NULL);
INSERT INTO fact_orders VALUES
    (1, 1, 1, '2023-05-01', 10), (2, 2, 2, '2024-02-01', 30), (3, 3, 3, '2024-03-01', 35), (4, 2, 3, '2024-04-01', 1);
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(tmp_path_factory.mktemp("warehouse"), {"warehouse": WAREHOUSE}) as databases:
        yield databases


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many clients are there", [(3,)]),
        ("clients in Oslo", [("Ada",), ("Bea",)]),
        ("clients in Lyon", [("Cem",)]),
        ("how many clients have no email", [(1,)]),
        ("number of clients by city", [("Lyon", 1), ("Oslo", 2)]),
        ("what percentage of clients live in Lyon", [(33.33,)]),
        ("how many agents do we have", [(2,)]),
        ("agents in the south region", [("Xi",), ("Yan",)]),
        ("how many prices are there", [(2,)]),
        ("how many versions of clients are there", [(4,)]),
    ],
)
def test_a_thing_counts_once(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("warehouse", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("total amount by client", [("Ada", 41), ("Bea", 35)]),
        ("which client has the highest total amount", [("Ada",)]),
        ("how many clients ordered in 2024", [(2,)]),
        ("how many clients have placed orders", [(2,)]),
        ("clients with more than 2 orders", [("Ada",)]),
        ("clients without orders", [("Cem",)]),
    ],
)
def test_orders_of_all_versions_are_the_thing_s(asked: Asked, question: str, expected: Rows) -> None:
    """Ada moved between her first order and her last ones."""
    assert sorted(asked.rows("warehouse", question)) == expected


def test_the_start_of_a_version_is_no_birth(asked: Asked) -> None:
    assert asked.reading("warehouse", "newest clients").confidence < STATED_DOUBT
    assert "version" in asked.reading("warehouse", "newest clients").interpretation


def test_the_answer_says_which_versions_it_counts(asked: Asked) -> None:
    assert "only the current version" in asked.reading("warehouse", "how many clients are there").interpretation
    assert "once" in asked.reading("warehouse", "clients with more than 2 orders").interpretation
